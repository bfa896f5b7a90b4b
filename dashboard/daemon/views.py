"""What clients read: records of apps as cached bytes, and the State made of them.

Used on the daemon's thread. A record is made again after a change of its app, and at the latest
when the times it shows are out of date.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict, cast

import orjson
from django.conf import settings

from config import __version__, jsonio
from config.logs import timestamp
from dashboard.daemon import ownport, state
from dashboard.daemon.state import Cached
from dashboard.events import GREETING
from dashboard.files.records import FileError, file_error
from dashboard.health import clock
from dashboard.health.record import Record, stale
from dashboard.listeners.observed import Sighting
from dashboard.listeners.records import Observed, observed_record
from dashboard.reboot.render import LostNotice, Notice
from dashboard.registry import records
from dashboard.registry.census import App

FRESH_S = 60.0  # bars and uptimes move with time; no faster than a reader could notice


class ObservedList(TypedDict):
    observed: list[Observed]
    ignored: list[Observed]
    ignoreEtag: str | None
    scannedAt: str | None
    partial: list[str]


class State(TypedDict):
    version: str
    boot: str
    now: str
    rev: int
    host: str
    config: dict[str, Any]
    apps: list[records.App]
    bookmarks: list[records.Group]
    observed: list[Observed]
    lost: Notice | None
    fileErrors: list[FileError]
    scan: dict[str, Any]
    counts: dict[str, int]


ListenerRecord = tuple[Sighting, str, bool, Observed]  # a listener and what its record was made of


@dataclass(slots=True, eq=False)
class Views:
    now: state.DaemonState
    _observed: dict[str, ListenerRecord] = field(default_factory=dict)

    def app(self, slug: str, config: records.WithConfig) -> records.App | None:
        """The record App; None when there is no such app."""
        app = self.now.census.apps.get(slug)
        return self._record(app, config) if app is not None else None

    def apps(self, config: records.WithConfig) -> list[records.App]:
        return [self._record(app, config) for app in self.now.census.apps.values()]

    def names(self) -> list[tuple[str, str, str | None]]:
        """Slug, name and address of every app, cheaper than their records."""
        return [records.name_and_address(app) for app in self.now.census.apps.values()]

    def folders(self) -> list[tuple[str, str, str, str]]:
        """Slug, name and directory of every app that has one, with its port and state as text."""
        found = []
        for app in self.now.census.apps.values():
            if (cwd := records.cwd(app)).startswith("/"):
                slug, name, _ = records.name_and_address(app)
                state = self._health(app).state.value
                found.append((slug, name, cwd, f":{app.port} {state}" if app.port else state))
        return found

    def attention(self) -> int:
        """How many apps need attention: they are down, degraded, or run unexpectedly."""
        apps = self.now.census.apps.values()
        return sum(records.needs_attention(app, self._health(app)) for app in apps)

    def counts(self) -> dict[str, int]:
        """How many apps are in each state."""
        apps = self.now.census.apps.values()
        return records.counts((app, self._health(app).state) for app in apps)

    def observed(self) -> ObservedList:
        census, seen, files = self.now.census, self.now.seen, self.now.loaded
        before, self._observed = self._observed, {}
        return {
            "observed": [self._listener(one, before) for one in census.observed],
            "ignored": [self._listener(one, before) for one in census.ignored],
            "ignoreEtag": files.ignore.etag,
            "scannedAt": timestamp(seen.at) if seen.at else None,
            "partial": list(seen.partial),
        }

    def groups(self) -> list[records.Group]:
        return [records.group(entry) for entry in self.now.loaded.groups.values()]

    def group(self, name: str) -> records.Group | None:
        entry = self.now.loaded.groups.get(name)
        return records.group(entry, with_config=True) if entry is not None else None

    def config(self) -> records.Config:
        now = self.now
        names = ownport.names(settings.SVC, now.config.fronted.host)
        host = names[0] if names else None
        return records.config(now.loaded.config, self._restart_needed(), host=host)

    def lost(self) -> LostNotice:
        return {"lost": self.now.lost.wire()}

    def file_errors(self) -> list[FileError]:
        """What is wrong with files, tasks, the database and the dashboard's own port."""
        now = self.now
        others = (now.history.error, now.port.trouble)
        found = [*now.loaded.problems, *now.faults(), *(one for one in others if one)]
        return [*map(file_error, found)]

    def state(self) -> tuple[bytes, str]:
        """The State as JSON and its weak tag; unchanged records come from the cache."""
        found = self._records()
        seen = self.now.seen
        body: State = {
            "version": __version__,
            "boot": GREETING.boot,
            "now": timestamp(datetime.now(UTC)),
            "rev": self.now.rev,
            "host": socket.gethostname(),
            "config": self._settings(),
            "apps": cast("list[records.App]", [orjson.Fragment(one.data) for one in found]),
            "bookmarks": self.groups(),
            "observed": self.observed()["observed"],
            "lost": self.now.lost.wire(),
            "fileErrors": self.file_errors(),
            "scan": {"at": timestamp(seen.at) if seen.at else None, "ms": round(seen.ms, 3)},
            "counts": records.counts((one.app, one.state) for one in found),
        }
        return orjson.dumps(body), f'W/"{GREETING.boot}-{self.now.rev}"'

    def _records(self) -> list[Cached]:
        """The record of every app. A difference due to time alone is a visible change too."""
        now, found = time.monotonic(), []
        for slug, app in self.now.census.apps.items():
            known = self.now.cached.get(slug)
            if known is None or known.until <= now:
                fresh = self._build(app, now)
                if known is not None and known.data != fresh.data:
                    self.now.bump()
                self.now.cached[slug] = known = fresh
            found.append(known)
        return found

    def _build(self, app: App, now: float) -> Cached:
        record = self._health(app)
        made = self._record(app, None)
        until = now + FRESH_S
        if not stale(record, app.policy, now):
            until = min(until, record.seen_at + 3 * app.policy.interval)
        return Cached(app, jsonio.dumps(made), record.state, max(until, now + 1.0))

    def _record(self, app: App, config: records.WithConfig) -> records.App:
        now, slug = self.now, app.slug
        return records.app(
            app,
            record=self._health(app),
            result=now.results.get(slug),
            summary=now.history.recorder.summary(slug, time.time()),
            service=now.services.wire(slug),
            picture=now.gallery.choice(slug),
            now=clock.now(),
            config=now.config,
            with_config=config,
        )

    def _health(self, app: App) -> Record:
        record = self.now.runner.record(app.slug)
        assert record is not None  # the census and the runner have the same apps
        return record

    def _restart_needed(self) -> list[str]:
        return self.now.port.restart_needed(self.now.config)

    def _settings(self) -> dict[str, Any]:
        """The part of config.yaml that the page needs."""
        shown = self.config()["config"]
        keys = ("title", "fronted", "scan", "screenshots", "services")
        screenshots = {**shown["screenshots"], "on": self.now.gallery.screenshots}
        return {
            **{key: shown[key] for key in keys},
            "screenshots": screenshots,
            "restartNeeded": self._restart_needed(),
        }

    def _listener(self, one: Sighting, before: dict[str, ListenerRecord]) -> Observed:
        """The record of the listener; only `lastSeen` of a present one is made for each call."""
        census, at = self.now.census, self.now.seen.at
        slug, hidden = census.slugs.get(one.id, ""), one.id in census.hidden
        known = before.get(one.id)
        if known is None or known[0] is not one or known[1:3] != (slug, hidden):
            known = (one, slug, hidden, observed_record(one, slug, hidden))
        self._observed[one.id] = known
        return {**known[3], "lastSeen": timestamp(at)} if one.present and at else known[3]
