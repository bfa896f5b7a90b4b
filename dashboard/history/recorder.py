"""The only writer of history: reports about apps come in from the loop and are written to disk
once a second.

add, edge and the reads only touch memory and return at once. load, flush and close touch the
database and belong in one thread of their own. While the database refuses writes, everything waits
in memory; samples older than ten minutes are then dropped, but not their hours. Times are Unix
seconds, latencies microseconds. What is kept and why: docs/design/dashboard.md#history
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError, connection

from dashboard.history import scope, store
from dashboard.history.hours import Hour
from dashboard.history.pruning import prune
from dashboard.history.states import OFF, StoredState, stored_state
from dashboard.history.store import Batch, Key, Move, Past, Standing
from dashboard.history.summary import Summary, summary
from dashboard.history.timeline import HOUR, Point
from dashboard.history.track import Reading, Track

WAIT_MS = 600_000  # how long samples wait for the database
MOST_EDGES = 100_000  # changes of state that wait for it
SETTLED_MS = 600_000  # after an hour's end, while its last reports come in
MOST_US = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why history is not on disk, and since when (Unix seconds)."""

    message: str
    since: float


class Recorder:
    """The history of all apps of one daemon run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tracks: dict[str, Track] = {}
        self._standings: dict[str, Standing] = {}
        self._totals: store.Totals = {}
        self._through = (0, 0)  # hours: the end of the windows, the end of what the totals sum
        self._waiting = Batch()
        self._open: set[Key] = set()  # hours that changed since the last flush
        self.trouble: Trouble | None = None

    def load(self, now: float) -> None:
        """Load what is stored, before any other call. The time since the last run counts as off.

        Raises DatabaseError; `load` may then be called again.
        """
        scope.adopt()
        pasts = store.pasts()
        for past in pasts:
            track = self._tracks[past.slug] = Track(past.standing.interval)
            track.recent.extend(store.recent(past.pk))
        self._standings = {past.slug: past.standing for past in pasts}  # a scan may ask now
        until = self._load_hours(_ms(now))
        for past in pasts:
            self._tracks[past.slug].last = _last(past, until.get(past.slug, 0))
        points = [track.last for track in self._tracks.values() if track.last]
        alive = min(max((point.ts for point in points), default=0) + 1, _ms(now))
        for slug, track in self._tracks.items():
            if track.last is not None and track.last.state is not StoredState.OFF:
                self._record_unwatched(slug, track, alive)

    def _load_hours(self, ts: int) -> dict[str, int]:
        """Load the bars, the open hours and the totals. Returns until when each slug is accounted
        for."""
        until: dict[str, int] = {}
        for slug, hour in store.hours_since(ts // HOUR - 24):
            self._tracks[slug].show(hour)
            until[slug] = max(until.get(slug, 0), hour.until)
        self._refresh(ts)
        return until

    def find_standing(self, slug: str) -> Standing | None:
        """The last state of a slug, for `lastKnown`; None when it has no history."""
        with self._lock:
            return self._standings.get(slug)

    def bound_slugs(self) -> dict[str, str]:
        """Observed id -> slug, for the discovered apps with a history."""
        with self._lock:
            named = self._standings.items()
            return {kept.observed_id: slug for slug, kept in named if kept.observed_id}

    def add(
        self,
        slug: str,
        at: float,
        state: str,
        us: int | None,
        status: int | None,
        *,
        ok: bool | None,
    ) -> None:
        """Record a probe's result and the resulting state of the app. With `ok` None it is the
        state alone, without a probe."""
        us = None if us is None else max(0, min(us, MOST_US))
        with self._lock:
            track = self._track(slug)
            reading = Reading(_ms(at), track.effective_state(stored_state(state)), us, status, ok)
            self._mark_changed(slug, track.check(reading))
            self._sample(slug, track.sample(reading))

    def edge(
        self, slug: str, at: float, before: str, after: str, reason: str, *, kept_on: bool = False
    ) -> None:
        """Record a change of state. `kept_on`: it is a change to the state of the run before,
        which has lasted since.

        That nothing answers before the first start is not recorded as a change.
        """
        ts = _ms(at)
        with self._lock:
            track = self._track(slug)
            before = "unknown" if track.idle else before
            refused = (before, after, reason) == ("unknown", "down", "refused")
            track.idle = refused and not self._ran(slug)
            self._mark_changed(slug, track.point(ts, track.effective_state(stored_state(after))))
            ts = track.edge_ts = ts + 1 if ts == track.edge_ts else ts
            if not track.idle:
                self._waiting.edges[slug, ts] = Move(before, after, reason)
            # truncated, not rounded, as it is shown
            since = self._standings[slug].since if kept_on else math.floor(at * 1000)
            self._stand(slug, state=after, since=since, reason=reason)

    def pace(self, slug: str, interval: float) -> None:
        """Set how often the app is probed, in seconds: three intervals without a report are a
        gap."""
        ms = round(interval * 1000)
        with self._lock:
            track = self._track(slug)
            if track.interval != ms:
                track.interval = ms
                self._stand(slug, interval=ms)

    def bind(self, slug: str, observed_id: str) -> None:
        """Record the listener of a discovered app, so that its history stays with the same
        slug."""
        with self._lock:
            self._track(slug)
            if self._standings[slug].observed_id != observed_id:
                self._stand(slug, observed_id=observed_id)

    def remove(self, slug: str, at: float) -> None:
        """Record that the app was removed; its history stays until it is pruned, and returns with
        the slug."""
        with self._lock:
            if slug in self._tracks:
                self._off(slug, self._tracks[slug], _ms(at))
                self._stand(slug, state="", since=None, reason="", removed_at=_ms(at))

    def summary(self, slug: str, now: float) -> Summary:
        """`recent`, `bar24` and `uptime` of an App record, from memory."""
        with self._lock:
            end, through = self._through
            track = self._tracks.get(slug) or Track()
            return summary(track, self._totals.get(slug, {}), _ms(now), end, through)

    def waits(self, slug: str) -> bool:
        """Whether a change of its state is neither on disk nor being written."""
        with self._lock:
            return any(waiting == slug for waiting, _ in self._waiting.edges)

    def flush(self, now: float) -> bool:
        """Write what has come in since the last flush. False if the database refused; then it
        waits."""
        ts = _ms(now)
        with self._lock:
            self._hold(ts)
            keys = [key for key in self._open if not self._hour(key).whole]
        batch = Batch()
        try:
            self._complete(keys)
            with self._lock:
                batch = self._take()
            if batch:
                store.write(batch)
            batch = Batch()
            self._refresh(ts)
        except Exception as error:
            with self._lock:
                self._put_back(batch, ts)
            if not isinstance(error, DatabaseError):
                raise
            connection.close_if_unusable_or_obsolete()
            since = self.trouble.since if self.trouble else now
            self.trouble = Trouble(str(error), since)
            return False
        self.trouble = None
        return True

    def close(self, now: float) -> bool:
        """The last flush of a run: from `now` on the apps are not watched."""
        with self._lock:
            for slug, track in self._tracks.items():
                if track.last is not None and track.last.state is not StoredState.OFF:
                    self._record_unwatched(slug, track, _ms(now))
        return self.flush(now)

    def prune(self, now: float, *, raw_hours: float = 24, days: float = 90) -> int:
        """Delete old rows, in chunks. Returns the number of rows."""
        gone, rows = prune(now, raw_hours=raw_hours, days=days)
        with self._lock:
            for slug in gone:
                self._forget(slug)
        return rows

    # Called with the lock held, unless they touch the database.

    def _track(self, slug: str) -> Track:
        """The track of a slug that exists (again)."""
        if slug not in self._tracks:
            self._tracks[slug] = Track()
            self._stand(slug)
        if self._standings[slug].removed_at is not None:
            self._stand(slug, removed_at=None)
        return self._tracks[slug]

    def _ran(self, slug: str) -> bool:
        """Whether anything of the app counts for its uptime yet."""
        stored = any(good or bad for good, bad in self._totals.get(slug, {}).values())
        return stored or any(hour.good or hour.bad for hour in self._tracks[slug].hours.values())

    def _stand(self, slug: str, **changes: Any) -> None:
        standing = replace(self._standings.get(slug, Standing()), **changes)
        self._standings[slug] = self._waiting.slugs[slug] = standing

    def _forget(self, slug: str) -> None:
        """Forget a slug whose rows were deleted, unless it has come back since."""
        standing = self._standings.get(slug)
        if standing is not None and standing.removed_at is not None:
            del self._standings[slug], self._tracks[slug]
            self._open = {key for key in self._open if key[0] != slug}

    def _mark_changed(self, slug: str, hours: Iterable[int]) -> None:
        self._open.update((slug, number) for number in hours)

    def _sample(self, slug: str, reading: Reading) -> None:
        self._waiting.samples[slug, reading.ts] = reading

    def _off(self, slug: str, track: Track, ts: int) -> int:
        reading, changed = track.off(ts)
        self._sample(slug, reading)
        self._mark_changed(slug, changed)
        return reading.ts

    def _record_unwatched(self, slug: str, track: Track, ts: int) -> None:
        """Record that the app is not watched any more: no state lasts while unwatched, though it
        may continue in the next run."""
        ts, state = self._off(slug, track, ts), self._standings[slug].state
        if state not in {"", "unknown"}:
            self._waiting.edges[slug, ts] = Move(state, "unknown", OFF)

    def _hold(self, ts: int) -> None:
        """Record again the states that last without a probe: stopped, unknown, down."""
        for slug, track in self._tracks.items():
            if track.last is not None and track.needs_recording(ts):
                reading = Reading(ts, track.last.state)
                self._mark_changed(slug, track.check(reading))
                self._sample(slug, track.sample(reading))

    def _hour(self, key: Key) -> Hour:
        slug, number = key
        return self._tracks[slug].hour(number)

    def _complete(self, keys: list[Key]) -> None:
        """Add to each of these hours what the database already holds of it."""
        stored = store.hours_of(keys) if keys else {}
        with self._lock:
            for key in keys:
                self._hour(key).absorb(stored.get(key, Hour(key[1])))

    def _take(self) -> Batch:
        """The waiting data, with the hours that can be written completely."""
        batch, self._waiting = self._waiting, Batch()
        ready = {key for key in self._open if self._hour(key).whole}
        batch.hours = {key: self._hour(key).row() for key in ready}
        self._open -= ready
        return batch

    def _put_back(self, batch: Batch, ts: int) -> None:
        """Return a refused batch to the waiting data; what came in since is newer and takes
        precedence."""
        waiting = self._waiting
        self._open |= batch.hours.keys()
        waiting.slugs = batch.slugs | waiting.slugs
        waiting.edges = dict([*(batch.edges | waiting.edges).items()][-MOST_EDGES:])
        waiting.samples = {
            key: reading
            for key, reading in (batch.samples | waiting.samples).items()
            if key[1] >= ts - WAIT_MS
        }

    def _refresh(self, ts: int) -> None:
        """Load the totals again when an hour has begun or settled; drop the hours that they
        include."""
        end = -(-ts // HOUR)
        through = min(end - 1, (ts - SETTLED_MS) // HOUR)
        if (end, through) == self._through:
            return
        totals = store.totals(end, through)
        hours = list(store.hours_since(through))
        with self._lock:
            self._totals, self._through = totals, (end, through)
            for slug, hour in hours:
                if slug in self._tracks:
                    self._tracks[slug].hours.setdefault(hour.number, hour)
            waiting: dict[str, set[int]] = {}
            for slug, number in self._open:
                waiting.setdefault(slug, set()).add(number)
            for slug, track in self._tracks.items():
                track.forget(through, waiting.get(slug, set()))


def _ms(at: float) -> int:
    return round(at * 1000)


def _last(past: Past, until: int) -> Point | None:
    """The last known state of an app in the run before."""
    standing, since = past.standing, past.standing.since or 0
    ts = max(past.last_ts or 0, since, until)
    if ts == past.last_ts and past.last_state == StoredState.OFF:
        return Point(ts, StoredState.OFF)
    if standing.state:
        return Point(ts, stored_state(standing.state))
    return None if past.last_state is None else Point(ts, StoredState(past.last_state))
