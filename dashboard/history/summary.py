"""The part of an app's record that shows its history: `recent`, `bar24`, `uptime`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from dashboard.history.store import UPTIME_HOURS
from dashboard.history.track import Recent, Track

Uptime = TypedDict("Uptime", {"24h": float | None, "7d": float | None, "90d": float | None})


@dataclass(frozen=True, slots=True)
class Summary:
    """`recent`: the last 30 checks, oldest first. `uptime`: 0..1 per window, None if unknown."""

    recent: list[Recent]
    bar24: str
    uptime: Uptime


def summary(
    track: Track, totals: Mapping[str, tuple[int, int]], ts: int, end: int, through: int
) -> Summary:
    """Made from a track and the totals of the hours before `through`; windows end at hour
    `end`."""

    def uptime(window: str) -> float | None:
        good, bad = totals.get(window, (0, 0))
        first = max(through, end - UPTIME_HOURS[window])
        for number, hour in track.hours.items():
            if number >= first:
                good, bad = good + hour.good, bad + hour.bad
        return ratio(good, bad)

    shares: Uptime = {"24h": uptime("24h"), "7d": uptime("7d"), "90d": uptime("90d")}
    return Summary([*track.recent], track.bar(ts), shares)


def ratio(good: int, bad: int) -> float | None:
    """(up + degraded) / (up + degraded + down); None if all are 0."""
    return good / (good + bad) if good + bad else None
