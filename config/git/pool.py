"""Threads in which git works aside."""

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
    """They work behind the wall of whoever hands them their work (config/git/walled.py)."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Unavailable where no thread can be had, as in a process that ends."""
        try:
            return super().submit(partial(copy_context().run, fn, *args, **kwargs))
        except RuntimeError as error:
            raise Unavailable(f"Git cannot be asked: {error}.") from error


def aside(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Work begun at once in a thread of its own; who asks for its result waits for it."""
    pool = Pool(1)
    begun = pool.submit(fn, *args, **kwargs)
    pool.shutdown(wait=False)
    return begun
