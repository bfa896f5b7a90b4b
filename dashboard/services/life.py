"""What a service does by itself: it starts, becomes ready, ends and is restarted.

Runs in the daemon's event loop; blocking work goes to a thread. The process decides what is true;
the record has what a later daemon could not find out from it.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from config.errors import SvcError
from config.process.table import Process
from dashboard.services import adopt, errors, ready, spawn
from dashboard.services import record as records
from dashboard.services.definition import Service
from dashboard.services.errors import PortInUse
from dashboard.services.policy import Restarts, wants_restart
from dashboard.services.record import Exit, Record
from dashboard.services.state import ServiceState
from dashboard.services.system import boot, ports, processes, waiting

log = logging.getLogger(__name__)

PATIENCE_S = 10.0  # for a command without a readiness check that puts itself into the background


@dataclass(slots=True, eq=False)
class Life:
    """The process behind one ServiceState. `due` is called when a restart is due."""

    state: ServiceState
    due: Callable[[], None]
    settled: asyncio.Event = field(default_factory=asyncio.Event)  # ready, late or ended
    restarts: Restarts = field(default_factory=Restarts)
    launched: float = 0.0
    _saving: asyncio.Lock = field(default_factory=asyncio.Lock)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def launch(self, reason: str, *, asked: bool = False, once: bool = False) -> None:
        """Start the command. Raises PortInUse; any other refusal counts as an end of the run."""
        state = self.state
        again = state.status == "backoff"
        service = state.service
        if service is None:
            raise errors.not_managed(state.slug)
        await self.end_all(service)  # what an earlier run left behind
        self.launched = state.world.clock.now()
        await self._free_port(service)
        self.settled.clear()
        state.message, state.adopted = None, False
        try:
            starting = self._spawn_in_thread(service, reason, once, again)
            state.record = await asyncio.shield(asyncio.create_task(starting))
        except (spawn.CannotStart, SvcError) as error:
            await self.on_failed_start(str(error), asked=asked)
            return
        state.become("starting", reason, asked=asked)
        self.watch(state.record)
        self._task("ready", self._until_ready(service, state.record))

    async def _spawn_in_thread(
        self, service: Service, reason: str, once: bool, again: bool
    ) -> Record:
        async with self._saving:
            return await asyncio.to_thread(self._spawn, service, reason, once, again)

    async def on_failed_start(self, message: str, *, asked: bool = False) -> None:
        """A start that failed; it counts as a run that ended at once."""
        self.state.message = message
        await self._decide(None, asked=asked)

    async def end_all(self, service: Service | None) -> bool:
        """Stop every process of the last run, still the service or not; whether all have ended.

        With `service` None no file says how, so the usual signal and timeout are used.
        """
        state = self.state
        self.forget("end", "ready")
        if state.record is None or not state.record.run:
            return True
        asked = service.signal if service else signal.SIGTERM
        timeout = service.stop_timeout if service else None
        limit = state.world.limits().stop_timeout if timeout is None else timeout
        family, clock = state.record.family, state.world.clock
        by = await waiting.end(family, asked, timeout=limit, clock=clock)
        processes.reap(state.record.leader)
        if by is not None and state.alive:
            ended = self._exit_of(state.record) or Exit(None, by.name, clock.wall())
            state.record = replace(state.record, last_exit=ended)
        return by is not None

    def watch(self, run: Record) -> None:
        """Follow the process to its end."""
        self._task("end", self._until_end(run))

    async def over(self, run: Record) -> None:
        """Handle the end of a process that was not asked to end."""
        heir = await self._heir(run)
        if heir is not None:
            self.state.record = after = replace(run, pid=heir.pid, started=heir.started)
            await self.save()
            self.watch(after)
            return
        self.forget("ready")
        await self._decide(self._exit_of(run) or Exit(None, None, self.state.world.clock.wall()))

    def retry_in(self, seconds: float) -> None:
        state = self.state
        state.next_retry = state.world.clock.wall() + timedelta(seconds=seconds)
        state.become("backoff", "backoff")

        async def retry() -> None:
            await state.world.clock.sleep(seconds)
            self.due()

        self._task("retry", retry())

    def forget(self, *names: str) -> None:
        """Cancel these tasks: waiting for an end, for readiness or for a restart."""
        for name in names:
            task = self._tasks.pop(name, None)
            if task is not None and task is not asyncio.current_task():
                task.cancel()

    async def save(self) -> None:
        """Write the record as it is now; a failed write is logged and stops no service."""
        await asyncio.shield(asyncio.create_task(self._save()))

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        self.forget(*list(self._tasks))
        await asyncio.gather(*tasks, return_exceptions=True)
        async with self._saving:  # wait for a start or a write of the record that is under way
            pass

    async def _save(self) -> None:
        state = self.state
        async with self._saving:
            known = state.record or Record(run="", boot=boot.boot_id())
            state.record = known = replace(
                known, status=state.status, reason=state.reason, message=state.message
            )
            try:
                await asyncio.to_thread(records.save, state.slug, known)
            except SvcError as error:
                log.warning("a service's record", extra={"slug": state.slug, "why": error.text})

    async def _free_port(self, service: Service) -> None:
        if service.port is None:
            return
        holder = await asyncio.to_thread(ports.holder, service.port, service.address)
        if holder is not None:
            raise PortInUse(service.port, holder)

    def _spawn(self, service: Service, reason: str, once: bool, again: bool) -> Record:
        state, known = self.state, self.state.record
        return spawn.start(
            state.slug,
            service,
            login=state.world.login(),
            now=state.world.clock.wall(),
            reason=reason,
            last_exit=known.last_exit if known else None,
            restarts=known.restarts + 1 if known and again else 0,
            once=once,
            open_files=state.world.open_files,
        )

    async def _until_end(self, run: Record) -> None:
        await waiting.until_ended(Process(run.pid, 0, 0, run.started), self.state.world.clock)
        processes.reap(run.leader)
        await self.over(run)

    async def _heir(self, run: Record) -> Process | None:
        """The process that goes on as the service, or None. A command may need a while to put
        itself into the background."""
        state, ended = self.state, self._exit_of(run)
        if ended is not None and not ended.clean:
            return None
        service = state.service
        port, address = (service.port, service.address) if service else (None, None)
        deadline = self.launched + _patience(service)
        while True:
            coming = port is not None and state.status == "starting"
            found = await asyncio.to_thread(adopt.survivor, run, ended, port, address)
            if found or not coming:
                return found
            left = await asyncio.to_thread(adopt.remains, run, port)
            if not left or state.world.clock.now() >= deadline:
                return None
            await state.world.clock.sleep(ready.LOOK_S)

    def _exit_of(self, run: Record) -> Exit | None:
        """How the command ended; None when unknown, as for one that left its wrapper."""
        return records.exit_of(self.state.slug, run.run) if run.pid == run.leader else None

    async def _until_ready(self, service: Service, run: Record) -> None:
        clock = self.state.world.clock
        limit = asyncio.create_task(clock.sleep(_patience(service)))
        found = asyncio.create_task(
            ready.wait(self.state.slug, service, since=run.log_start, clock=clock)
        )
        try:
            await asyncio.wait({limit, found}, return_when=asyncio.FIRST_COMPLETED)
            in_time = found.done()
        finally:
            limit.cancel()
            found.cancel()
        self.state.become("running", "ok" if in_time else "start-timeout")
        self.settled.set()
        await self.save()

    async def _decide(self, ended: Exit | None, *, asked: bool = False) -> None:
        """Decide what follows an end; with `ended` None the command did not even start."""
        state = self.state
        if ended is not None:
            state.message = None
        if state.record is not None and ended is not None:
            state.record = replace(state.record, last_exit=ended)
        clean = ended is not None and ended.clean
        self.restarts.count_run(started=self.launched, now=state.world.clock.now())
        if not self._may_restart(clean=clean):
            state.become("stopped" if clean else "failed", "exited", asked=asked)
        elif self.restarts.looping:
            state.become("failed", "crash-loop", asked=asked)
        else:
            self.retry_in(self.restarts.delay())
        self.settled.set()
        await self.save()

    def _may_restart(self, *, clean: bool) -> bool:
        state, service = self.state, self.state.service
        if service is None or not state.declared or (state.record and state.record.once):
            return False
        most = service.max_restarts
        left = most is None or self.restarts.attempts < most
        return left and wants_restart(service.policy, clean=clean)

    def _task(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self.forget(name)
        task = asyncio.create_task(work, name=f"{name} {self.state.slug}")
        task.add_done_callback(_complain)
        self._tasks[name] = task


def _patience(service: Service | None) -> float:
    wanted = ready.condition(service) if service else None
    return wanted.timeout if wanted else PATIENCE_S


def _complain(task: asyncio.Task[None]) -> None:
    """Log an error of our own tasks: otherwise the service would seem to be alive and never end."""
    if not task.cancelled() and task.exception() is not None:
        log.error("%s failed", task.get_name(), exc_info=task.exception())
