"""The last day of an app, from its samples and its changes of state.

Changes of state are exact to the millisecond; samples show that the app was still watched. If the
state changed within the ten seconds of a sample, the change decides the state, not the sample.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dashboard import models
from dashboard.history.figures import Exact, Figures
from dashboard.history.states import OFF, StoredState, counts, stored_state
from dashboard.history.timeline import Point, pieces, verdict
from dashboard.history.track import SLOT


class Stored(NamedTuple):
    """One row of the samples."""

    ts: int
    state: int
    us: int | None
    ok: bool | None


class Change(NamedTuple):
    """One row of the edges."""

    ts: int
    before: str
    after: str


def buckets(app: models.Slug, start: int, size: int, count: int, now: int) -> list[Figures]:
    """`count` buckets of `size` ms, beginning at `start`; nothing is known after `now`."""
    last = min(now, start + count * size - 1)
    samples, changes = _samples(app, start, last), _changes(app, start, last)
    found = [Figures() for _ in range(count)]
    for state, begin, end in spans(points(samples, changes), app.interval, now):
        for number, left, right in pieces(max(begin, start) - start, end - start, size):
            found[number].spent[state] += right - left
    latencies: list[list[int]] = [[] for _ in range(count)]
    for sample in samples:
        if counts(sample.ok, StoredState(sample.state)) and sample.ts >= start:
            number = (sample.ts - start) // size
            found[number].checks += 1
            found[number].failed += not sample.ok
            if sample.ok and sample.us is not None:
                latencies[number].append(sample.us)
    for figures, values in zip(found, latencies, strict=True):
        figures.latency = Exact(sorted(values))
    return found


def points(samples: Sequence[Stored], changes: Sequence[Change]) -> list[Point]:
    """The moments at which the app was seen, with its state. Both arguments are in order."""
    times = [change.ts for change in changes]
    seen = [Point(change.ts, stored_state(change.after)) for change in changes]
    for sample in samples:
        state = StoredState(sample.state)
        if state is not StoredState.OFF:
            state = _state_at(sample, state, changes, times)
        seen.append(Point(sample.ts, state))
    return sorted(seen)


def _state_at(
    sample: Stored, state: StoredState, changes: Sequence[Change], times: Sequence[int]
) -> StoredState:
    """The state at the sample's own moment, from a change within its ten seconds if any."""
    slot = sample.ts // SLOT
    after = bisect_right(times, sample.ts)
    if after and times[after - 1] // SLOT == slot:
        return stored_state(changes[after - 1].after)
    if after < len(times) and times[after] // SLOT == slot:
        return stored_state(changes[after].before)
    return state


def spans(seen: Sequence[Point], interval: int, now: int) -> Iterator[tuple[StoredState, int, int]]:
    """The states of the app, from when to when, without the time in which it was not watched.

    However often the app is probed, a sample comes once in a slot, so that silence until then is
    no gap.
    """
    for point, following in pairwise([*seen, Point(now, StoredState.OFF)] if seen else []):
        state = verdict(point.state, following.ts - point.ts, max(interval, SLOT))
        if state is not StoredState.OFF:
            yield state, point.ts, following.ts


def _samples(app: models.Slug, start: int, last: int) -> list[Stored]:
    """The samples of the window, and the last one before it."""
    rows = models.Sample.objects.filter(app=app)
    columns = ("ts", "state", "us", "ok")
    before = rows.filter(ts__lt=start).order_by("-ts").values_list(*columns)[:1]
    inside = rows.filter(ts__gte=start, ts__lte=last).order_by("ts").values_list(*columns)
    return [Stored(*row) for row in (*before, *inside)]


def _changes(app: models.Slug, start: int, last: int) -> list[Change]:
    """The changes of the app itself; that it was not watched is shown by a sample."""
    rows = models.Edge.objects.filter(app=app).exclude(reason=OFF)
    columns = ("ts", "from_state", "to_state")
    before = rows.filter(ts__lt=start).order_by("-ts").values_list(*columns)[:1]
    inside = rows.filter(ts__gte=start, ts__lte=last).order_by("ts").values_list(*columns)
    return [Change(*row) for row in (*before, *inside)]
