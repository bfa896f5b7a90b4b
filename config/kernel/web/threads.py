"""The server's own bounded pool for blocking work: Django views, operations, file reads.

Its threads live as long as the process, so each keeps one database connection; asgiref would make
a thread, and so a connection, per request. Never wait here for another call of this pool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SIZE = 32  # some calls wait: Stop up to 10 s, a run's start check up to 60 s (workspace.md 10)

BRIEF = 2  # short reads: more threads would only fight each other for the interpreter

_pool = ThreadPoolExecutor(SIZE, thread_name_prefix="svc")
_brief = ThreadPoolExecutor(BRIEF, thread_name_prefix="svc-brief")


async def run(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Await `call(*args, **kwargs)` done in a thread of the pool."""
    return await asyncio.get_running_loop().run_in_executor(_pool, partial(call, *args, **kwargs))


async def brief(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a call that only reads, and never waits for anything but the disk."""
    return await asyncio.get_running_loop().run_in_executor(_brief, partial(call, *args, **kwargs))
