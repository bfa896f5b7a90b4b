"""The server's own bounded pools for blocking work: Django views, operations, file reads.

Their threads live as long as the process, so each keeps one database connection; asgiref would
make a thread, and so a connection, per request. Never wait here for another call of these pools.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

P = ParamSpec("P")
T = TypeVar("T")
Answer = asyncio.Future[tuple[Any, BaseException | None]]

SIZE = 32  # some calls wait: Stop up to 10 s, a run's start check up to 60 s
BRIEF = 4  # threads for short reads; one does them all while none is slow
ASIDE_S = 0.002  # how long the loop stands aside for a batch
PASSED = 8  # batches it does not stand aside for, after one that took longer
LATE_S = 0.01  # a read that takes longer is slow: those behind it go to another thread

_pool = ThreadPoolExecutor(SIZE, thread_name_prefix="svc")
_brief = ThreadPoolExecutor(BRIEF, thread_name_prefix="svc-brief")


async def run(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Await `call(*args, **kwargs)` done in a thread of the pool."""
    return await asyncio.get_running_loop().run_in_executor(_pool, partial(call, *args, **kwargs))


async def brief(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a call that only reads, and seldom waits for anything but the disk."""
    loop = asyncio.get_running_loop()
    if (reads := _reads.get(loop)) is None:
        reads = _reads[loop] = Reads()
    value, fault = await reads.add(loop, partial(call, *args, **kwargs))
    if fault is not None:
        raise fault
    result: T = value
    return result


@dataclass(slots=True)
class Job:
    """One call, and who waits for its value or what it raised."""

    call: Callable[[], Any]
    answer: Answer
    value: Any = None
    fault: BaseException | None = None

    def do(self) -> None:
        try:
            self.value = self.call()
        except BaseException as fault:
            self.fault = fault


def _held() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(slots=True)
class Batch:
    """Jobs one thread does in turn. Both deques are shared between it and the loop."""

    todo: deque[Job]
    done: deque[Job] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None
    over: threading.Lock = field(default_factory=_held)  # let go of when its thread has left it
    left: bool = False  # the loop went on meanwhile, and wants to be told
    settled: bool = False

    def work(self) -> None:
        """In a thread, until nothing is left or the loop has taken the rest back."""
        with suppress(IndexError):
            while True:
                job = self.todo.popleft()
                job.do()
                self.done.append(job)

    def give_back(self, waiting: deque[Job]) -> None:
        """Put what has not been begun before what waits, in its order."""
        with suppress(IndexError):
            while True:
                waiting.appendleft(self.todo.pop())

    def settle(self) -> None:
        """In the loop: resolve the futures of finished jobs."""
        while self.done:
            job = self.done.popleft()
            if not job.answer.done():  # else nobody waits any more
                job.answer.set_result((job.value, job.fault))


class Reads:
    """The short reads of one event loop: what has come meanwhile is done as one batch.

    A thread woken for each would fight the loop for the interpreter at every system call of
    either; in turns, both run undisturbed. So the loop waits for a batch too, as long as that takes
    next to no time. Only a batch that is late gets company.
    """

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._current: Batch | None = None
        self._threads = 0  # how many work, late ones included
        self._pass = 0  # batches that the loop does not stand aside for

    def add(self, loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> Answer:
        if self._current is None and not self._waiting:
            loop.call_soon(self._next, loop)  # behind the other requests of this turn of the loop
        job = Job(call, loop.create_future())
        self._waiting.append(job)
        return job.answer

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._current is not None or not self._waiting:
            return
        batch = self._current = Batch(self._waiting)
        self._waiting = deque()
        self._threads += 1
        batch.left = self._pass > 0
        _brief.submit(self._work, loop, batch)
        if not self._stands_aside(batch):
            batch.timer = loop.call_later(LATE_S, self._late, loop, batch)
        else:
            self._finished(loop, batch)

    def _stands_aside(self, batch: Batch) -> bool:
        """Whether the batch was done while the loop stood still for it."""
        if batch.left:
            self._pass -= 1
            return False
        if batch.over.acquire(timeout=ASIDE_S):
            return True
        self._pass, batch.left = PASSED, True
        return batch.over.acquire(blocking=False)  # its thread may not have seen that we left

    def _work(self, loop: asyncio.AbstractEventLoop, batch: Batch) -> None:
        batch.work()
        batch.over.release()
        if batch.left:
            loop.call_soon_threadsafe(self._finished, loop, batch)

    def _late(self, loop: asyncio.AbstractEventLoop, batch: Batch) -> None:
        """Nobody waits for somebody else's slow read while a thread is free."""
        batch.settle()
        if self._threads == BRIEF:
            batch.timer = loop.call_later(LATE_S, self._late, loop, batch)
            return
        batch.give_back(self._waiting)
        self._current = None
        self._next(loop)

    def _finished(self, loop: asyncio.AbstractEventLoop, batch: Batch) -> None:
        if batch.settled:
            return
        batch.settled = True
        self._threads -= 1
        batch.settle()
        if batch is self._current:
            if batch.timer is not None:
                batch.timer.cancel()
            self._current = None
        self._next(loop)


_reads: WeakKeyDictionary[asyncio.AbstractEventLoop, Reads] = WeakKeyDictionary()
