"""A machine that reboots: one data directory, and one daemon's journal and services per start."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from dashboard.files import layout
from dashboard.reboot import Listening, Lost, Settings, World
from dashboard.services import state
from dashboard.services.definition import Service
from dashboard.services.state import Limits
from dashboard.services.supervise import Supervisor
from dashboard.services.system.clock import Clock
from tests.dashboard.services.world import SERVER, Turned

GRACE = Settings().grace


def listening(name: str = "shop", port: int = 3000, **more: Any) -> Listening:
    """As a scan shows a dev server that no file declares."""
    return replace(
        Listening(
            id=f"o-{name}",
            slug=None,
            name=name,
            port=port,
            argv=("npm", "run", name),
            cwd=str(Path.home()),
            identity={"process": {"pid": 1}},
        ),
        **more,
    )


def server(port: int, cwd: Path, **more: Any) -> Listening:
    """A command that serves on the port in its environment."""
    return listening(port=port, argv=(sys.executable, "-c", SERVER), cwd=str(cwd), **more)


class Machine:
    """`clock` is that of the room, turned by the test; services run in real time by default."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
        self.monkeypatch, self.data = monkeypatch, data
        self.clock = Turned()
        self.service_clock: Clock = Clock()
        self.settings, self.limits = Settings(), Limits()
        self.events: list[list[str]] = []
        self.begun: list[Supervisor] = []  # of every boot; the last is `services`
        self.services: Supervisor
        self.lost: Lost

    async def boot(self, name: str, **services: Service) -> Lost:
        """Another boot, and the daemon started in it. One before that was not closed was killed."""
        self.monkeypatch.setenv("SVC_TEST_BOOT_ID", name)
        return await self.start(**services)

    async def start(self, **services: Service) -> Lost:
        world = state.World(
            clock=self.service_clock,
            changed=lambda _change: None,
            login=lambda: {"PATH": os.environ["PATH"], "HOME": str(self.data)},
            limits=lambda: self.limits,
        )
        self.services = Supervisor(world)
        self.begun.append(self.services)
        await self.services.begin(services)
        self.lost = Lost(
            World(
                clock=self.clock,
                services=self.services,
                changed=lambda ids: self.events.append([*ids]),
                settings=lambda: self.settings,
            )
        )
        await self.lost.begin()
        return self.lost

    async def sees(self, *listeners: Listening, after: float = 2.0) -> None:
        """A scan so many seconds later, and the round that follows."""
        self.clock.advance(after)
        self.lost.take_scan(listeners)
        await self.lost.step()

    async def grace_is_over(self, *listeners: Listening) -> None:
        await self.sees(*listeners, after=self.settings.grace)

    async def reboots_from(self, *listeners: Listening, boot: str = "second") -> Lost:
        """Those ran in the first boot, and the grace time of the next is over without them."""
        await self.boot("first")
        await self.sees(*listeners)
        await self.services.close()
        await self.boot(boot)
        await self.grace_is_over()
        return self.lost

    def items(self) -> list[dict[str, Any]]:
        shown = self.lost.wire()
        return [{**item} for item in shown["items"]] if shown else []

    def ids(self) -> set[str]:
        return {item["id"] for item in self.items()}

    def item(self) -> dict[str, Any]:
        (found,) = self.items()
        return found

    def journal(self) -> set[str]:
        """The ids in the journal on disk."""
        return {one["id"] for one in orjson.loads(journal().read_bytes())["listeners"]}

    async def close(self) -> None:
        """Those of boots before, too: a start of theirs may be under way."""
        await self.lost.close()
        for services in self.begun:
            await services.close()


def journal() -> Path:
    return layout.state_dir() / "running.json"


def notice() -> Path:
    return layout.state_dir() / "lost.json"


def end(pids: Sequence[int]) -> None:
    for pid in pids:
        os.killpg(pid, signal.SIGKILL)
