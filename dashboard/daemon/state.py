"""What is true now: combines files, listeners, services and probes, on the daemon's thread.

Each kind of news comes in through one method; a census decides what it means for the components.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dashboard import reboot
from dashboard.daemon import translation
from dashboard.daemon.changes import tell_census, tell_files
from dashboard.daemon.history_writer import HistoryWriter
from dashboard.daemon.ownport import OwnPort
from dashboard.daemon.scanning import Scanning, World
from dashboard.daemon.sightings import Pids, ScanRequest, ScanResult, Sightings
from dashboard.daemon.standings import Standings
from dashboard.daemon.translation import Remembered
from dashboard.events import EVENTS, GREETING, EventDebouncer
from dashboard.files.entries import FileError
from dashboard.files.schema.config import Config
from dashboard.files.store import Files
from dashboard.health import record as health
from dashboard.health.evidence import Changed, Edge, Notice, Scanned, Silenced
from dashboard.health.result import Result
from dashboard.health.runner import Report, Runner
from dashboard.history.recorder import Recorder
from dashboard.pictures import Gallery
from dashboard.pictures import World as GalleryWorld
from dashboard.reboot import Lost
from dashboard.registry.census import App, Census, census
from dashboard.registry.look import CompletedScan
from dashboard.services.environment import LoginOnce
from dashboard.services.state import Change, Limits
from dashboard.services.state import World as ServicesWorld
from dashboard.services.supervise import Supervisor
from dashboard.services.system.clock import Clock


@dataclass(frozen=True, slots=True)
class Cached:
    """The record of one app as bytes; not to be shown after `until` (monotonic seconds)."""

    app: App
    data: bytes
    state: health.State
    until: float


class DaemonState:
    """The components of one run of the daemon, and what they found out.

    `files` is None until they are loaded; `faults` returns what is wrong with the daemon's tasks;
    `results`: the last probe result of each app; `members`: the processes of services in the last
    scan. `rev` counts every visible change; `cached` has the records of apps that have not changed
    since. `own_ports` are never listed; `open_files` is the soft limit that is restored for
    services.
    """

    def __init__(
        self,
        port: OwnPort,
        own_ports: frozenset[int] = frozenset(),
        open_files: int | None = None,
    ) -> None:
        self.port, self.own_ports = port, own_ports
        self.faults: Callable[[], list[FileError]] = list
        self.files: Files | None = None
        self.seen = CompletedScan()
        self.members: Pids = {}
        self.census = Census({})
        self.results: dict[str, Result] = {}
        self.rev = 0
        self.cached: dict[str, Cached] = {}
        self.events = EventDebouncer()
        self.scanning = Scanning(
            World(self.request, self.take_scan, has_stream_clients), Sightings(own_ports)
        )
        self.runner = Runner(self.report, self.scanning.afresh)
        self.history = HistoryWriter(lambda: self.config, self.bump)
        self.standings = Standings()
        self._login, clock = LoginOnce(), Clock()
        self.services = Supervisor(
            ServicesWorld(clock, self.take_service, self._login, self._limits, open_files)
        )
        self.lost = Lost(
            reboot.World(clock, self.services, self._lost_changed, self._lost_settings)
        )
        self.gallery = Gallery(
            GalleryWorld(
                config=lambda: self.config,
                thumb_changed=self._on_thumb,
                icon_changed=self.events.bookmarks,
                clients=has_stream_clients,
                battery=lambda: self.scanning.on_battery,
            )
        )
        self._remembered = Remembered()

    @property
    def loaded(self) -> Files:
        """The files; asserts that they are loaded."""
        assert self.files is not None
        return self.files

    @property
    def config(self) -> Config:
        config: Config = self.loaded.config.parsed
        return config

    def bump(self) -> None:
        """Something clients can see has changed."""
        self.rev += 1
        GREETING.rev = self.rev

    def touch(self, slug: str) -> None:
        """The record of this app has changed."""
        self.cached.pop(slug, None)
        self.bump()

    def request(self) -> ScanRequest:
        """What a scan needs to know."""
        return ScanRequest(
            self.config.scan,
            frozenset(self.loaded.apps),
            self.history.recorder.bound_slugs(),
            self.services.families(),
        )

    def take_files(self, files: Files) -> None:
        """Take in the files as they are now."""
        before, self.files = self.loaded, files
        tell_files(self.events, before, files)
        if before.config is not files.config:
            self._login.forget()
            self.cached.clear()
            self.bump()
        self.turn(_reason(before, files))
        if not self.config.scan.enabled:
            self.runner.take_scan({})  # scanning is off, so the last scan is no longer evidence
        self.bump()
        if before.apps.keys() != files.apps.keys() or before.config is not files.config:
            self.scanning.again()

    def take_scan(self, found: ScanResult, complete: bool) -> None:
        """Take in the result of a scan; a `complete` one is evidence for the apps."""
        self.seen, self.members = found.seen, found.pids
        self.turn("scan")
        if complete:
            ports = {slug: app.evidence for slug, app in self.census.apps.items()}
            at = found.seen.at
            self.runner.take_scan(ports, at.timestamp() if at else None)
        self.lost.take_scan(self._remembered.of(self.census, self.seen, self.members))

    def report(self, report: Report) -> None:
        """Take in what a probe, a scan or a service changed for one app."""
        slug, record, result = report.slug, report.record, report.result
        if result is not None:
            self.results[slug] = result
            us = None if result.ms is None else round(result.ms * 1000)
            self.history.record(
                Recorder.add, slug, result.at, record.state.value, us, result.status, ok=result.ok
            )
        for event in report.events:
            match event:
                case Edge(at, before, after, reason, kept):
                    words = (before.value, after.value, reason.value)
                    self.history.record(Recorder.edge, slug, at, *words, kept_on=kept)
                case Notice(state):
                    self.events.state(slug, state.value)
        self.touch(slug)
        if report.events and (app := self.census.apps.get(slug)) is not None:
            self.standings.take(app, report)
            self._show(app)

    def take_service(self, change: Change) -> None:
        """A service has changed."""
        state = self.services.state(change.slug)
        said = translation.evidence(change, state) if state is not None else None
        if said is not None:  # first: for the census, an app that should run and does not is down
            self.runner.evidence(change.slug, said)
        self.turn("scan")
        self.touch(change.slug)
        self.scanning.again()

    def turn(self, reason: str) -> None:
        """Make the next census; `reason` goes into the event when the listeners differ."""
        before, scanning = self.census, self.config.scan.enabled
        self.census = census(
            self.loaded,
            self.seen if scanning else CompletedScan(),
            pids=translation.pids(self.services.families(), self.members),
            members=self.members,
            claimed=before.claimed,
            processes=self.services.running(),
            local_scan=scanning,
            own_ports=self.own_ports,
            before=before,
        )
        if self.census.apps is not before.apps:
            self._follow(before.apps, self.census.apps)
        if tell_census(self.events, before, self.census, reason):
            self.bump()

    def _follow(self, known: Mapping[str, App], apps: Mapping[str, App]) -> None:
        """Notify each component of what differs between two censuses."""
        for slug in [slug for slug in known if slug not in apps]:
            self._forget(known[slug])
        for slug, app in apps.items():
            if app is not (old := known.get(slug)):
                self._know(old, app)

    def _know(self, before: App | None, app: App) -> None:
        slug = app.slug
        self.standings.know(app)
        self.history.record(Recorder.pace, slug, app.policy.interval)
        if app.source == "discovered" and app.sighting is not None:
            self.history.record(Recorder.bind, slug, app.sighting.id)
        known = self.history.last_known(slug) if before is None else None
        self.runner.watch(slug, app.target, app.policy, known)
        if app.silenced is not None:  # paused, or its file was never read well
            self.runner.evidence(slug, Silenced(app.silenced))
        elif before is not None and before.silenced is not None:
            self.runner.evidence(slug, Changed())
        if before is None and app.evidence is not health.Port.UNSEEN:
            self.runner.evidence(slug, Scanned(app.evidence))
        if before is None or before.service != app.service:
            self.services.declare(slug, app.service)
        self.touch(slug)
        self._show(app)

    def _forget(self, app: App) -> None:
        slug = app.slug
        self.standings.leave(app, self.runner.record(slug))
        self.runner.forget(slug)
        self.services.declare(slug, None)
        self.history.record(Recorder.remove, slug, time.time())
        self.results.pop(slug, None)
        self.touch(slug)
        self.gallery.know(slug, None)

    def _show(self, app: App) -> None:
        """Give the gallery what the picture of the app depends on."""
        record = self.runner.record(app.slug)
        state = record.state if record is not None else health.State.UNKNOWN
        self.gallery.know(app.slug, translation.pictured_app(app, state))

    def _on_thumb(self, slug: str) -> None:
        self.events.thumb(slug)
        self.touch(slug)

    def _lost_changed(self, ids: Sequence[str]) -> None:
        self.events.reboot(ids)
        self.bump()

    def _lost_settings(self) -> reboot.Settings:
        return reboot.Settings(self.config.lost_enabled, self.config.lost_grace)

    def _limits(self) -> Limits:
        said = self.config.services
        return Limits(said.enabled, said.stop_timeout, said.log_max_bytes, said.log_keep)


def has_stream_clients() -> bool:
    """Whether a stream client is connected."""
    return EVENTS.clients > 0


def _reason(before: Files, now: Files) -> str:
    """The reason, for the list of listeners, of a change of files."""
    if before.ignore is not now.ignore:
        return "ignored"
    if before.config.parsed.scan != now.config.parsed.scan:
        return "config"
    return "claimed" if now.apps.keys() - before.apps.keys() else "scan"
