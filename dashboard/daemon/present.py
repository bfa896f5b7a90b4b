"""What is true now: files, listeners, services and probes put together, on the daemon's thread.

Each kind of news comes in by one method; a census decides what it means, the rooms are told.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dashboard.daemon import served
from dashboard.daemon.census import Rooms, tell_census, tell_files
from dashboard.daemon.keeping import Keeping
from dashboard.daemon.listening import Remembered
from dashboard.daemon.ownport import OwnPort
from dashboard.daemon.scanning import Scanning, World
from dashboard.daemon.showing import shown
from dashboard.daemon.sight import Look, Pids, Sight, Wish
from dashboard.daemon.views import Views
from dashboard.daemon.world import Calls, Made, made, watched
from dashboard.events import Telling
from dashboard.files.entries import FileError
from dashboard.files.schema.config import Config
from dashboard.files.store import Files
from dashboard.health.evidence import Edge, Notice
from dashboard.health.record import State
from dashboard.health.runner import Report, Runner
from dashboard.registry.census import App, Census, census
from dashboard.registry.look import Seen
from dashboard.services.state import Change

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Present:
    """`own_ports` are never listed; `faults` tells what is wrong with the daemon's tasks."""

    boot: str
    own_ports: frozenset[int] = frozenset()
    port: OwnPort = field(default_factory=OwnPort)
    open_files: int | None = None
    faults: Callable[[], list[FileError]] = list
    files: Files | None = None
    seen: Seen = field(default_factory=Seen)
    members: Pids = field(default_factory=dict)
    census: Census = field(default_factory=lambda: Census({}))
    telling: Telling = field(default_factory=Telling)
    runner: Runner = field(init=False)
    keeping: Keeping = field(init=False)
    scanning: Scanning = field(init=False)
    rooms: Made = field(init=False)
    views: Views = field(init=False)
    _following: Rooms = field(init=False)
    _remembered: Remembered = field(init=False)

    def __post_init__(self) -> None:
        self.views = Views(self, self.boot)
        self.runner = Runner(self.report)
        self.keeping = Keeping(lambda: self.config, self.views.bump)
        self.scanning = Scanning(World(self.wish, self.take_look, watched), Sight(self.own_ports))
        calls = Calls(
            config=lambda: self.config,
            served=self.served,
            lost=self.views.bump,
            pictured=self._pictured,
            on_battery=lambda: self.scanning.on_battery,
        )
        self.rooms = made(calls, self.telling, open_files=self.open_files)
        self._following = Rooms(
            self.runner,
            self.rooms.services,
            self.keeping,
            touch=self.views.touch,
            drop=self.views.forget,
            show=self.show,
        )
        self._remembered = Remembered(self.rooms.services)

    @property
    def config(self) -> Config:
        assert self.files is not None
        config: Config = self.files.config.parsed
        return config

    def wish(self) -> Wish:
        """What a scan needs to know."""
        assert self.files is not None
        return Wish(
            self.config.scan,
            frozenset(self.files.apps),
            self.keeping.recorder.bound(),
            self.rooms.services.families(),
        )

    def restart_needed(self) -> list[str]:
        return self.port.restart_needed(self.config)

    def file_errors(self) -> list[dict[str, Any]]:
        """What is wrong with files, tasks, the database and the own port."""
        assert self.files is not None
        others = (self.keeping.error, self.port.trouble)
        found = [*self.files.problems, *self.faults(), *(one for one in others if one)]
        return [one.wire() for one in found]

    def take_files(self, files: Files) -> None:
        """The files as they are now."""
        before, self.files = self.files, files
        assert before is not None
        tell_files(self.telling, before, files)
        if before.config is not files.config:
            self.rooms.login.forget()
            self.views.touch_all()
        self.turn(_reason(before, files))
        if not self.config.scan.enabled:
            self.runner.scanned({})  # what the last scan showed is no evidence any more
        self.views.bump()
        if before.apps.keys() != files.apps.keys() or before.config is not files.config:
            self.scanning.again()

    def take_look(self, look: Look, complete: bool) -> None:
        """What a scan saw; `complete`: it was a whole one, which is evidence for the apps."""
        self.seen, self.members = look.seen, look.pids
        self.turn("scan")
        if complete:
            self.runner.scanned({slug: app.evidence for slug, app in self.census.apps.items()})
            self.rooms.lost.seen(self._remembered.of(self.census, self.seen))

    def report(self, report: Report) -> None:
        """What a probe, a scan or a service came to for one app."""
        slug, record, result = report.slug, report.record, report.result
        if result is not None:
            self.views.results[slug] = result
            us = None if result.ms is None else round(result.ms * 1000)
            self.keeping.tell(
                "add", slug, result.at, record.state.value, us, result.status, ok=result.ok
            )
        for event in report.events:
            match event:
                case Edge(at, before, after, reason):
                    self.keeping.tell("edge", slug, at, before.value, after.value, reason.value)
                case Notice(state):
                    self.telling.state(slug, state.value)
        self.views.touch(slug)
        if report.events and (app := self.census.apps.get(slug)) is not None:
            self.show(app, slug)

    def served(self, change: Change) -> None:
        """A service is now something else."""
        state = self.rooms.services.state(change.slug)
        said = served.evidence(change, state) if state is not None else None
        self.turn("scan")
        if said is not None:
            self.runner.evidence(change.slug, said)
        self.views.touch(change.slug)
        self.scanning.again()

    def show(self, app: App | None, slug: str) -> None:
        """What the picture of an app depends on may be another."""
        record = self.runner.record(slug)
        state = record.state if record is not None else State.UNKNOWN
        self.rooms.gallery.know(slug, shown(app, state) if app is not None else None)

    def _pictured(self, slug: str) -> None:
        self.telling.thumb(slug)
        self.views.touch(slug)

    def turn(self, reason: str) -> None:
        """The next census; `reason`: what a changed list of listeners is told with."""
        assert self.files is not None
        services, before = self.rooms.services, self.census
        scanning = self.config.scan.enabled
        self.census = census(
            self.files,
            self.seen if scanning else Seen(),
            pids=served.pids(services.families(), self.members),
            processes=served.processes(services.running()),
            local_scan=scanning,
            before=before,
        )
        self._following.follow(before, self.census)
        if tell_census(self.telling, before, self.census, reason):
            self.views.bump()


def _reason(before: Files, now: Files) -> str:
    """What a change of files is to the list of listeners."""
    if before.ignore is not now.ignore:
        return "ignored"
    if before.config.parsed.scan != now.config.parsed.scan:
        return "config"
    return "claimed" if now.apps.keys() - before.apps.keys() else "scan"
