"""The one writer of history: words about apps come in from the loop, once a second go to disk.

add, edge and the reads only touch memory and return at once. load, flush and close touch the
database and belong in one thread of their own. While the database refuses, everything waits in
memory; samples older than ten minutes are then given up, their hours are not.
Times are Unix seconds, latencies microseconds.
What is kept and why: docs/design/dashboard.md#history
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
from dashboard.history.states import OFF, StoredState, kept
from dashboard.history.store import Batch, Key, Move, Past, Standing
from dashboard.history.summary import Summary, summary
from dashboard.history.timeline import HOUR, Point
from dashboard.history.track import Reading, Track

WAIT_MS = 600_000  # how long samples wait for the database
MOST_EDGES = 100_000  # wait for it
SETTLED_MS = 600_000  # after an hour's end, until which its last words come in
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
        self._through = (0, 0)  # what the totals cover: windows' end, hours before
        self._waiting = Batch()
        self._open: set[Key] = set()  # hours that changed since the last flush
        self.trouble: Trouble | None = None

    def load(self, now: float) -> None:
        """What is stored, before any other call. The time since the last run counts as off.

        Raises DatabaseError; it may then be called again.
        """
        scope.adopt()
        pasts = store.pasts()
        for past in pasts:
            track = self._tracks[past.slug] = Track(past.standing.interval)
            track.recent.extend(store.recent(past.pk))
        self._standings = {past.slug: past.standing for past in pasts}  # a scan may ask meanwhile
        until = self._load_hours(_ms(now))
        for past in pasts:
            self._tracks[past.slug].last = _last(past, until.get(past.slug, 0))
        points = [track.last for track in self._tracks.values() if track.last]
        alive = min(max((point.ts for point in points), default=0) + 1, _ms(now))
        for slug, track in self._tracks.items():
            if track.last is not None and track.last.state is not StoredState.OFF:
                self._unwatched(slug, track, alive)

    def _load_hours(self, ts: int) -> dict[str, int]:
        """The bars, the hours still open and the totals. Until when each slug is accounted for."""
        until: dict[str, int] = {}
        for slug, hour in store.hours_since(ts // HOUR - 24):
            self._tracks[slug].show(hour)
            until[slug] = max(until.get(slug, 0), hour.until)
        self._refresh(ts)
        return until

    def known(self, slug: str) -> Standing | None:
        """The last state of a slug, for `lastKnown`; None when it has no history."""
        with self._lock:
            return self._standings.get(slug)

    def bound(self) -> dict[str, str]:
        """Observed id -> slug, of the discovered apps with a history."""
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
        """A probe's result and the state the app has with it; `ok` None: the state, no probe."""
        us = None if us is None else max(0, min(us, MOST_US))
        with self._lock:
            track = self._track(slug)
            reading = Reading(_ms(at), track.counted(kept(state)), us, status, ok)
            self._changed(slug, track.check(reading))
            self._sample(slug, track.sample(reading))

    def edge(
        self, slug: str, at: float, before: str, after: str, reason: str, *, kept_on: bool = False
    ) -> None:
        """A change of state; `kept_on`: to what it was in the run before, and has been since.

        That nothing answers before the first start is none.
        """
        ts = _ms(at)
        with self._lock:
            track = self._track(slug)
            before = "unknown" if track.idle else before
            refused = (before, after, reason) == ("unknown", "down", "refused")
            track.idle = refused and not self._ran(slug)
            self._changed(slug, track.point(ts, track.counted(kept(after))))
            ts = track.edge_ts = ts + 1 if ts == track.edge_ts else ts
            if not track.idle:
                self._waiting.edges[slug, ts] = Move(before, after, reason)
            # cut, not rounded, as it is shown
            since = self._standings[slug].since if kept_on else math.floor(at * 1000)
            self._stand(slug, state=after, since=since, reason=reason)

    def pace(self, slug: str, interval: float) -> None:
        """How often the app is probed, in seconds: three intervals without a word are a gap."""
        ms = round(interval * 1000)
        with self._lock:
            track = self._track(slug)
            if track.interval != ms:
                track.interval = ms
                self._stand(slug, interval=ms)

    def bind(self, slug: str, observed_id: str) -> None:
        """A discovered app takes its history from the slug its listener had before."""
        with self._lock:
            self._track(slug)
            if self._standings[slug].observed_id != observed_id:
                self._stand(slug, observed_id=observed_id)

    def remove(self, slug: str, at: float) -> None:
        """The app is gone; its history stays until it is pruned and returns with the slug."""
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
        """Whether a change of its state is not on disk yet, nor being written."""
        with self._lock:
            return any(waiting == slug for waiting, _ in self._waiting.edges)

    def flush(self, now: float) -> bool:
        """Write what came in since the last time. False: the database refused, it waits."""
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
                    self._unwatched(slug, track, _ms(now))
        return self.flush(now)

    def prune(self, now: float, *, raw_hours: float = 24, days: float = 90) -> int:
        """Delete what is too old, in chunks. Returns the number of rows."""
        gone, rows = prune(now, raw_hours=raw_hours, days=days)
        with self._lock:
            for slug in gone:
                self._forget(slug)
        return rows

    # Below: with the lock held, unless they touch the database.

    def _track(self, slug: str) -> Track:
        """The track of a slug that lives (again)."""
        if slug not in self._tracks:
            self._tracks[slug] = Track()
            self._stand(slug)
        if self._standings[slug].removed_at is not None:
            self._stand(slug, removed_at=None)
        return self._tracks[slug]

    def _ran(self, slug: str) -> bool:
        """Whether anything of an app counts for its uptime yet."""
        stored = any(good or bad for good, bad in self._totals.get(slug, {}).values())
        return stored or any(hour.good or hour.bad for hour in self._tracks[slug].hours.values())

    def _stand(self, slug: str, **changes: Any) -> None:
        standing = replace(self._standings.get(slug, Standing()), **changes)
        self._standings[slug] = self._waiting.slugs[slug] = standing

    def _forget(self, slug: str) -> None:
        """Its rows are gone. A slug that came back in the meantime begins a new one."""
        standing = self._standings.get(slug)
        if standing is not None and standing.removed_at is not None:
            del self._standings[slug], self._tracks[slug]
            self._open = {key for key in self._open if key[0] != slug}

    def _changed(self, slug: str, hours: Iterable[int]) -> None:
        self._open.update((slug, number) for number in hours)

    def _sample(self, slug: str, reading: Reading) -> None:
        self._waiting.samples[slug, reading.ts] = reading

    def _off(self, slug: str, track: Track, ts: int) -> int:
        reading, changed = track.off(ts)
        self._sample(slug, reading)
        self._changed(slug, changed)
        return reading.ts

    def _unwatched(self, slug: str, track: Track, ts: int) -> None:
        """The run is over: no state lasts while unwatched, though it may go on afterwards."""
        ts, state = self._off(slug, track, ts), self._standings[slug].state
        if state not in {"", "unknown"}:
            self._waiting.edges[slug, ts] = Move(state, "unknown", OFF)

    def _hold(self, ts: int) -> None:
        """Say again what lasts without a probe: stopped, unknown, down."""
        for slug, track in self._tracks.items():
            if track.last is not None and track.held(ts):
                reading = Reading(ts, track.last.state)
                self._changed(slug, track.check(reading))
                self._sample(slug, track.sample(reading))

    def _hour(self, key: Key) -> Hour:
        slug, number = key
        return self._tracks[slug].hour(number)

    def _complete(self, keys: list[Key]) -> None:
        """Give each of these hours what the database already holds of it."""
        stored = store.hours_of(keys) if keys else {}
        with self._lock:
            for key in keys:
                self._hour(key).absorb(stored.get(key, Hour(key[1])))

    def _take(self) -> Batch:
        """What waits, and the hours that can be written whole."""
        batch, self._waiting = self._waiting, Batch()
        ready = {key for key in self._open if self._hour(key).whole}
        batch.hours = {key: self._hour(key).row() for key in ready}
        self._open -= ready
        return batch

    def _put_back(self, batch: Batch, ts: int) -> None:
        """Have a refused batch wait; what came in meanwhile is newer and wins."""
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
        """Load the totals again when an hour has begun or is over; drop the hours they cover."""
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
    """The last word of the run before about an app."""
    standing, since = past.standing, past.standing.since or 0
    ts = max(past.last_ts or 0, since, until)
    if ts == past.last_ts and past.last_state == StoredState.OFF:
        return Point(ts, StoredState.OFF)
    if standing.state:
        return Point(ts, kept(standing.state))
    return None if past.last_state is None else Point(ts, StoredState(past.last_state))
