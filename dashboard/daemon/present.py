"""What is true now: files, listeners, services and probes put together, on the daemon's thread.

Each kind of news comes in by one method; a census decides what it means, the rooms are told.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from dashboard.daemon import served
from dashboard.daemon.census import Rooms, tell_census, tell_files
from dashboard.daemon.facts import Facts
from dashboard.daemon.keeping import Keeping
from dashboard.daemon.listening import Remembered
from dashboard.daemon.scanning import Scanning, World
from dashboard.daemon.showing import shown
from dashboard.daemon.sight import Look, Sight, Wish
from dashboard.daemon.views import Views
from dashboard.daemon.world import Calls, made, watched
from dashboard.events import Telling
from dashboard.files.store import Files
from dashboard.health.evidence import Edge, Notice
from dashboard.health.record import State
from dashboard.health.runner import Report, Runner
from dashboard.registry.census import App, census
from dashboard.registry.look import Seen
from dashboard.services.state import Change

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Present:
    """`own_ports` are never listed; `open_files` is the soft limit services get back."""

    facts: Facts
    own_ports: frozenset[int] = frozenset()
    open_files: int | None = None
    telling: Telling = field(default_factory=Telling)
    scanning: Scanning = field(init=False)
    views: Views = field(init=False)
    _following: Rooms = field(init=False)
    _remembered: Remembered = field(init=False)

    def __post_init__(self) -> None:
        facts = self.facts
        self.views = Views(facts)
        self.scanning = Scanning(World(self.wish, self.take_look, watched), Sight(self.own_ports))
        facts.runner = Runner(self.report)
        facts.keeping = Keeping(lambda: facts.config, self.views.bump)
        calls = Calls(
            config=lambda: facts.config,
            served=self.served,
            lost=self.views.bump,
            pictured=self._pictured,
            on_battery=lambda: self.scanning.on_battery,
        )
        facts.rooms = made(calls, self.telling, open_files=self.open_files)
        self._following = Rooms(
            facts.runner,
            facts.rooms.services,
            facts.keeping,
            touch=self.views.touch,
            drop=self.views.forget,
            show=self.show,
        )
        self._remembered = Remembered(facts.rooms.services)

    def wish(self) -> Wish:
        """What a scan needs to know."""
        return Wish(
            self.facts.config.scan,
            frozenset(self.facts.loaded.apps),
            self.facts.keeping.recorder.bound(),
            self.facts.rooms.services.families(),
        )

    def take_files(self, files: Files) -> None:
        """The files as they are now."""
        before, self.facts.files = self.facts.loaded, files
        tell_files(self.telling, before, files)
        if before.config is not files.config:
            self.facts.rooms.login.forget()
            self.views.touch_all()
        self.turn(_reason(before, files))
        if not self.facts.config.scan.enabled:
            self.facts.runner.scanned({})  # what the last scan showed is no evidence any more
        self.views.bump()
        if before.apps.keys() != files.apps.keys() or before.config is not files.config:
            self.scanning.again()

    def take_look(self, look: Look, complete: bool) -> None:
        """What a scan saw; `complete`: it was a whole one, which is evidence for the apps."""
        self.facts.seen, self.facts.members = look.seen, look.pids
        self.turn("scan")
        if complete:
            ports = {slug: app.evidence for slug, app in self.facts.census.apps.items()}
            at = look.seen.at
            self.facts.runner.scanned(ports, at.timestamp() if at else None)
        self.facts.rooms.lost.seen(self._remembered.of(self.facts.census, self.facts.seen))

    def report(self, report: Report) -> None:
        """What a probe, a scan or a service came to for one app."""
        slug, record, result = report.slug, report.record, report.result
        if result is not None:
            self.facts.results[slug] = result
            us = None if result.ms is None else round(result.ms * 1000)
            self.facts.keeping.tell(
                "add", slug, result.at, record.state.value, us, result.status, ok=result.ok
            )
        for event in report.events:
            match event:
                case Edge(at, before, after, reason, kept):
                    words = (before.value, after.value, reason.value)
                    self.facts.keeping.tell("edge", slug, at, *words, kept_on=kept)
                case Notice(state):
                    self.telling.state(slug, state.value)
        self.views.touch(slug)
        if report.events and (app := self.facts.census.apps.get(slug)) is not None:
            self.show(app, slug)

    def served(self, change: Change) -> None:
        """A service is now something else."""
        state = self.facts.rooms.services.state(change.slug)
        said = served.evidence(change, state) if state is not None else None
        if said is not None:  # first: to the census an app that should run and does not is down
            self.facts.runner.evidence(change.slug, said)
        self.turn("scan")
        self.views.touch(change.slug)
        self.scanning.again()

    def show(self, app: App | None, slug: str) -> None:
        """What the picture of an app depends on may be another."""
        record = self.facts.runner.record(slug)
        state = record.state if record is not None else State.UNKNOWN
        self.facts.rooms.gallery.know(slug, shown(app, state) if app is not None else None)

    def _pictured(self, slug: str) -> None:
        self.telling.thumb(slug)
        self.views.touch(slug)

    def turn(self, reason: str) -> None:
        """The next census; `reason`: what a changed list of listeners is told with."""
        assert self.facts.files is not None
        services, before = self.facts.rooms.services, self.facts.census
        scanning = self.facts.config.scan.enabled
        self.facts.census = census(
            self.facts.files,
            self.facts.seen if scanning else Seen(),
            pids=served.pids(services.families(), self.facts.members),
            processes=served.processes(services.running()),
            local_scan=scanning,
            own_ports=self.own_ports,
            before=before,
        )
        self._following.follow(before, self.facts.census)
        if tell_census(self.telling, before, self.facts.census, reason):
            self.views.bump()


def _reason(before: Files, now: Files) -> str:
    """What a change of files is to the list of listeners."""
    if before.ignore is not now.ignore:
        return "ignored"
    if before.config.parsed.scan != now.config.parsed.scan:
        return "config"
    return "claimed" if now.apps.keys() - before.apps.keys() else "scan"
