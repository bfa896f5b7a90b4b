"""One hour of one app while it is still being counted, and its row in the database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dashboard import models
from dashboard.history.hist import Histogram, unpack
from dashboard.history.states import COLUMNS, COUNTED, StoredState
from dashboard.history.timeline import HOUR, pieces

HALF = HOUR // 2
SHARE = 0.05  # of a half hour: a state that lasted less is not shown for it


@dataclass(slots=True)
class Hour:
    """Milliseconds per state, checks, latency of passed checks, and the state of each half hour.

    `halves` is what was known of them before; `lasted` is what has been added since, in ms.

    `until`: time is accounted for up to here. `whole` is False while the database may hold a part
    of this hour that is not included here.
    """

    number: int
    whole: bool = False
    spent: dict[StoredState, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    checks: int = 0
    failed: int = 0
    latency: Histogram = field(default_factory=Histogram)
    halves: list[StoredState] = field(default_factory=lambda: [StoredState.OFF, StoredState.OFF])
    lasted: list[dict[StoredState, int]] = field(default_factory=lambda: [{}, {}])
    until: int = 0

    def spend(self, state: StoredState, start: int, end: int) -> None:
        """Account for the time from `start` to `end`; an hour never counts more than an hour."""
        self.until = max(self.until, end)
        self._add(state, end - start)
        for half, begin, done in pieces(start % HOUR, start % HOUR + end - start, HALF):
            spent = self.lasted[half]
            spent[state] = spent.get(state, 0) + done - begin

    def see(self, state: StoredState, ts: int) -> None:
        """Record that the app was in `state` at `ts`, however briefly."""
        self.lasted[(ts % HOUR) // HALF].setdefault(state, 0)

    @property
    def letters(self) -> list[StoredState]:
        """For each half hour, the worst state that lasted for a SHARE of it."""
        return [max(pair) for pair in zip(self.halves, map(_lasting, self.lasted), strict=True)]

    def check(self, ok: bool, us: int | None) -> None:
        self.checks += 1
        self.failed += not ok
        if ok and us is not None:
            self.latency.add(us)

    def absorb(self, stored: Hour) -> None:
        """Add what the database holds of this hour."""
        mine, self.spent = self.spent, stored.spent
        for state, passed in mine.items():
            self._add(state, passed)
        self.checks += stored.checks
        self.failed += stored.failed
        self.latency.merge(stored.latency)
        self.halves = [max(pair) for pair in zip(self.halves, stored.halves, strict=True)]
        self.until = max(self.until, stored.until)
        self.whole = True

    def _add(self, state: StoredState, passed: int) -> None:
        self.spent[state] += min(passed, HOUR - sum(self.spent.values()))

    @property
    def good(self) -> int:
        return self.spent[StoredState.UP] + self.spent[StoredState.DEGRADED]

    @property
    def bad(self) -> int:
        return self.spent[StoredState.DOWN]

    def row(self) -> dict[str, Any]:
        """The whole row by column name, without the app."""
        return {
            "hour": self.number,
            "n": self.checks,
            "failed": self.failed,
            "us_sum": self.latency.total,
            "us_min": self.latency.low,
            "us_max": self.latency.high,
            "hist": self.latency.pack(),
            "first_half": int(self.letters[0]),
            "second_half": int(self.letters[1]),
            "until": self.until,
            **{COLUMNS[state]: passed for state, passed in self.spent.items()},
        }


def _lasting(spent: dict[StoredState, int]) -> StoredState:
    enough = SHARE * sum(spent.values())
    return max(
        (state for state, passed in spent.items() if passed >= enough), default=StoredState.OFF
    )


def of_row(row: models.Hour) -> Hour:
    """The hour that a row holds."""
    counts = unpack([bytes(row.hist)])
    return Hour(
        number=row.hour,
        whole=True,
        spent={state: getattr(row, name) for state, name in COLUMNS.items()},
        checks=row.n,
        failed=row.failed,
        latency=Histogram(counts, row.us_sum, row.us_min, row.us_max),
        halves=[StoredState(row.first_half), StoredState(row.second_half)],
        until=row.until,
    )
