"""How many probes may be under way, so that silent targets never keep the others waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

CONNECTING, OPEN = 64, 512  # probes at once
SILENT_SHARE = 0.75  # what targets that were silent last time may take of either


class Gate:
    """Two lanes through one limit: the silent lane is never wide enough to fill it."""

    def __init__(self, limit: int) -> None:
        self._all = asyncio.Semaphore(limit)
        self._silent = asyncio.Semaphore(max(1, int(limit * SILENT_SHARE)))

    def lane(self, *, silent: bool) -> AbstractAsyncContextManager[None]:
        return self._narrow() if silent else self._all

    @asynccontextmanager
    async def _narrow(self) -> AsyncIterator[None]:
        async with self._silent, self._all:
            yield
