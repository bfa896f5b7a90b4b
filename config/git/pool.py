"""Threads in which git runs beside the caller."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from config.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


class Pool(ThreadPoolExecutor):
    """Threads that work behind the wall of the caller who submits (config/git/walled.py)."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Raises Unavailable if no thread can be started, as in a process that is ending."""
        try:
            return super().submit(partial(copy_context().run, fn, *args, **kwargs))
        except RuntimeError as error:
            raise Unavailable(f"Git cannot be asked: {error}.") from error


def aside(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Start the work at once in its own thread; reading the future's result waits for it."""
    pool = Pool(1)
    begun = pool.submit(fn, *args, **kwargs)
    pool.shutdown(wait=False)
    return begun
