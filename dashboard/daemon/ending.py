"""The end of a run: its rooms close at the same time, and none is waited for too long (1.2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

log = logging.getLogger(__name__)


async def close(rooms: Mapping[str, Callable[[], Coroutine[Any, Any, None]]], by: float) -> None:
    """Close all of them by this moment of the loop's clock; a late one is named and left."""
    loop = asyncio.get_running_loop()
    closing = [asyncio.create_task(close(), name=name) for name, close in rooms.items()]
    done, late = await asyncio.wait(closing, timeout=max(0.0, by - loop.time()))
    for task in late:
        task.cancel()
        log.warning("the %s did not end in time", task.get_name())
    for task in done:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the %s did not end well", task.get_name(), exc_info=error)
