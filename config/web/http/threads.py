"""The server's own bounded pools for blocking work: Django views, operations, file reads.

Their threads live as long as the process, so each keeps one database connection; asgiref would
make a thread, and so a connection, per request. A call must never wait for another call of these
pools.
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

SIZE = 32  # some calls wait: a stop up to 10 s, a run's start check up to 60 s
BRIEF = 4  # threads for short reads; one is enough while no read is slow
ASIDE_S = 0.002  # how long the loop blocks for a batch to end
PASSED = 8  # batches that the loop does not block for, after one that took longer
LATE_S = 0.01  # a read that takes longer is slow: those after it go to another thread

_pool = ThreadPoolExecutor(SIZE, thread_name_prefix="svc")
_brief = ThreadPoolExecutor(BRIEF, thread_name_prefix="svc-brief")


async def run(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Await `call(*args, **kwargs)`, run in a thread of the pool."""
    return await asyncio.get_running_loop().run_in_executor(_pool, partial(call, *args, **kwargs))


async def brief(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `run`, for a call that only reads, and seldom waits for anything but the disk."""
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
    """One call, its value or what it raised, and the future that waits for it."""

    call: Callable[[], Any]
    answer: Answer
    value: Any = None
    fault: BaseException | None = None

    def do(self) -> None:
        try:
            self.value = self.call()
        except BaseException as fault:
            self.fault = fault


def _new_held_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(slots=True)
class Batch:
    """Jobs that one thread does in turn. Both deques are shared with the event loop."""

    todo: deque[Job]
    done: deque[Job] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None
    over: threading.Lock = field(default_factory=_new_held_lock)  # released when the thread is done
    left: bool = False  # the loop did not wait, and must be notified
    settled: bool = False

    def work(self) -> None:
        """In a thread: do jobs until none is left, or the loop has taken the rest back."""
        with suppress(IndexError):
            while True:
                job = self.todo.popleft()
                job.do()
                self.done.append(job)

    def give_back(self, waiting: deque[Job]) -> None:
        """Move the jobs that were not begun to the front of `waiting`, in their order."""
        with suppress(IndexError):
            while True:
                waiting.appendleft(self.todo.pop())

    def settle(self) -> None:
        """In the loop: resolve the futures of finished jobs."""
        while self.done:
            job = self.done.popleft()
            if not job.answer.done():  # else the caller was cancelled
                job.answer.set_result((job.value, job.fault))


class Reads:
    """The short reads of one event loop; all that are waiting are done as one batch.

    A thread woken for each read would compete with the loop for the GIL at every system call of
    either. So the loop blocks while a batch runs, provided that batches take next to no time. A
    second batch runs at the same time only if the first is late.
    """

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._current: Batch | None = None
        self._threads = 0  # threads at work, late ones included
        self._pass = 0  # number of next batches that the loop does not block for

    def add(self, loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> Answer:
        if self._current is None and not self._waiting:
            loop.call_soon(self._next, loop)  # after the other requests of this turn of the loop
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
            self._finish(loop, batch)

    def _stands_aside(self, batch: Batch) -> bool:
        """Block briefly for the batch; return whether it was done in that time."""
        if batch.left:
            self._pass -= 1
            return False
        if batch.over.acquire(timeout=ASIDE_S):
            return True
        self._pass, batch.left = PASSED, True
        return batch.over.acquire(blocking=False)  # its thread may have missed `left`

    def _work(self, loop: asyncio.AbstractEventLoop, batch: Batch) -> None:
        batch.work()
        batch.over.release()
        if batch.left:
            loop.call_soon_threadsafe(self._finish, loop, batch)

    def _late(self, loop: asyncio.AbstractEventLoop, batch: Batch) -> None:
        """Give the jobs after a slow read to another thread, if one is free."""
        batch.settle()
        if self._threads == BRIEF:
            batch.timer = loop.call_later(LATE_S, self._late, loop, batch)
            return
        batch.give_back(self._waiting)
        self._current = None
        self._next(loop)

    def _finish(self, loop: asyncio.AbstractEventLoop, batch: Batch) -> None:
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
