"""Requests as no library would send them."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx

from tests.dashboard.served import Served
from tests.wire import read_answer, request

MOUNTS = (("dashboard", ""), ("main", "/dashboard"))
ROUTES = (  # every one
    ("GET", "/"),
    ("GET", "/api/health"),
    ("GET", "/api/state"),
    ("GET", "/api/config"),
    ("GET", "/api/apps"),
    ("GET", "/api/apps/x"),
    ("PUT", "/api/apps/x"),
    ("PATCH", "/api/apps/x"),
    ("DELETE", "/api/apps/x"),
    ("GET", "/api/apps/x/history"),
    ("GET", "/api/apps/x/thumb"),
    ("POST", "/api/apps/x/service/start"),
    ("GET", "/api/apps/x/logs"),
    ("POST", "/api/thumbs/refresh"),
    ("GET", "/api/bookmarks"),
    ("GET", "/api/bookmarks/x"),
    ("PUT", "/api/bookmarks/x"),
    ("PATCH", "/api/bookmarks/x"),
    ("DELETE", "/api/bookmarks/x"),
    ("GET", "/api/bookmarks/x/icon"),
    ("GET", "/api/observed"),
    ("POST", "/api/observed/x/claim"),
    ("POST", "/api/observed/x/ignore"),
    ("GET", "/api/ignore"),
    ("PUT", "/api/ignore"),
    ("POST", "/api/scan"),
    ("GET", "/api/lost"),
    ("POST", "/api/lost/x/restart"),
    ("POST", "/api/lost/x/service"),
    ("POST", "/api/lost/x/dismiss"),
    ("POST", "/api/lost/dismiss"),
    ("GET", "/api/nodes"),
    ("GET", "/api/removed"),
    ("POST", "/api/removed/restore"),
    ("GET", "/api/places"),
    ("GET", "/api/badges"),
    ("GET", "/api/events"),
    ("GET", "/llms.txt"),
    ("GET", "/llms-full.txt"),
    ("GET", "/agent-guide.md"),
    ("POST", "/mcp"),
)
WRITES = tuple(route for route in ROUTES if route[0] != "GET")
BODIES = tuple(route for route in WRITES if route[0] != "DELETE" and route[1] != "/mcp")
PATHS = tuple(dict.fromkeys(path for _method, path in ROUTES))


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The body of the refusal that the answer must be."""
    body: dict[str, Any] = answer.json()
    assert (answer.status_code, body["code"]) == (status, code), body
    return body


def send(
    served: Served, name: str, head: str, body: bytes = b"", *, host: str | None = "localhost"
) -> tuple[int, dict[str, str], Any]:
    """Status, headers and JSON (else None) of one raw request to a port; `host` None sends none."""
    port = served.ports[name]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        raw = request(head, body, host=(host or "").replace("{port}", str(port)))
        connection.sendall(raw if host is not None else raw.replace(b"Host: \r\n", b""))
        top, rest = read_answer(connection)
    first, *lines = top.decode("latin1").split("\r\n")
    headers = {
        key.strip().lower(): value.strip()
        for key, _, value in (line.partition(":") for line in lines if line)
    }
    told = json.loads(rest) if "json" in headers.get("content-type", "") and rest else None
    return int(first.split()[1]), headers, told
