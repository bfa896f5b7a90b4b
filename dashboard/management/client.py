"""The dashboard's HTTP API as the command line calls it: no daemon, no database."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from config.storage import opening

CONNECT_S, ANSWER_S = 5.0, 150.0  # an action waits for readiness, which may take two minutes
STARTING_S, PAUSE_S = 10.0, 0.5
DEFAULT_PORT = 4255
KINDS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
Body = dict[str, Any]


class ServiceRefused(Exception):
    """The service refused; `body` is its answer."""

    def __init__(self, body: Body) -> None:
        super().__init__(body.get("error") or "refused")
        self.body = body


class NotReachable(Exception):
    """Nothing at that address answers like the dashboard."""


def base_url(environ: Mapping[str, str], data_dir: Path) -> str:
    """SVC_DASHBOARD_URL, else where the server of this data directory listens, else the default."""
    if given := environ.get("SVC_DASHBOARD_URL", "").strip():
        return given.rstrip("/")
    try:
        ports = dict(json.loads(opening.contents(data_dir / "state" / "server.json"))["ports"])
    except (OSError, ValueError, LookupError, TypeError):
        ports = {}
    if "dashboard" not in ports and "main" in ports:
        return f"http://localhost:{ports['main']}/dashboard"
    return f"http://localhost:{ports.get('dashboard', DEFAULT_PORT)}"


class Client:
    """Calls to one dashboard; each uses its own connection, so threads may share the client."""

    def __init__(self, base: str) -> None:
        try:
            parts = urlsplit(base)
            self._kind = KINDS[parts.scheme]
            self._host, self._port = parts.hostname or "", parts.port
        except (ValueError, KeyError):
            self._host = ""
        if not self._host:
            raise NotReachable(f"SVC_DASHBOARD_URL must be an http address, not {base[:200]!r}")
        self.base, self._path = base, parts.path.rstrip("/")

    @classmethod
    def here(cls) -> Client:
        """The dashboard of this data directory (or of SVC_DASHBOARD_URL)."""
        from django.conf import settings

        return cls(base_url(os.environ, settings.DATA_DIR))

    def get(self, *path: str, **query: Any) -> Body:
        return self.call("GET", *path, **query)

    def post(self, *path: str, body: Body | None = None) -> Body:
        return self.call("POST", *path, body=body or {})

    def call(self, method: str, *path: str, body: Body | None = None, **query: Any) -> Body:
        """The JSON answer. Waits for a service that is still starting. Raises ServiceRefused."""
        given = {name: value for name, value in query.items() if value is not None}
        target = "/".join([self._path, "api", *(quote(part, safe="") for part in path)])
        target += f"?{urlencode(given)}" if given else ""
        last = time.monotonic() + STARTING_S
        while True:
            status, answer = self._exchange(method, target, body)
            if status < 400:
                return answer
            if answer.get("code") != "starting" or time.monotonic() > last:
                raise ServiceRefused(answer)
            time.sleep(PAUSE_S)

    def _exchange(self, method: str, target: str, body: Body | None) -> tuple[int, Body]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", "Connection": "close"}
        if method != "GET":
            headers["Content-Type"] = "application/json"
        connection = self._kind(self._host, self._port, timeout=CONNECT_S)
        try:
            connection.connect()
            connection.sock.settimeout(ANSWER_S)
            connection.request(method, target, body=data, headers=headers)
            answer = connection.getresponse()
            told = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise NotReachable(f"{self.base} does not answer: {error}") from None
        finally:
            connection.close()
        return answer.status, self._object(told)

    def _object(self, told: bytes) -> Body:
        try:
            found = json.loads(told)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise NotReachable(f"{self.base} is not the dashboard: it answers no JSON object")
        return found
