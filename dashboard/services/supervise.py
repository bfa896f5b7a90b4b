"""All services of the daemon: the interface of this package.

Lives in one event loop. Closing it stops no service; the next supervisor adopts them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Set

from dashboard.services import adopt, errors, logs, rotation
from dashboard.services import state as states
from dashboard.services.actions import ACTIONS, Outcome
from dashboard.services.definition import Service
from dashboard.services.state import ServiceState, World
from dashboard.services.system.processes import Family
from dashboard.services.unit import Unit

log = logging.getLogger(__name__)

ROTATE_S = 1.0


class Supervisor:
    """Services by slug."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._units: dict[str, Unit] = {}
        self._rotating: asyncio.Task[None] | None = None

    async def begin(self, declared: Mapping[str, Service]) -> None:
        """Adopt what runs and start what should run; returns when every living run is found.

        A run also outlives its file: one that was started once, or whose file is missing, is
        adopted and can be stopped; when the file returns, it applies to the run. While services are
        off nothing is started, but what runs is known and shown.
        """
        for slug, service in declared.items():
            self._unit(slug).declare(service)
        begun = (self._units[slug].begin() for slug in declared)
        await asyncio.gather(*begun, self._adopt_others(frozenset(declared)))
        self._rotating = asyncio.create_task(self._rotate(), name="log rotation")

    def declare(self, slug: str, service: Service | None) -> None:
        """Take in a changed file of an app; None: it has no service block or is deleted."""
        if service is not None or slug in self._units:
            self._unit(slug).declare(service)

    async def act(self, slug: str, action: str) -> Outcome:
        """The outcome of an action. NotFound for an unknown one, Conflict as in errors.py.

        While services are off, what runs can be stopped; a restart is a start.
        """
        if action not in ACTIONS:
            raise errors.no_action(slug, action)
        unit = self._units.get(slug)
        if unit is None:
            raise errors.not_managed(slug)
        if action != "stop" and not self.world.limits().enabled:
            raise errors.services_off()
        return await unit.act(action)

    async def once(self, slug: str, service: Service) -> Outcome:
        """Start a lost command once, with its log kept."""
        if not self.world.limits().enabled:
            raise errors.services_off()
        return await self._unit(slug).once(service)

    async def wait_for_start(self, slug: str, seconds: float) -> Outcome:
        """The outcome of a start, after a longer wait than its first answer had."""
        unit = self._units.get(slug)
        if unit is None:
            raise errors.not_managed(slug)
        return await unit.wait_for_start(seconds)

    def find_definition(self, slug: str) -> Service | None:
        """The definition in its file now; None without one."""
        unit = self._units.get(slug)
        return unit.state.service if unit and unit.state.declared else None

    def slugs(self) -> set[str]:
        """Every slug that has a service, or was started once."""
        return set(self._units)

    def wire(self, slug: str) -> states.Service | None:
        """The Service record of an app; None when it is not managed."""
        unit = self._units.get(slug)
        return unit.state.wire() if unit and (unit.state.declared or unit.state.alive) else None

    def status(self, slug: str) -> str | None:
        unit = self._units.get(slug)
        return unit.state.status if unit else None

    def state(self, slug: str) -> ServiceState | None:
        """The state of a service, to be read only; None without one."""
        unit = self._units.get(slug)
        return unit.state if unit else None

    def families(self) -> dict[str, Family]:
        """What identifies the processes of each running service."""
        living = ((slug, unit.state) for slug, unit in self._units.items() if unit.state.alive)
        return {slug: state.record.family for slug, state in living if state.record}

    def running(self) -> dict[str, tuple[int, int]]:
        """The process of each running service: its pid, and its start time as the system has it."""
        living = ((slug, unit.state) for slug, unit in self._units.items() if unit.state.alive)
        return {
            slug: (state.record.pid, state.record.started)
            for slug, state in living
            if state.record and state.record.pid
        }

    def pids(self) -> set[int]:
        """The pids of running services, which the observation leaves out."""
        return {unit.state.pid for unit in self._units.values() if unit.state.pid is not None}

    def tail(self, slug: str, lines: int | str, after: int | str | None = None) -> logs.Tail:
        """See logs.tail. Raises NotFound `not_managed`. Blocks."""
        if self.wire(slug) is None:
            raise errors.not_managed(slug, log=True)
        return logs.tail(slug, lines, after)

    async def close(self) -> None:
        """End within a second; every service keeps running."""
        if self._rotating is not None:
            self._rotating.cancel()
            await asyncio.wait({self._rotating})
        await asyncio.gather(*(unit.close() for unit in self._units.values()))

    async def _adopt_others(self, declared: Set[str]) -> None:
        left = await asyncio.to_thread(adopt.alive_slugs)
        await asyncio.gather(*(self._unit(slug).begin() for slug in left - declared))

    def _unit(self, slug: str) -> Unit:
        if slug not in self._units:
            self._units[slug] = Unit(slug, self.world)
        return self._units[slug]

    async def _rotate(self) -> None:
        for slug in list(self._units):
            await self._tolerate(slug, asyncio.to_thread(rotation.recover, slug))
        while True:
            for slug, unit in list(self._units.items()):
                await self._tolerate(slug, self._cut(unit))
            await self.world.clock.sleep(ROTATE_S)

    async def _cut(self, unit: Unit) -> None:
        limits = self.world.limits()
        await asyncio.to_thread(
            rotation.rotate,
            unit.slug,
            max_bytes=limits.log_max_bytes,
            keep=limits.log_keep,
            now=self.world.clock.wall(),
        )
        await unit.measure()

    async def _tolerate(self, slug: str, work: Awaitable[None]) -> None:
        """Log a full disk or an unreadable log, which must stop neither service nor daemon."""
        try:
            await work
        except OSError as error:
            log.warning("a service's log", extra={"slug": slug, "why": str(error)})
