"""A thread with an event loop of its own, and how other threads reach what lives on it.

`sync_to_async` would share one thread with all Django requests; nothing here does (contract 1.2).
"""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from config.kernel.errors import Unavailable

T = TypeVar("T")

THREADS = 16  # for what blocks: services, pictures, the journal; made as they are needed


class Loop:
    """One run of one coroutine on a thread of its own. It may be started once."""

    def __init__(self, name: str) -> None:
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._main: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self.ended = threading.Event()

    def start(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `main` to its end; returns at once."""
        self._main = main
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Whether it has ended in time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def ident(self) -> int | None:
        return self._thread.ident

    @property
    def running(self) -> asyncio.AbstractEventLoop | None:
        return self._loop

    def soon(self, call: Callable[..., object], *args: Any) -> None:
        """Have the call made on the loop; nothing happens once it has ended."""
        with suppress(RuntimeError):
            if self._loop is not None:
                self._loop.call_soon_threadsafe(call, *args)

    def ask(self, call: Callable[..., T], *args: Any) -> T:
        """What `call(*args)` returns or raises on the loop. From any other thread."""
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(call(*args))
            except BaseException as error:
                answer.set_exception(error)

        return self._answered(answer, run)

    def wait(self, make: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """What the coroutine `make(*args)` comes to on the loop. From any other thread."""
        answer: Future[T] = Future()

        def run() -> None:
            task = asyncio.ensure_future(make(*args))
            task.add_done_callback(lambda done: _hand_over(done, answer))

        return self._answered(answer, run)

    def _answered(self, answer: Future[T], run: Callable[[], None]) -> T:
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
                self._loop = loop
                try:
                    runner.run(self._main())
                finally:
                    self._end()
        finally:
            self._end()

    def _end(self) -> None:
        """Nobody is left waiting for an answer that no longer comes."""
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
    """uvloop's where it is installed (contract 1.1): half the cost per probe."""
    try:
        made: Callable[[], asyncio.AbstractEventLoop] = importlib.import_module(
            "uvloop"
        ).new_event_loop
    except ImportError:
        return asyncio.new_event_loop
    return made
