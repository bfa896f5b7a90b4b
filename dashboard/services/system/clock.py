"""The clock of the supervision, which a test can replace."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class Clock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def wall(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
