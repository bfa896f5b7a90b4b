"""Real processes under a supervisor whose clock the test turns."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from config.process import table
from dashboard.services import environment, layout
from dashboard.services.definition import Service
from dashboard.services.state import Change, Limits, World
from dashboard.services.supervise import Supervisor
from dashboard.services.system.clock import Clock

T = TypeVar("T")
SERVER = """
import http.server, os, socketserver
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"fine")
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Quiet).serve_forever()
"""


class Turned(Clock):
    """Time goes on only when the test says so."""

    def __init__(self) -> None:
        self.at = 1000.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        return self.at

    def wall(self) -> datetime:
        return datetime(2026, 11, 20, 12, tzinfo=UTC) + timedelta(seconds=self.at)

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.at + seconds, woken))
        await woken.wait()

    def sleeps(self, least: float, most: float | None = None) -> bool:
        """Whether a task is to wake so many seconds from now."""
        most = least if most is None else most
        return any(least - 1e-6 < at - self.at < most + 1e-6 for at, _ in self._sleepers)

    def advance(self, seconds: float) -> None:
        self.at += seconds
        due = [event for at, event in self._sleepers if at <= self.at]
        self._sleepers = [(at, event) for at, event in self._sleepers if at > self.at]
        for event in due:
            event.set()


class Scene:
    """One supervisor over one data directory, and everything its services leave behind."""

    def __init__(self, data: Path, *, clock: Clock | None = None, limits: Limits | None = None):
        self.data, self.clock = data, clock or Clock()
        self.changes: list[Change] = []
        self.times: list[float] = []
        self.limits = limits or Limits()
        self.supervisor = self._supervisor()

    def _supervisor(self) -> Supervisor:
        world = World(
            clock=self.clock,
            changed=self._changed,
            login=lambda: {"PATH": os.environ["PATH"], "HOME": str(self.data)},
            limits=lambda: self.limits,
        )
        return Supervisor(world)

    def _changed(self, change: Change) -> None:
        self.changes.append(change)
        self.times.append(time.monotonic())

    async def begin(self, **services: Service) -> Scene:
        await self.supervisor.begin(services)
        return self

    async def again(self, **services: Service) -> Scene:
        """The daemon ends and another begins."""
        await self.supervisor.close()
        self.changes.clear()
        self.supervisor = self._supervisor()
        return await self.begin(**services)

    def view(self, slug: str = "shop") -> dict[str, Any]:
        found = self.supervisor.wire(slug)
        assert found is not None
        return {**found}

    def record(self, slug: str = "shop") -> Any:
        return self.supervisor._units[slug].state.record

    async def until(self, found: Callable[[], T], *, seconds: float = 60.0, what: str = "") -> T:
        """The first true result, while the loop goes on."""
        deadline = time.monotonic() + seconds
        while not (result := found()):
            assert time.monotonic() < deadline, f"not in time: {what or found}"
            await asyncio.sleep(0.005)
        return result

    async def becomes(self, status: str, slug: str = "shop") -> dict[str, Any]:
        await self.until(lambda: self.view(slug)["status"] == status, what=status)
        return self.view(slug)

    @property
    def turn(self) -> Turned:
        assert isinstance(self.clock, Turned)
        return self.clock

    async def turned_until(self, status: str, slug: str = "shop") -> dict[str, Any]:
        """Time goes on in small steps until the service is something."""

        def step() -> bool:
            self.turn.advance(0.05)
            return bool(self.view(slug)["status"] == status)

        await self.until(step, what=status)
        return self.view(slug)

    async def close(self) -> None:
        await self.supervisor.close()


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def log_of(slug: str = "shop") -> str:
    return text(layout.current(slug))


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def server(port: int, **more: Any) -> Service:
    """Answers 200 on its port."""
    return Service(python(SERVER), port=port, **more)


def alive(pid: int) -> bool:
    return table.living(pid) is not None


def sweep(data: Path) -> None:
    """End what carries a mark of a run recorded below this data directory, until there is none: a
    process that just executes its program shows no environment for a moment."""
    home = f"HOME={data}".encode()
    while any(_ended(path, home) for path in Path("/proc").glob("[0-9]*/environ")):
        pass


def _ended(environ: Path, home: bytes) -> bool:
    with contextlib.suppress(OSError):
        entries = environ.read_bytes().split(b"\0")
        if home in entries and any(entry.startswith(b"SVC_RUN=") for entry in entries):
            os.kill(int(environ.parent.name), signal.SIGKILL)
            return True
    return False


__all__ = ["Scene", "Turned", "alive", "environment", "log_of", "python", "server", "sweep"]
