"""What clients read: records of apps as cached bytes, and the State made of them (section 7).

On the daemon's thread. `rev` counts every visible change; a record is made anew when it was
touched, and at the latest when what it says of time is no longer so.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import orjson
from django.conf import settings

from config import __version__
from config.kernel.logs import timestamp
from dashboard.daemon import ownport
from dashboard.daemon.facts import Facts
from dashboard.events import STANDING
from dashboard.health import clock
from dashboard.health.record import Record, State, stale
from dashboard.listeners.observed import Sighting
from dashboard.registry import records
from dashboard.registry.census import App

FRESH_S = 60.0  # bars and uptimes move with time; nobody sees them move faster
Config = Literal["masked", "whole"] | None


@dataclass(frozen=True, slots=True)
class Cached:
    """One record as it was made; not to be shown after `until` (monotonic seconds)."""

    app: App
    data: bytes
    state: State
    until: float


@dataclass(slots=True, eq=False)
class Views:
    facts: Facts
    rev: int = 0
    _cached: dict[str, Cached] = field(default_factory=dict)
    _observed: dict[str, tuple[Sighting, str, bool, dict[str, Any]]] = field(default_factory=dict)

    def bump(self) -> None:
        """Something that clients see is another."""
        self.rev += 1
        STANDING.rev = self.rev

    def touch(self, slug: str) -> None:
        self._cached.pop(slug, None)
        self.bump()

    def touch_all(self) -> None:
        self._cached.clear()
        self.bump()

    def forget(self, slug: str) -> None:
        self.facts.results.pop(slug, None)
        self.touch(slug)

    def app(self, slug: str, config: Config) -> dict[str, Any] | None:
        """The App of section 7; None when there is no such app."""
        app = self.facts.census.apps.get(slug)
        return self._record(app, config) if app is not None else None

    def apps(self, config: Config) -> list[dict[str, Any]]:
        return [self._record(app, config) for app in self.facts.census.apps.values()]

    def names(self) -> list[tuple[str, str, str | None]]:
        """Slug, name and address of every app, cheaper than their records."""
        return [records.named(app) for app in self.facts.census.apps.values()]

    def attention(self) -> int:
        """How many apps are down, degraded, or run unexpectedly."""
        apps = self.facts.census.apps.values()
        return sum(records.needs_attention(app, self._health(app)) for app in apps)

    def counts(self) -> dict[str, int]:
        """How many apps are in each state."""
        apps = self.facts.census.apps.values()
        return records.counts((app, self._health(app).state) for app in apps)

    def observed(self) -> dict[str, Any]:
        """`{observed, ignored, ignoreEtag, scannedAt, partial}` (7.2)."""
        census, seen, files = self.facts.census, self.facts.seen, self.facts.loaded
        before, self._observed = self._observed, {}
        told = {
            key: [self._listener(one, before) for one in found]
            for key, found in (("observed", census.observed), ("ignored", census.ignored))
        }
        return {
            **told,
            "ignoreEtag": files.ignore.etag,
            "scannedAt": timestamp(seen.at) if seen.at else None,
            "partial": list(seen.partial),
        }

    def groups(self) -> list[dict[str, Any]]:
        return [records.group(entry) for entry in self.facts.loaded.groups.values()]

    def group(self, name: str) -> dict[str, Any] | None:
        entry = self.facts.loaded.groups.get(name)
        return records.group(entry, with_config=True) if entry is not None else None

    def config(self) -> dict[str, Any]:
        """The Config of section 7."""
        facts = self.facts
        names = ownport.names(settings.SVC, facts.config.fronted.host)
        host = names[0] if names else None
        return records.config(facts.loaded.config, facts.restart_needed(), host=host)

    def state(self) -> tuple[bytes, str]:
        """The State as JSON and its weak tag, from the records that have not changed."""
        found = self._records()
        seen = self.facts.seen
        body = {
            "version": __version__,
            "boot": self.facts.boot,
            "now": timestamp(datetime.now(UTC)),
            "rev": self.rev,
            "host": socket.gethostname(),
            "config": self._settings(),
            "apps": [orjson.Fragment(one.data) for one in found],
            "bookmarks": self.groups(),
            "observed": self.observed()["observed"],
            "lost": self.facts.rooms.lost.wire(),
            "fileErrors": self.facts.file_errors(),
            "scan": {"at": timestamp(seen.at) if seen.at else None, "ms": round(seen.ms, 3)},
            "counts": records.counts((one.app, one.state) for one in found),
        }
        return orjson.dumps(body), f'W/"{self.facts.boot}-{self.rev}"'

    def _records(self) -> list[Cached]:
        """Of every app; one made anew because of time alone is a visible change too."""
        now, found = time.monotonic(), []
        for slug, app in self.facts.census.apps.items():
            known = self._cached.get(slug)
            if known is None or known.until <= now:
                fresh = self._made(app, now)
                if known is not None and known.data != fresh.data:
                    self.bump()
                self._cached[slug] = known = fresh
            found.append(known)
        return found

    def _made(self, app: App, now: float) -> Cached:
        record = self._health(app)
        made = self._record(app, None)
        until = now + FRESH_S
        if not stale(record, app.policy, now):
            until = min(until, record.seen_at + 3 * app.policy.interval)
        return Cached(app, orjson.dumps(made), record.state, max(until, now + 1.0))

    def _record(self, app: App, config: Config) -> dict[str, Any]:
        facts, slug = self.facts, app.slug
        return records.app(
            app,
            record=self._health(app),
            result=self.facts.results.get(slug),
            summary=facts.keeping.recorder.summary(slug, time.time()),
            service=facts.rooms.services.wire(slug),
            picture=facts.rooms.gallery.shown(slug),
            now=clock.now(),
            config=facts.config,
            with_config=config,
        )

    def _health(self, app: App) -> Record:
        record = self.facts.runner.record(app.slug)
        assert record is not None  # the census and the runner know the same apps
        return record

    def _settings(self) -> dict[str, Any]:
        """What the page needs to know of config.yaml."""
        shown = self.config()["config"]
        keys = ("title", "fronted", "scan", "screenshots", "services")
        screenshots = {**shown["screenshots"], "on": self.facts.rooms.gallery.screenshots}
        return {
            **{key: shown[key] for key in keys},
            "screenshots": screenshots,
            "restartNeeded": self.facts.restart_needed(),
        }

    def _listener(
        self, one: Sighting, before: dict[str, tuple[Sighting, str, bool, dict[str, Any]]]
    ) -> dict[str, Any]:
        """Its record, whose costly part is made once; a present one was last seen just now."""
        census, at = self.facts.census, self.facts.seen.at
        slug, hidden = census.slugs.get(one.id, ""), one.id in census.hidden
        known = before.get(one.id)
        if known is None or known[0] is not one or known[1:3] != (slug, hidden):
            known = (one, slug, hidden, records.observed(one, slug, hidden))
        self._observed[one.id] = known
        return {**known[3], "lastSeen": timestamp(at)} if one.present and at else known[3]
