"""What a stretch of time says about an app: time in each state, checks, latency (contract 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dashboard.history.hist import Histogram
from dashboard.history.states import COLUMNS, COUNTED, Kept
from dashboard.history.summary import ratio
from dashboard.history.units import milliseconds

_SHOWN = [
    (state, COLUMNS[state])
    for state in (Kept.UP, Kept.DEGRADED, Kept.DOWN, Kept.STOPPED, Kept.UNKNOWN)
]


class Latency(Protocol):
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
    """Every single latency, sorted."""

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
    """Milliseconds per state, checks, those that failed, latency of those that passed."""

    spent: dict[Kept, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    checks: int = 0
    failed: int = 0
    latency: Latency = Exact(())

    @classmethod
    def of(cls, parts: Sequence[Figures]) -> Figures:
        """All of them together."""
        return cls(
            spent={state: sum(part.spent[state] for part in parts) for state in COUNTED},
            checks=sum(part.checks for part in parts),
            failed=sum(part.failed for part in parts),
            latency=_together(part.latency for part in parts),
        )

    @property
    def uptime(self) -> float | None:
        return ratio(self.spent[Kept.UP] + self.spent[Kept.DEGRADED], self.spent[Kept.DOWN])

    def wire(self) -> dict[str, Any]:
        return {
            "uptime": self.uptime,
            "seconds": {name: self.spent[state] / 1000 for state, name in _SHOWN},
            "checks": self.checks,
            "failed": self.failed,
        }

    def bucket_wire(self) -> dict[str, Any]:
        """One bucket; `seconds` is null where nobody watched."""
        wire = self.wire()
        if not any(self.spent.values()):
            wire["seconds"] = None
        return wire | {
            "avg": self._average(),
            "p95": milliseconds(self.latency.percentile(0.95)),
            "max": milliseconds(self.latency.high),
        }

    def latency_wire(self) -> dict[str, Any] | None:
        """{avg, min, p50, p95, p99, max} in ms, None without a passed check."""
        if not self.latency.count:
            return None
        return {
            "avg": self._average(),
            "min": milliseconds(self.latency.low),
            **{
                f"p{share}": milliseconds(self.latency.percentile(share / 100))
                for share in (50, 95, 99)
            },
            "max": milliseconds(self.latency.high),
        }

    def _average(self) -> float | None:
        count = self.latency.count
        return milliseconds(self.latency.total / count) if count else None


def _together(parts: Iterable[Latency]) -> Latency:
    exact: list[int] = []
    binned: list[Histogram] = []
    for part in parts:
        if isinstance(part, Exact):
            exact.extend(part.values)
        elif isinstance(part, Histogram):
            binned.append(part)
    whole = Histogram.of(binned)
    return whole if whole.count else Exact(sorted(exact))
