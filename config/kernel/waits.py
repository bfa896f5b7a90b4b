"""Waiting in an event loop for something that may not happen."""

from __future__ import annotations

import asyncio


async def happened(event: asyncio.Event, seconds: float | None) -> bool:
    """Whether the event was set before the time was over; None waits as long as it takes."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
