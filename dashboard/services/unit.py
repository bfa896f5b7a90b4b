"""One service: the actions a user asks for, and what happens when the daemon starts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from dashboard.services import adopt, errors, logs
from dashboard.services import record as records
from dashboard.services.actions import Action, Outcome, Queue
from dashboard.services.definition import Service
from dashboard.services.errors import PortInUse
from dashboard.services.life import Life
from dashboard.services.record import Record
from dashboard.services.state import ALIVE, Change, ServiceState, World
from dashboard.services.system import boot, ports

ANSWER_S = 10.0  # how long a start waits before it answers, and a restart for its port
LOOK_S = 0.1
LOG_LINES = 20


@dataclass(slots=True, eq=False)
class Unit:
    """A service by its slug; every change to it goes through its queue."""

    slug: str
    world: World
    state: ServiceState = field(init=False)
    queue: Queue = field(init=False)
    life: Life = field(init=False)

    def __post_init__(self) -> None:
        self.state = ServiceState(self.slug, self.world)
        self.queue = Queue(self.slug)
        self.life = Life(self.state, self._retry)

    async def act(self, action: str) -> Outcome:
        """The outcome of start, stop or restart. Raises `not_managed`, `port_in_use`, `busy`."""
        if not self.state.declared and not (action == "stop" and self.state.alive):
            raise errors.not_managed(self.slug)
        return await self.queue.do(action, getattr(self, f"_{action}"))

    async def once(self, service: Service) -> Outcome:
        """Run a command that no file declares, without restarting it."""
        if not self.state.declared:
            self.state.service = service
        return await self.queue.do("once", self._once)

    async def wait_for_start(self, seconds: float) -> Outcome:
        """The outcome of a start, once it is ready or over, or after `seconds`."""
        await self._first(self.life.settled, seconds=seconds)
        return self._outcome("start", ok=self._came_up, log=await self._lines_of(self.state.record))

    def declare(self, service: Service | None) -> None:
        """Take in what the file says now. A changed service is tried again after a crash loop; a
        running one keeps running."""
        state = self.state
        before, state.service = state.service, service or state.service
        state.declared = service is not None
        if service is None and state.status == "backoff":
            self.life.forget("retry")
            state.become("stopped", "not-running")
        if service is not None and state.reason == "crash-loop" and before != service:
            self.life.restarts.reset()
            self._retry()

    async def begin(self) -> None:
        """At the daemon's start: find what runs, learn how it ended, start what should run."""
        state = self.state
        state.record = known = await asyncio.to_thread(records.load, self.slug)
        if known is None or known.boot != boot.boot_id():
            self._begin_boot(known)
            return
        state.status, state.reason, state.message = known.status, known.reason, known.message
        if known.status in ALIVE:
            await self._find(known)
        elif known.status == "backoff":
            self.life.retry_in(self.life.restarts.delay())
        elif known.reason == "crash-loop" and _has_changed(known, state.service):
            self._retry()
        elif state.declared and not await self._port_is_held():
            self._say(known)

    async def close(self) -> None:
        """The daemon ends, the service keeps running."""
        await self.queue.close()
        await self.life.close()

    async def measure(self) -> None:
        self.state.log_bytes = await asyncio.to_thread(logs.end, self.slug)

    async def _start(self) -> Outcome:
        return await self._launch("start")

    async def _once(self) -> Outcome:
        return await self._launch("start", once=True)

    async def _launch(
        self, action: Action, reason: str = "spawned", *, once: bool = False
    ) -> Outcome:
        if self.state.status in ("starting", "running"):
            return self._outcome(action, ok=True, already=True)
        self.life.forget("retry")
        self.life.restarts.reset()
        before = self.state.record
        try:
            await self.life.launch(reason, asked=True, once=once)
        except PortInUse:
            if self.state.status == "backoff":
                self.state.become("failed", "exited", asked=True)
                await self.life.save()
            raise
        await self._first(self.life.settled, self.queue.crowded)
        shown = await self._lines_of(self.state.record, before)
        return self._outcome(action, ok=self._came_up, log=shown)

    async def _stop(self) -> Outcome:
        already = self.state.status in ("stopped", "failed")
        if not await self._end("user"):
            return self._outcome("stop", ok=False)
        await self._is_stopped()
        return self._outcome("stop", ok=True, already=already)

    async def _restart(self) -> Outcome:
        """Stop it, then start it once its port is free."""
        if not await self._end("restarting"):
            return self._outcome("restart", ok=False)
        clock = self.world.clock
        deadline = clock.now() + ANSWER_S
        while clock.now() < deadline and await self._port_is_held():
            await clock.sleep(LOOK_S)
        try:
            return await self._launch("restart", "restarting")
        except PortInUse:
            await self._is_stopped()
            raise

    async def _end(self, reason: str) -> bool:
        """Stop all processes; whether all have ended. The intent is recorded first, so that the
        next daemon continues if this one is killed."""
        state, service = self.state, self.state.service
        self.life.forget("retry")
        if state.alive:
            state.become("stopping", reason, asked=True)
            await self.life.save()
        if not await self.life.end_all(service):
            state.message = "A process does not end, not even when it is killed."
            state.become("running", reason, asked=True)
            if state.record is not None:
                self.life.watch(state.record)
            return False
        return True

    async def _is_stopped(self) -> None:
        self.state.become("stopped", "user", asked=True)
        self.life.settled.set()
        await self.life.save()

    def _retry(self) -> None:
        """Queue a start as the restart policy wants it."""
        self.queue.put("retry", self._again)

    async def _again(self) -> Outcome:
        if not self.world.limits().enabled:
            self.state.become("stopped", "not-running")
        elif not self.state.alive and self.state.declared:
            reason = "restarting" if self.state.status == "backoff" else "spawned"
            try:
                await self.life.launch(reason)
            except PortInUse as error:
                await self.life.on_failed_start(error.text)
        return self._outcome("start", ok=self.state.alive)

    def _begin_boot(self, known: Record | None) -> None:
        """There is no run of this boot: an autostart service starts, even if a user had stopped
        it."""
        state = self.state
        if known is not None:
            ended = records.exit_of(self.slug, known.run) or known.last_exit
            state.record = replace(known, last_exit=ended, restarts=0)
        if state.service is not None and state.service.autostart:
            self._retry()

    def _say(self, known: Record) -> None:
        """Report how the last run ended: a service that a user stopped is not down."""
        self.world.changed(Change(self.slug, known.status, known.status, known.reason))

    async def _find(self, known: Record) -> None:
        found = await asyncio.to_thread(adopt.alive, known)
        clock = self.world.clock
        lived = (clock.wall() - known.at).total_seconds() if known.at else 0.0
        self.life.launched = clock.now() - max(0.0, lived)
        self.state.adopted = True
        if known.status == "stopping":
            self.state.record = found or known
            again = known.reason == "restarting" and self.state.declared
            self.queue.put("again", self._restart if again else self._stop)
        elif found is not None:
            self.state.record = found
            self.state.become("running", "ok")
            self.life.watch(found)
            await self.life.save()
        elif self.state.declared and await self._never_ran(known):
            self.state.status = "stopped"  # there was no run whose end could be reported
            self._retry()
        else:
            await self.life.over(known)

    async def _never_ran(self, known: Record) -> bool:
        """Whether a daemon was killed after it recorded a start and before it made it."""
        if known.pid:
            return False
        return await asyncio.to_thread(records.exit_of, self.slug, known.run) is None

    async def _port_is_held(self) -> bool:
        service = self.state.service
        if service is None or service.port is None:
            return False
        return await asyncio.to_thread(ports.holder, service.port, service.address) is not None

    async def _first(self, *events: asyncio.Event, seconds: float = ANSWER_S) -> None:
        """Wait until one of the events is set, at most as long as an answer may take."""
        limit = asyncio.create_task(self.world.clock.sleep(seconds))
        waits = {limit, *(asyncio.ensure_future(event.wait()) for event in events)}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    @property
    def _came_up(self) -> bool:
        state = self.state
        return state.status in ("starting", "running") and state.reason != "start-timeout"

    async def _lines_of(self, run: Record | None, before: Record | None = None) -> list[str]:
        """The last log lines of a new run; none without one."""
        if run is None or (before is not None and before.run == run.run):
            return []
        return await asyncio.to_thread(logs.last, self.slug, LOG_LINES, since=run.log_start)

    def _outcome(
        self, action: Action, *, ok: bool, already: bool = False, log: list[str] | None = None
    ) -> Outcome:
        state = self.state
        return Outcome(
            ok=ok,
            action=action,
            status=state.status,
            pid=state.pid,
            already=already,
            reason=state.reason,
            message=state.message,
            log=log or [],
        )


def _has_changed(known: Record, service: Service | None) -> bool:
    """Whether an autostart service has a definition other than that of the failed run."""
    return bool(service and service.autostart and not service.started_as(known.definition))
