"""The figures of a stretch of time of an app: time in each state, checks, latency."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypedDict

from dashboard.history.hist import Histogram
from dashboard.history.states import COUNTED, StoredState
from dashboard.history.summary import ratio
from dashboard.history.units import milliseconds, moment


class Seconds(TypedDict):
    up: float
    degraded: float
    down: float
    stopped: float
    unknown: float


class Latency(TypedDict):
    avg: float | None
    min: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


class Bucket(TypedDict):
    at: str
    seconds: Seconds | None
    uptime: float | None
    checks: int
    failed: int
    avg: float | None
    p95: float | None
    max: float | None


class Latencies(Protocol):
    """Latencies of passed checks, in microseconds."""

    @property
    def count(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def low(self) -> int | None: ...

    @property
    def high(self) -> int | None: ...

    def percentile(self, share: float) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Exact:
    """All single latencies, sorted."""

    values: Sequence[int]

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def total(self) -> int:
        return sum(self.values)

    @property
    def low(self) -> int | None:
        return self.values[0] if self.values else None

    @property
    def high(self) -> int | None:
        return self.values[-1] if self.values else None

    def percentile(self, share: float) -> float | None:
        """The value that `share` of all values do not exceed (nearest rank)."""
        return self.values[math.ceil(share * self.count) - 1] if self.values else None


@dataclass(slots=True)
class Figures:
    """Milliseconds per state, number of checks, of failed checks, and latency of passed ones."""

    spent: dict[StoredState, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    checks: int = 0
    failed: int = 0
    latency: Latencies = Exact(())

    @classmethod
    def of(cls, parts: Sequence[Figures]) -> Figures:
        """The sum of all parts."""
        return cls(
            spent={state: sum(part.spent[state] for part in parts) for state in COUNTED},
            checks=sum(part.checks for part in parts),
            failed=sum(part.failed for part in parts),
            latency=_together(part.latency for part in parts),
        )

    @property
    def uptime(self) -> float | None:
        return ratio(
            self.spent[StoredState.UP] + self.spent[StoredState.DEGRADED],
            self.spent[StoredState.DOWN],
        )

    @property
    def seconds(self) -> Seconds:
        spent = self.spent
        return {
            "up": spent[StoredState.UP] / 1000,
            "degraded": spent[StoredState.DEGRADED] / 1000,
            "down": spent[StoredState.DOWN] / 1000,
            "stopped": spent[StoredState.STOPPED] / 1000,
            "unknown": spent[StoredState.UNKNOWN] / 1000,
        }

    def bucket(self, ts: int) -> Bucket:
        """The record of the bucket that begins at `ts`; `seconds` is null if the app was not
        watched."""
        return {
            "at": moment(ts),
            "uptime": self.uptime,
            "seconds": self.seconds if any(self.spent.values()) else None,
            "checks": self.checks,
            "failed": self.failed,
            "avg": self._average(),
            "p95": milliseconds(self.latency.percentile(0.95)),
            "max": milliseconds(self.latency.high),
        }

    def latencies(self) -> Latency | None:
        """The latencies in ms; None if no check has passed."""
        if not self.latency.count:
            return None
        return {
            "avg": self._average(),
            "min": milliseconds(self.latency.low),
            "p50": milliseconds(self.latency.percentile(0.5)),
            "p95": milliseconds(self.latency.percentile(0.95)),
            "p99": milliseconds(self.latency.percentile(0.99)),
            "max": milliseconds(self.latency.high),
        }

    def _average(self) -> float | None:
        count = self.latency.count
        return milliseconds(self.latency.total / count) if count else None


def _together(parts: Iterable[Latencies]) -> Latencies:
    exact: list[int] = []
    binned: list[Histogram] = []
    for part in parts:
        if isinstance(part, Exact):
            exact.extend(part.values)
        elif isinstance(part, Histogram):
            binned.append(part)
    whole = Histogram.of(binned)
    return whole if whole.count else Exact(sorted(exact))
