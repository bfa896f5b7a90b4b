"""Engines that need an event loop: asyncio around one of them, in its turn process.

Stop first kills everything below the process, so that no engine waits for a child that does not
answer, and closes the engine's iterator afterwards. What was streamed until then is kept. A child
that can be notified is notified 0.2 s earlier (on_stop).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager

from config.process import heap
from config.process.light_typing import TYPE_CHECKING, Protocol
from workspace.engines import policy, procs
from workspace.engines.base import (
    AGAIN,
    Args,
    End,
    Engine,
    Event,
    Job,
    Text,
    Thinking,
    ToolUse,
    TurnIO,
)
from workspace.engines.control import Control

if TYPE_CHECKING:
    from workspace.engines.runner import Runner

CLOSE_S = 2.0
GOODBYE_S = 0.2
FLUSH_S = 0.05
STOPPED = "the turn was stopped"


class Turn(TurnIO, Protocol):
    """A turn as its engine sees it, plus the parts that do not wait (chats/turns/process.py)."""

    control: Control

    def take(self, event: Event) -> None: ...

    def judge(self, use: ToolUse) -> str | policy.Ask | None: ...

    def record_question(self, use: ToolUse, seconds: int) -> None: ...

    def record_answer(self, use: ToolUse, allowed: bool | None, seconds: int) -> str | None: ...

    def call_svc(self, op: str, args: Args, seconds: float) -> tuple[bool, str]: ...

    def flush(self) -> None: ...


@contextmanager
def loading() -> Iterator[None]:
    """A context for importing a library. The imported objects are permanent, and collecting garbage
    among them again and again would take a fifth of the import."""
    heap.loading()
    try:
        yield
    finally:
        heap.freeze(lasting=False)


def perform(engine: Engine, job: Job, turn: Turn) -> End | None:
    """Run the engine to its End; None if it ended without one. Raises control.TurnStopped."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_Performance(engine, job, turn).run())
    finally:
        loop.close()  # threads that still wait for a server end with the process


class _Performance:
    """One run of one engine, and the TurnIO that the engine sees."""

    def __init__(self, engine: Engine, job: Job, turn: Turn) -> None:
        self.engine, self.job, self.turn = engine, job, turn
        self.control = turn.control
        self.stop = asyncio.Event()
        self.asks: dict[str, asyncio.Future[bool]] = {}
        self.limits: dict[str, asyncio.Timeout] = {}  # of the same calls: when they are denied
        self.blocks: dict[str, Text | Thinking] = {}  # streamed, and not yet a record
        self.farewell: Callable[[], Awaitable[object]] | None = None
        self._flush: asyncio.TimerHandle | None = None

    async def run(self) -> End | None:
        loop = asyncio.get_running_loop()
        self.control.notify = lambda: loop.call_soon_threadsafe(self._look)
        self._look()  # at what arrived before
        pump = asyncio.ensure_future(self._pump(self.engine.run(self.job, self)))
        stop = asyncio.ensure_future(self.stop.wait())
        try:
            await asyncio.wait((pump, stop), return_when=asyncio.FIRST_COMPLETED)
            if not pump.done():
                await self._say_goodbye(pump)
                procs.kill_tree(below=(os.getpid(),))
                pump.cancel()
                await asyncio.wait((pump,), timeout=CLOSE_S)
            # However the engine's own work ended after a stop, the outcome is a stop.
            self.control.check()
            return pump.result()
        finally:
            self.control.notify = None
            stop.cancel()
            if pump.done() and not pump.cancelled():
                pump.exception()  # marks it as seen, so that the loop does not log it
            for block in list(self.blocks.values()):
                self.turn.take(block)

    async def _say_goodbye(self, pump: asyncio.Future[End | None]) -> None:
        """Notify a child that listens, so that it may end by itself and keep its state."""
        if self.farewell is not None:
            said = asyncio.ensure_future(self.farewell())
            said.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.wait((pump,), timeout=GOODBYE_S)
            said.cancel()

    async def _pump(self, events: AsyncGenerator[Event, None]) -> End | None:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, End):
                    return event
                if isinstance(event, Text | Thinking):
                    self.blocks.pop(event.block, None)
                self.turn.take(event)
        return None

    def _look(self) -> None:
        """Handle what has arrived: lines of the worker, a signal or the end of the turn's time."""
        for call, ask in self.asks.items():
            if call in self.control.answers and not ask.done():
                ask.set_result(self.control.answers[call])
        loop = asyncio.get_running_loop()
        for call, limit in self.limits.items():
            if call in self.control.kept:
                limit.reschedule(loop.time() + self.control.kept[call] - time.time())
        if self.control.reason is not None:
            self.stop.set()

    async def gate(self, tool: str, args: Args, call: str) -> str | None:
        """Never raises: an engine without an answer could run the tool."""
        use = ToolUse(tool, call, args)
        if self.control.reason is not None:
            return STOPPED
        try:
            decision = self.turn.judge(use)
            return await self._ask(use, decision) if isinstance(decision, policy.Ask) else decision
        except Exception:
            return f"{tool} was denied: the permission check failed"

    async def _ask(self, use: ToolUse, ask: policy.Ask) -> str | None:
        self.turn.record_question(use, ask.seconds)
        self.asks[use.call] = asyncio.get_running_loop().create_future()
        self._look()
        try:
            async with asyncio.timeout(ask.seconds) as self.limits[use.call]:
                allowed: bool | None = await self.asks[use.call]
        except TimeoutError:
            allowed = None
        finally:
            del self.asks[use.call]
            self.limits.pop(use.call, None)
        return self.turn.record_answer(use, allowed, ask.seconds)

    async def svc(self, op: str, args: Args, seconds: float = 60) -> tuple[bool, str]:
        return await asyncio.to_thread(self.turn.call_svc, op, args, seconds)

    def delta(self, block: str, kind: str, text: str) -> None:
        if kind == AGAIN:
            self.blocks.pop(block, None)
        else:
            made = Thinking if kind == "thinking" else Text
            before = self.blocks.get(block)
            self.blocks[block] = made((before.text if before else "") + text, block, partial=True)
        self.turn.delta(block, kind, text)
        if self._flush is None or self._flush.when() < time.monotonic():
            self._flush = asyncio.get_running_loop().call_later(FLUSH_S, self.turn.flush)

    def wrap(
        self,
        argv: list[str],
        *,
        writable: Sequence[str] = (),
        needed: Sequence[str] = (),
        endpoints: Sequence[tuple[str, int]] = (),
    ) -> list[str]:
        return self.turn.wrap(argv, writable=writable, needed=needed, endpoints=endpoints)

    def runner(self, tool: str, args: Args) -> Runner | None:
        return self.turn.runner(tool, args)

    def count(self, host: str, port: int, refused: bool) -> None:
        self.turn.count(host, port, refused)

    def denial(self, path: str, *, write: bool) -> str | None:
        return self.turn.denial(path, write=write)

    def stoppable(self) -> AbstractContextManager[None]:
        return self.turn.stoppable()

    def on_stop(self, farewell: Callable[[], Awaitable[object]]) -> None:
        self.farewell = farewell

    def earlier(self) -> Iterator[Args]:
        return self.turn.earlier()
