"""The running service with the dashboard on, and what a person does beside it.

One service per module; every test has slugs, ports and directories of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
import yaml

from tests.service import Service, free_port, until

Event = dict[str, Any]
NO_PICTURES = {"screenshots": {"enabled": False}}


def scanning(text: str, **scan: object) -> str:
    """This config.yaml with other settings of the scan."""
    config = yaml.safe_load(text)
    return yaml.safe_dump(config | {"scan": config.get("scan", {}) | scan})


class Served(Service):
    """A service whose dashboard scans. `dashboard` is its config.yaml."""

    def __init__(
        self,
        tmp_path: Path,
        *,
        dashboard: dict[str, Any] | None = None,
        scheduler: bool = False,
    ) -> None:
        super().__init__(tmp_path, scheduler=scheduler, dashboard=dashboard or NO_PICTURES)
        self.tmp = tmp_path
        self.api = httpx.Client(base_url=self.dashboard_url, timeout=30, trust_env=False)
        self._devs: list[subprocess.Popen[bytes]] = []

    def start(self, command: str = "up") -> Self:
        """Start and wait until the dashboard answers too."""
        super().start(command)
        until(self._boot, seconds=20, what="the dashboard's state")
        return self

    def file(self, slug: str) -> Path:
        return self.data / "dashboard" / "apps" / f"{slug}.yaml"

    def declare(self, slug: str, text: str) -> Path:
        """Write the app's file as an editor does."""
        path = self.file(slug)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get("/api/state").raise_for_status().json()
        return found

    def app(self, slug: str) -> dict[str, Any]:
        """The App, {} when there is none."""
        answer = self.api.get(f"/api/apps/{slug}")
        found: dict[str, Any] = answer.json() if answer.status_code == 200 else {}
        return found

    def until_state(self, slug: str, state: str, *, seconds: float = 10.0) -> dict[str, Any]:
        """The App once it is in this state."""
        found: dict[str, Any] = {}

        def reached() -> bool:
            found.clear()
            found.update(self.app(slug))
            return found.get("state") == state

        until(reached, seconds=seconds, what=f"{slug} is {state}, not {found}")
        return found

    def act(self, slug: str, action: str) -> dict[str, Any]:
        """Start, stop or restart a service; the answer."""
        answer = self.api.post(f"/api/apps/{slug}/service/{action}", json={})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found

    def dev_server(self, name: str, port: int | None = None) -> Dev:
        """A web server that a person has started in a directory of its own."""
        cwd = self.tmp / "src" / name
        cwd.mkdir(parents=True, exist_ok=True)
        (cwd / "index.html").write_bytes(os.fsencode(f"<title>{name}</title><h1>{name}</h1>"))
        port = port or free_port()
        argv = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(argv, cwd=cwd, env=self.env, **quiet)  # type: ignore[call-overload]
        self._devs.append(process)
        return Dev(process, port, cwd)

    def seen(self, dev: Dev) -> dict[str, Any]:
        """The record of its listener as soon as it listens: the dashboard is asked to look now."""

        def looked() -> dict[str, Any]:
            self.api.post("/api/scan", json={}).raise_for_status()
            return self.observed(dev.port)

        return until(looked, seconds=15, what="observed")

    def observed(self, port: int) -> dict[str, Any]:
        """The observed listener of a port, {} when there is none."""
        found = self.api.get("/api/observed").raise_for_status().json()["observed"]
        return next((one for one in found if one["port"] == port), {})

    @contextlib.contextmanager
    def events(self) -> Iterator[Stream]:
        """The event stream from now on."""
        stream = Stream(self.dashboard_url)
        try:
            stream.open()
            yield stream
        finally:
            stream.close()

    def kill_server(self) -> None:
        """SIGKILL for the server alone; `up` starts the next one. Returns when that answers."""
        before = self.state()["boot"]
        pid = self.pid
        subprocess.run(["/bin/kill", "-9", str(pid)], check=True)
        until(lambda: self._boot() not in ("", before), seconds=20, what="the next server")

    def stop_services(self) -> None:
        for app in self.state()["apps"]:
            if app["service"] and app["service"]["status"] != "stopped":
                self.act(app["slug"], "stop")

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        for process in self._devs:
            process.kill()
            process.wait(5)
        try:
            if kind is None:
                self.stop_services()
        finally:
            self.api.close()
            super().__exit__(kind, *rest)

    def _boot(self) -> str:
        with contextlib.suppress(httpx.HTTPError):
            return str(self.state()["boot"])
        return ""


class Dev:
    """A running dev server."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, cwd: Path) -> None:
        self.process, self.port, self.cwd = process, port, cwd

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(5)


class Stream:
    """A client of /api/events; `all` are the events so far, each with `at` (monotonic)."""

    def __init__(self, url: str) -> None:
        self.all: list[Event] = []
        self._client = httpx.Client(base_url=url, timeout=None, trust_env=False)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._hello = threading.Event()
        self._closing = False

    def open(self) -> None:
        self._thread.start()
        assert self._hello.wait(10), "no hello"

    def close(self) -> None:
        self._closing = True
        self._client.close()

    def until(self, wanted: Callable[[Event], bool], *, seconds: float = 10.0) -> Event:
        """The first event, of those so far and to come, that is wanted."""
        return until(
            lambda: next(filter(wanted, list(self.all)), None),  # type: ignore[arg-type]
            seconds=seconds,
            what=f"no such event among {self.all}",
        )

    def has(self, seconds: float = 10.0, **fields: object) -> Event:
        """The first event with these fields."""
        return self.until(lambda one: one.items() >= fields.items(), seconds=seconds)

    def _read(self) -> None:
        with (
            contextlib.suppress(httpx.HTTPError, RuntimeError, OSError),
            self._client.stream("GET", "/api/events") as answer,
        ):
            name = ""
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    event = {**json.loads(line[6:]), "event": name, "at": time.monotonic()}
                    self.all.append(event)
                    if name == "hello":
                        self._hello.set()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One running service with the dashboard on, for the tests of a module."""
    with Served(tmp_path_factory.mktemp("served")) as running:
        yield running
