"""Waiting for something that may not happen, and a limit on how many may wait at once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from config.errors import Conflict


async def wait_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Whether the event was set within the time; None waits without limit."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


@dataclass(slots=True)
class Bound:
    """At most `most` at once; `text` is the end of the sentence that refuses one more."""

    most: int
    text: str
    _free: threading.BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        self._free = threading.BoundedSemaphore(self.most)

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """A block in which the caller waits. Conflict `busy`, before it runs, if too many do."""
        if not self._free.acquire(blocking=False):
            raise Conflict(f"{self.most} {self.text}", code="busy")
        try:
            yield
        finally:
            self._free.release()
