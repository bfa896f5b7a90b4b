"""The journal and the notice of what a reboot took: the face of this room (section 10).

Everything here is touched on the daemon's thread only; the disk is, in threads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from config.kernel.errors import NotFound
from dashboard.lost.entry import Entry, Listening
from dashboard.lost.notice import Notice
from dashboard.lost.running import Running
from dashboard.lost.world import World

log = logging.getLogger(__name__)

WRITE_S = 2.0


class Lost:
    """One journal and one notice. `begin` after Supervisor.begin, then `run` as a task."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._running = Running()
        self._notice = Notice()

    async def begin(self) -> None:
        """Read journal and notice; another boot than the journal's begins a grace time."""

    def seen(self, listeners: Sequence[Listening]) -> None:
        """After every scan: what is to be remembered and listens now. No disk."""
        clock = self.world.clock
        self._running.seen(listeners, now=clock.now(), at=clock.wall(), ended=self._ended)

    async def run(self) -> None:
        """Writes the journal, ends the grace time; never returns."""
        while True:
            await self.world.clock.sleep(WRITE_S)

    def wire(self) -> dict[str, Any] | None:
        """`lost` of 10.4. No disk."""
        return None

    async def restart(
        self,
        id: str,  # noqa: A002 - the word of the contract
        slug: str | None = None,
        *,
        as_service: bool = False,
    ) -> dict[str, Any]:
        """Once, or from now on as a service (10.5). 404 for another id, 400, 409."""
        raise NotFound(f'No lost app "{id}".')

    async def dismiss(self, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """One item, or the whole notice: `{lost}` with what remains (10.6). 404 for another id."""
        return {"lost": self.wire()}

    async def close(self) -> None:
        """Write what is not written yet."""
        await asyncio.sleep(0)

    def _ended(self, entry: Entry) -> bool:
        """A service that a user stopped is not lost."""
        shown = self.world.services.wire(entry.slug) if entry.slug and entry.service else None
        return bool(shown and shown["status"] == "stopped" and shown["reason"] == "user")
