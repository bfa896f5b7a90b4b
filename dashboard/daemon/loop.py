"""A thread with its own event loop, and how other threads call into it.

`sync_to_async` would share one thread with all Django requests; nothing here does.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from config.errors import Unavailable

T = TypeVar("T")
log = logging.getLogger(__name__)

THREADS = 16  # for blocking work: services, pictures, the journal; threads start on demand
EVERY_S, LONG_S = 1.0, 0.1  # between two checks of the loop; an answer slower than this is logged


class Loop:
    """One run of one coroutine on its own thread. It can be started once."""

    def __init__(self, name: str) -> None:
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._main: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[Callable[[], object]] = []  # calls made before the loop existed
        self._asked: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self.ended = threading.Event()

    def start(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `main` to its end; returns at once."""
        self._main = main
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Whether the thread has ended in time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def ident(self) -> int | None:
        return self._thread.ident

    @property
    def running(self) -> asyncio.AbstractEventLoop | None:
        return self._loop

    def soon(self, call: Callable[..., object], *args: Any) -> None:
        """Schedule the call on the loop. Calls made before the loop exists run first on it, so that
        a stop may be requested right after the start. Does nothing once the loop has ended."""
        with self._lock, suppress(RuntimeError):
            if self._loop is None:
                self._early.append(partial(call, *args))
            else:
                self._loop.call_soon_threadsafe(call, *args)

    def ask(self, call: Callable[..., T], *args: Any) -> T:
        """Return or raise what `call(*args)` does on the loop. Not from the loop's own thread."""
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(call(*args))
            except BaseException as error:
                answer.set_exception(error)

        return self._wait_for(answer, run)

    def wait(self, make: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """As `ask`, with what the coroutine `make(*args)` returns or raises."""
        answer: Future[T] = Future()

        def run() -> None:
            task = asyncio.ensure_future(make(*args))
            task.add_done_callback(lambda done: _hand_over(done, answer))

        return self._wait_for(answer, run)

    def _wait_for(self, answer: Future[T], run: Callable[[], None]) -> T:
        if threading.get_ident() == self.ident:
            raise RuntimeError("this thread cannot wait for itself")
        with self._lock:
            if self._loop is None or self.ended.is_set():
                raise stopping()
            self._asked.add(answer)
            self._loop.call_soon_threadsafe(run)
        try:
            return answer.result()
        except CancelledError:
            raise stopping() from None
        finally:
            self._asked.discard(answer)

    def _run(self) -> None:
        assert self._main is not None
        try:
            with asyncio.Runner(loop_factory=_maker()) as runner:
                loop = runner.get_loop()
                loop.set_default_executor(
                    ThreadPoolExecutor(THREADS, thread_name_prefix=f"{self._thread.name}-work")
                )
                with self._lock:
                    self._loop = loop
                    for call in self._early:
                        loop.call_soon(call)
                try:
                    runner.run(self._main())
                finally:
                    self._end()
        finally:
            self._end()

    def _end(self) -> None:
        """Cancel all pending answers, so that no caller waits for one that will not come."""
        with self._lock:
            self.ended.set()
            left = [*self._asked]
        for answer in left:
            answer.cancel()


def stopping() -> Unavailable:
    return Unavailable("The daemon is stopping; try again in a second.", code="starting")


def _hand_over(done: asyncio.Future[T], answer: Future[T]) -> None:
    if answer.cancelled():
        return
    if done.cancelled():
        answer.cancel()
    elif (error := done.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(done.result())


def _maker() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop's loop factory where it is installed: it halves the cost per probe."""
    try:
        made: Callable[[], asyncio.AbstractEventLoop] = importlib.import_module(
            "uvloop"
        ).new_event_loop
    except ImportError:
        return asyncio.new_event_loop
    return made


class Meter(threading.Thread):
    """Checks that the loop answers; logs a delay over 100 ms with the task that was running."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(name="svc-dashboard-lag", daemon=True)
        self._loop = loop
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            self.look()

    def look(self) -> float:
        """Seconds the loop took to answer. Waits no longer than until the loop has ended."""
        answered, began = threading.Event(), time.monotonic()
        self._loop.soon(answered.set)
        if not answered.wait(LONG_S):
            what = self._running()
            while not (
                answered.wait(LONG_S) or self._loop.ended.is_set() or self._stopping.is_set()
            ):
                pass
            ms = round((time.monotonic() - began) * 1000)
            log.warning("the dashboard's event loop was blocked", extra={"ms": ms, "task": what})
        return time.monotonic() - began

    def stop(self) -> None:
        self._stopping.set()

    def _running(self) -> str:
        """The task that is running on the loop, or the function when there is no task."""
        loop = self._loop.running
        task = asyncio.current_task(loop) if loop is not None else None
        frame = sys._current_frames().get(self._loop.ident or 0)
        where = _innermost(frame)
        return f"{task.get_name()}: {where}" if task is not None else where


def _innermost(frame: FrameType | None) -> str:
    """The innermost function of this service on the stack."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(("dashboard.", "config.")):
            return f"{module}.{frame.f_code.co_qualname}"
        frame = frame.f_back
    return "the event loop"
