"""What the record of an app shows of its history: `recent`, `bar24`, `uptime` (contract 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.history.store import UPTIME_HOURS
from dashboard.history.track import Track


@dataclass(frozen=True, slots=True)
class Summary:
    """`recent`: the last 30 checks, oldest first. `uptime`: 0..1 per window, None unknown."""

    recent: list[dict[str, Any]]
    bar24: str
    uptime: dict[str, float | None]


def summary(
    track: Track, totals: Mapping[str, tuple[int, int]], ts: int, end: int, through: int
) -> Summary:
    """From a track and the totals of the hours before `through`, windows ending at hour `end`."""
    uptime = {}
    for window, hours in UPTIME_HOURS.items():
        good, bad = totals.get(window, (0, 0))
        first = max(through, end - hours)
        for number, hour in track.hours.items():
            if number >= first:
                good, bad = good + hour.good, bad + hour.bad
        uptime[window] = ratio(good, bad)
    return Summary([check.wire for check in track.recent], track.bar(ts), uptime)


def ratio(good: int, bad: int) -> float | None:
    """(up + degraded) / (up + degraded + down), None if nothing counts (contract 8)."""
    return good / (good + bad) if good + bad else None
