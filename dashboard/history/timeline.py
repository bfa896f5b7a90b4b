"""To whom the time between two moments belongs. Pure; milliseconds.

One rule for the hours that are kept and the day that is read from samples: what an app was at
one moment it stays until the next one, unless that comes too late to vouch for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dashboard.history.states import StoredState

HOUR, DAY = 3_600_000, 86_400_000
INTERVALS = 3  # as many may pass without a word
HOLD = 300_000  # how often a state that is not probed is said again

PROBED = frozenset({StoredState.UP, StoredState.DEGRADED, StoredState.DOWN})


class Point(NamedTuple):
    ts: int
    state: StoredState


def limit(state: StoredState, interval: int) -> int:
    """How long `state` is believed without another word."""
    return INTERVALS * (interval if state in PROBED else max(interval, HOLD))


def verdict(state: StoredState, passed: int, interval: int) -> StoredState:
    """What an app was while `passed` milliseconds went by after it was seen to be `state`.

    A silence of more than a day counts as OFF: the machine was off, or its clock was set.
    """
    if state is StoredState.OFF or passed <= limit(state, interval):
        return state
    return StoredState.UNKNOWN if passed <= DAY else StoredState.OFF


def pieces(start: int, end: int, step: int) -> Iterator[tuple[int, int, int]]:
    """The time from `start` to `end` cut at multiples of `step`: (number, from, to)."""
    while start < end:
        number = start // step
        stop = min(end, (number + 1) * step)
        yield number, start, stop
        start = stop
