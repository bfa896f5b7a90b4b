"""To whom the time between two moments belongs. Pure; milliseconds.

One rule for the hours that are kept and the day that is read from samples: what an app was at
one moment it stays until the next one, unless that comes too late to vouch for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dashboard.history.states import Kept

HOUR, DAY = 3_600_000, 86_400_000
INTERVALS = 3  # as many may pass without a word
HOLD = 300_000  # how often a state that is not probed is said again

PROBED = frozenset({Kept.UP, Kept.DEGRADED, Kept.DOWN})


class Point(NamedTuple):
    ts: int
    state: Kept


def limit(state: Kept, interval: int) -> int:
    """How long `state` is believed without another word."""
    return INTERVALS * (interval if state in PROBED else max(interval, HOLD))


def verdict(state: Kept, passed: int, interval: int) -> Kept:
    """What an app was while `passed` milliseconds went by after it was seen to be `state`.

    A silence of more than a day counts as OFF: the machine was off, or its clock was set.
    """
    if state is Kept.OFF or passed <= limit(state, interval):
        return state
    return Kept.UNKNOWN if passed <= DAY else Kept.OFF


def pieces(start: int, end: int, step: int) -> Iterator[tuple[int, int, int]]:
    """The time from `start` to `end` cut at multiples of `step`: (number, from, to)."""
    while start < end:
        number = start // step
        stop = min(end, (number + 1) * step)
        yield number, start, stop
        start = stop
