"""How many probes may run at the same time, so that silent targets never block the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

CONNECTING, OPEN = 64, 512  # probes at the same time
SILENT_SHARE = 0.75  # the share of either limit for targets that were silent last time


class Gate:
    """Two lanes through one limit; the silent lane can never use up the whole limit."""

    def __init__(self, limit: int) -> None:
        self._all = asyncio.Semaphore(limit)
        self._silent = asyncio.Semaphore(max(1, int(limit * SILENT_SHARE)))

    def lane(self, *, silent: bool) -> AbstractAsyncContextManager[None]:
        return self._narrow() if silent else self._all

    @asynccontextmanager
    async def _narrow(self) -> AsyncIterator[None]:
        async with self._silent, self._all:
            yield
