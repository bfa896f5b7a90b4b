"""When an app is probed next. Pure: the answer stays the same until there is new evidence."""

from __future__ import annotations

import math
from zlib import crc32

from dashboard.health.record import Policy, Port, Record, State

JITTER = 0.05  # of the interval
TOGETHER_S = 0.5  # probes at one moment wake the process once, a third of the cost
STARTING_S, STARTING_TRIES, STARTING_LATER_S = 0.5, 10, 2.0
AGAIN_S = (2.0, 4.0)  # a result that contradicts the state is checked again this soon


def next_probe(slug: str, record: Record, policy: Policy) -> float | None:
    """The time in monotonic seconds, or None while only other evidence can change the state."""
    if not policy.probed or record.silenced:
        return None
    if record.ask is not None:
        return record.ask.at + record.ask.spread * share(slug)
    last = record.born if record.probed_at is None else record.probed_at
    match record.state:
        case State.STOPPING:
            return None
        case State.STOPPED if record.port is Port.EMPTY and record.held is None:
            return None
        case State.STARTING:
            soon = STARTING_S if record.tries < STARTING_TRIES else STARTING_LATER_S
            return last + min(soon, policy.interval)
    doubts = count_doubts(record)
    if 0 < doubts <= len(AGAIN_S):
        return last + min(AGAIN_S[doubts - 1], policy.interval)
    return _on_the_grid(slug, last, policy.interval)


def count_doubts(record: Record) -> int:
    """How many results in a row contradict the state without having changed it."""
    tally = record.tally
    match record.state:
        case State.UP:
            return max(tally.failing, tally.bad)
        case State.DEGRADED:
            return max(tally.failing, tally.gateway, tally.clean)
        case State.DOWN | State.STOPPED:
            return max(tally.passing, tally.broken)
    return 0


def share(slug: str, turn: int = 0) -> float:
    """A number in [0, 1) that is constant for an app and a turn, for its phase and jitter."""
    return crc32(f"{slug}:{turn}".encode()) / 2**32


def _on_the_grid(slug: str, last: float, interval: float) -> float:
    """The first of the app's own times that is at least half an interval after the last result."""
    phase = share(slug) * interval
    turn = math.ceil((last + interval / 2 - phase) / interval)
    at = phase + turn * interval + JITTER * interval * share(slug, turn)
    step = min(TOGETHER_S, interval / 60)
    return math.ceil(at / step) * step
