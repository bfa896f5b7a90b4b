"""How many probes may be under way, so that silent targets never keep the others waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

CONNECTING, OPEN = 64, 512  # contract 6.5
SILENT_SHARE = 0.75  # what targets that were silent last time may take of either


class Gate:
    """Two lanes through one limit: the silent lane is never wide enough to fill it."""

    def __init__(self, limit: int) -> None:
        self._all = asyncio.Semaphore(limit)
        self._silent = asyncio.Semaphore(max(1, int(limit * SILENT_SHARE)))

    @asynccontextmanager
    async def lane(self, *, silent: bool) -> AsyncIterator[None]:
        async with AsyncExitStack() as held:
            if silent:
                await held.enter_async_context(self._silent)
            await held.enter_async_context(self._all)
            yield
