"""The two clocks of this package: one that only moves forward, and one for people."""

from __future__ import annotations

import time
from typing import NamedTuple

# Linux: BOOTTIME counts a suspend, MONOTONIC does not. macOS: MONOTONIC does, UPTIME_RAW does not.
_ALWAYS = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_AWAKE = getattr(time, "CLOCK_UPTIME_RAW", time.CLOCK_MONOTONIC)


class Moment(NamedTuple):
    """`mono`: seconds that never jump and stand still during a suspend; `wall`: Unix seconds."""

    mono: float
    wall: float


def now() -> Moment:
    return Moment(time.monotonic(), time.time())


def asleep() -> float:
    """Seconds this machine has spent suspended since it booted."""
    return time.clock_gettime(_ALWAYS) - time.clock_gettime(_AWAKE)
