"""One app in the recorder's memory: its last state, its open hours, its latest checks. No I/O.

Every report about an app is a point in time; the time since the point before counts for the state
that the app had then (timeline.verdict).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TypedDict

from dashboard.history.hours import HALF, Hour
from dashboard.history.states import COLUMNS, LETTERS, Column, StoredState, counts
from dashboard.history.timeline import HOLD, HOUR, PROBED, Point, pieces, verdict
from dashboard.history.units import milliseconds, moment

SLOT = 10_000  # one sample is kept per ten seconds
RECENT, HALVES = 30, 48
TURNED_BACK = HOUR  # if the clock goes back further, accounting starts again
INTERVAL = 30_000


class Recent(TypedDict):
    """A check; `state` is the app's state at that time: "unknown" while it starts."""

    at: str
    ok: bool
    ms: float | None
    status: int | None
    state: Column


def check(ts: int, ok: bool, us: int | None, status: int | None, state: StoredState) -> Recent:
    """One probe as a record, made once, because every `/api/state` shows it."""
    shown = COLUMNS[state]
    return {"at": moment(ts), "ok": ok, "ms": milliseconds(us), "status": status, "state": shown}


@dataclass(frozen=True, slots=True)
class Reading:
    """A sample to be stored: the worst of its ten seconds, at the time of the first."""

    ts: int
    state: StoredState
    us: int | None = None
    status: int | None = None
    ok: bool | None = None

    def merge(self, other: Reading) -> Reading:
        """Both readings as one: the worse state, and the worse check of the two."""
        worse = max(self, other, key=lambda reading: reading.weight)
        return replace(worse, ts=self.ts, state=max(self.state, other.state))

    @property
    def weight(self) -> tuple[int, int]:
        """The order of checks: failed, slow, fast, and last what is not a check."""
        rank = 2 - bool(self.ok) if counts(self.ok, self.state) else 0
        return rank, self.us or 0


@dataclass(slots=True)
class Track:
    """What the recorder knows about one app. `last` is None before the first report of this run.

    `idle`: it is meant to run and was never started, so that it does not answer is no outage.
    """

    interval: int = INTERVAL
    last: Point | None = None
    fold: Reading | None = None
    edge_ts: int = 0
    idle: bool = False
    hours: dict[int, Hour] = field(default_factory=dict)
    halves: dict[int, StoredState] = field(default_factory=dict)
    recent: deque[Recent] = field(default_factory=lambda: deque(maxlen=RECENT))

    def effective_state(self, state: StoredState) -> StoredState:
        return StoredState.UNKNOWN if self.idle and state is StoredState.DOWN else state

    def point(self, ts: int, state: StoredState) -> set[int]:
        """Record that the app is `state` at `ts`. Returns the numbers of the hours that changed.

        If the clock was set back, accounting waits until the clock has caught up.
        """
        changed = set()
        if self.last is not None:
            begin, before = self.last
            if begin - TURNED_BACK <= ts <= begin:
                ts = begin
            before = verdict(before, ts - begin, self.interval)
            if before is not StoredState.OFF:
                for number, start, end in pieces(begin, ts, HOUR):
                    self.hour(number).spend(before, start, end)
                    changed.add(number)
        self.last = Point(ts, state)
        if state is not StoredState.OFF:
            self.hour(ts // HOUR).see(state, ts)
            changed.add(ts // HOUR)
        for number in changed:
            self.show(self.hours[number])
        return changed

    def check(self, reading: Reading) -> set[int]:
        """Record one probe: its count and latency belong to the hour in which it was made."""
        changed = self.point(reading.ts, reading.state)
        if reading.ok is not None:
            if counts(reading.ok, reading.state):
                self.hour(reading.ts // HOUR).check(reading.ok, reading.us)
            ts, us = reading.ts, reading.us
            self.recent.append(check(ts, reading.ok, us, reading.status, reading.state))
        return changed | {reading.ts // HOUR}

    def sample(self, reading: Reading) -> Reading:
        """The sample to store: `reading`, or the one of the same ten seconds merged with it."""
        if self.fold is not None and self.fold.ts // SLOT == reading.ts // SLOT:
            reading = self.fold.merge(reading)
        self.fold = reading
        return reading

    def off(self, ts: int) -> tuple[Reading, set[int]]:
        """The app is not watched from `ts` on: a sample for that, with a time after the last
        report."""
        for told in (self.fold.ts if self.fold else 0, self.edge_ts):
            if ts <= told < ts + SLOT:
                ts = told + 1
        self.fold = None
        return Reading(ts, StoredState.OFF), self.point(ts, StoredState.OFF)

    def needs_recording(self, ts: int) -> bool:
        """Whether the state has to be recorded again, because it lasts and no probe reports it."""
        if self.last is None or self.last.state in {
            StoredState.OFF,
            StoredState.UP,
            StoredState.DEGRADED,
        }:
            return False
        after = self.interval * 3 // 2
        if self.last.state not in PROBED:
            after = max(after, HOLD)
        return ts - self.last.ts >= after

    def hour(self, number: int) -> Hour:
        if number not in self.hours:
            known = [self.halves.get(number * 2 + half, StoredState.OFF) for half in (0, 1)]
            self.hours[number] = Hour(number, halves=known)
        return self.hours[number]

    def show(self, hour: Hour) -> None:
        """Copy the two halves of an hour into the bar."""
        first = hour.number * 2
        self.halves |= zip((first, first + 1), hour.letters, strict=True)

    def bar(self, ts: int) -> str:
        """`bar24`: 48 half hours, oldest first, ending with that of `ts`."""
        newest = ts // HALF
        halves = range(newest - HALVES + 1, newest + 1)
        return "".join(LETTERS[self.halves.get(half, StoredState.OFF)] for half in halves)

    def forget(self, hour: int, waiting: set[int]) -> None:
        """Drop the hours before `hour` that do not wait to be written, and the halves before the
        bar."""
        for number in [number for number in self.hours if number < hour]:
            if number not in waiting:
                del self.hours[number]
        oldest = hour * 2 - HALVES - 2
        for half in [half for half in self.halves if half < oldest]:
            del self.halves[half]
