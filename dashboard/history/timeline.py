"""The state that the time between two moments counts for. Pure; milliseconds.

One rule for stored hours and for the day that is read from samples: an app keeps the state of one
moment until the next, unless the next comes too late to vouch for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dashboard.history.states import StoredState

HOUR, DAY = 3_600_000, 86_400_000
INTERVALS = 3  # how many may pass without a report
HOLD = 300_000  # how often a state that is not probed is recorded again

PROBED = frozenset({StoredState.UP, StoredState.DEGRADED, StoredState.DOWN})


class Point(NamedTuple):
    ts: int
    state: StoredState


def limit(state: StoredState, interval: int) -> int:
    """How long `state` is assumed to last without another report."""
    return INTERVALS * (interval if state in PROBED else max(interval, HOLD))


def verdict(state: StoredState, passed: int, interval: int) -> StoredState:
    """The state of an app in the `passed` milliseconds after it was seen to be `state`.

    A silence of more than a day counts as OFF: the machine was off, or its clock was set.
    """
    if state is StoredState.OFF or passed <= limit(state, interval):
        return state
    return StoredState.UNKNOWN if passed <= DAY else StoredState.OFF


def pieces(start: int, end: int, step: int) -> Iterator[tuple[int, int, int]]:
    """The time from `start` to `end`, cut at multiples of `step`: (number, from, to)."""
    while start < end:
        number = start // step
        stop = min(end, (number + 1) * step)
        yield number, start, stop
        start = stop
