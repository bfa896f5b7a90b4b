"""The precise ticker: sleeps until the next trigger is due, claims it, delivers it to the workers.
It does the same for turns that wait for their model's provider, and for firings that gather.

It looks at the files of all projects at least every LOOK seconds, so that hand edits are armed in
time; an edit through the API wakes it. Any number of tickers may run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import Min

from config.storage import database, files, homes
from workspace.chats.turns import recovery, retries
from workspace.models import InvalidEntry, Run, TriggerState
from workspace.notify import delivery, folding
from workspace.projects import store
from workspace.projects.project import FILE, default_zone
from workspace.projects.schema import is_slug
from workspace.triggers import following, happenings, pausing, runs
from workspace.triggers.entries.files import TriggerSet
from workspace.triggers.entries.schema import Trigger
from workspace.triggers.schedule import arming, claims, clock

log = logging.getLogger(__name__)

LOOK = timedelta(seconds=2)  # so that hand edits are noticed within 5 s
CHORES = timedelta(seconds=60)
NEVER = datetime.max.replace(tzinfo=UTC)
STALLED = timedelta(seconds=30)  # a ticker suspended this long missed what was due then


class Sleeper(Protocol):
    """What the ticker sleeps on: a Wakeup, or a stepped clock in tests."""

    def wait(self, seconds: float) -> bool: ...


class Ticker:
    """A loop of small steps; `step` does what is due now and returns when to call it again."""

    def __init__(self, time: clock.Clock) -> None:
        self.clock = time
        self.entries: dict[str, TriggerSet] = {}
        self.stats: dict[str, str] = {}
        self.halves: dict[str, datetime] = {}  # since when a file that had contents has none
        self.taken: set[str] = set()  # projects that another home has: checked at every look
        self.serving_since = self.seen = time.now()
        self.looked = self.chored = self.pruned = datetime.min.replace(tzinfo=self.seen.tzinfo)
        self.due = self.seen  # when something may have to be released
        self.stamp: object = None  # of the database, when `due` was read from it
        self.delivers = False  # whether any message waits for a channel
        self.caught_up = 0
        self.zone = default_zone()

    def run(self, sleeper: Sleeper, stopped: Callable[[], bool]) -> None:
        """Run until stopped. A failing step is logged and tried again; it never ends the loop."""
        self.start()
        while not stopped():
            try:
                due = self.step()
            except Exception:
                log.exception("scheduler step failed")
                due = self.clock.now() + LOOK
            sleeper.wait(max(0.0, (due - self.clock.now()).total_seconds()))

    def start(self) -> None:
        """Arm what the files say, recover what the last stop left, catch up, and log that once."""
        self.look(self.clock.now())
        recovery.adopt(self.stats)
        interrupted = recovery.sweep(on_change=following.follow) + self.chores(self.clock.now())
        self.claim(self.clock.now())
        log.info(
            "scheduler: %d armed, %d invalid, %d catch-up, %d interrupted by the last stop",
            TriggerState.objects.filter(homes.mine()).exclude(next_at=None).count(),
            InvalidEntry.objects.filter(project__in=self.entries).count(),
            self.caught_up,
            interrupted,
        )

    def step(self) -> datetime:
        """Do what is due. If nothing can be due, only find out what is next; if nothing was written
        since the last step, not even that."""
        now = self.clock.now()
        if abs(now - self.seen) > STALLED:
            self.serving_since = now
        if self.seen - now > LOOK:  # the clock was ahead, so what it armed may be too
            self.stats = {}
        if abs(now - self.looked) >= LOOK:
            self.look(now)
        chores = abs(now - self.chored) >= CHORES
        if chores or now < self.seen:  # times from before the clock was set back do not count
            self.due = now
        if self.due > self.clock.now() and self.stamp != database.stamp():
            self.due = self._next_due()
        if self.due <= self.clock.now():
            self._release()
            self.due = self._next_due()
        if self.delivers:
            delivery.hand_over_due(self.clock.now())
        if chores:
            self.chores(now)
        self.seen = now  # only after a step that worked: nothing is served without a database
        return min(now + LOOK, self.due)

    def _release(self) -> None:
        self.claim(self.clock.now())
        retries.release_due(self.clock.now())
        happenings.release_due(self.clock.now())
        folding.close_windows(self.clock.now())

    def _next_due(self) -> datetime:
        """When the first of what `_release` releases is due."""
        self.stamp = database.stamp()
        self.delivers = delivery.waits()
        armed = TriggerState.objects.filter(homes.mine(), enabled=True, next_at__isnull=False)
        due: datetime | None = armed.aggregate(due=Min("next_at"))["due"]
        moments = (due, retries.next_at(), happenings.next_at(), folding.next_end())
        return min(filter(None, moments), default=NEVER)

    def look(self, now: datetime) -> None:
        """Arm the projects whose file has changed since the last look, each independently."""
        self.looked = now
        if self.zone != (zone := default_zone()):
            self.zone, self.stats = zone, {}  # the machine has a new zone: all are armed again
        stats = self._stats()
        stats |= self._halves(stats, now)
        again = set()
        for slug in [*stats, *(self.stats.keys() - stats.keys())]:
            if stats.get(slug) != self.stats.get(slug):
                self._sync(slug, now)
                if _is_unread(slug):
                    again.add(slug)
        again |= self.taken
        self.stats = {slug: stat for slug, stat in stats.items() if slug not in again}
        self._forget_vanished(set(stats), now)

    def _stats(self) -> dict[str, str]:
        found = {}
        for entry in settings.PROJECTS_DIR.iterdir():
            stat = files.stat_of(entry / FILE) if is_slug(entry.name) else None
            if stat is not None:
                found[entry.name] = stat
        return found

    def _halves(self, stats: dict[str, str], now: datetime) -> dict[str, str]:
        """The former stats of files that are gone or empty since this look; they count until the
        next look. Such a file may be in the middle of a save, and a trigger that is lost loses its
        grid, its chat and what it gathered."""
        halves = {slug for slug in self.stats if self._is_half(slug, stats.get(slug))}
        self.halves = {slug: self.halves.get(slug, now) for slug in halves}
        young = [slug for slug, since in self.halves.items() if abs(now - since) < LOOK]
        return {slug: self.stats[slug] for slug in young}

    def _is_half(self, slug: str, stat: str | None) -> bool:
        return _says_nothing(stat) and not _says_nothing(self.stats.get(slug))

    def _forget_vanished(self, slugs: set[str], now: datetime) -> None:
        """Drop rows of projects that went while no ticker ran; only the first look finds any."""
        if self.entries.keys() - slugs or not self.chored.year > 1:
            ours = TriggerState.objects.filter(homes.mine()).order_by()
            known = ours.values_list("project", flat=True).distinct()
            for slug in {*known, *self.entries} - slugs:
                self._sync(slug, now)
                self.entries.pop(slug, None)

    def _sync(self, slug: str, now: datetime) -> None:
        before = set(self.taken)
        self.taken.discard(slug)
        try:
            self.entries[slug] = arming.sync(slug, now=now)
        except store.SlugTaken as error:
            self.entries.pop(slug, None)
            self.taken.add(slug)
            if slug not in before:
                log.warning(error.text)
        except OperationalError:
            raise  # not about this project: the whole look is repeated
        except Exception:
            log.exception("arming %s failed", slug)

    def find(self, slug: str, name: str) -> Trigger | None:
        return self.entries.get(slug, TriggerSet()).find(name)

    def claim(self, now: datetime) -> None:
        """Claim all that is due; deliver the runs once the last claim is committed."""
        self._refresh(now)
        everywhere = pausing.of_instance()

        def hold_reason(slug: str) -> str:
            own = self.entries.get(slug, TriggerSet()).holds
            return everywhere.reason if everywhere else own

        queued: list[Run] = []
        while True:
            claimed = claims.claim_due(
                now=now, serving_since=self.serving_since, find=self.find, held=hold_reason
            )
            queued += claimed.queued
            self.caught_up += claimed.caught_up
            for slug in claimed.stale:
                self._sync(slug, now)
            if claimed.rows < claims.BATCH:
                break
        if queued:
            with transaction.atomic():
                for run in queued:
                    runs.deliver(run)

    def _refresh(self, now: datetime) -> None:
        """Look again at the files of the projects that are about to fire."""
        due = TriggerState.objects.filter(homes.mine(), enabled=True, next_at__lte=now)
        for slug in due.order_by().values_list("project", flat=True).distinct():
            stat = files.stat_of(settings.PROJECTS_DIR / slug / FILE)
            if self._is_half(slug, stat):
                continue  # the start reads it again, and the next look decides
            if stat is None or stat != self.stats.get(slug):
                self._sync(slug, now)
                self.stats[slug] = "" if _is_unread(slug) else stat or ""

    def chores(self, now: datetime) -> int:
        """Keep the ledgers correct: recover lost starts and turns, delete old rows. Returns how
        many runs became interrupted."""
        self.chored = now
        interrupted = runs.recover(now, following.follow)
        runs.hand_over("sweep")  # so that what a crash left is settled soon
        if now - self.pruned >= timedelta(days=1):
            self.pruned = now
            runs.hand_over("prune")
        return interrupted


def _is_unread(slug: str) -> bool:
    """Whether the file could not be read, which may change without a trace in its stat."""
    found = store.MIRROR.get(slug)
    return found is not None and not found.had


def _says_nothing(stat: str | None) -> bool:
    """Whether a file is missing or empty, by its stat."""
    return not stat or stat.split(":")[1] == "0"
