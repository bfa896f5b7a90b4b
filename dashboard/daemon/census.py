"""From one census to the next: every room is told what is another for it, clients get their hints.

On the daemon's thread. What an app is now is decided by dashboard.registry alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from dashboard.daemon.keeping import Keeping
from dashboard.events import Telling
from dashboard.files.store import Files
from dashboard.health.evidence import Changed, Scanned, Silenced
from dashboard.health.record import Known, Port, Reason, State
from dashboard.health.runner import Runner
from dashboard.registry.census import App, Census
from dashboard.services.supervise import Supervisor

_REASONS = {reason.value for reason in Reason}


@dataclass(slots=True)
class Rooms:
    """Those that follow the census."""

    runner: Runner
    services: Supervisor
    keeping: Keeping
    touch: Callable[[str], None]  # the record of an app is another
    drop: Callable[[str], None]  # there is no such app any more
    show: Callable[[App | None, str], None]  # what its picture depends on may be another

    def follow(self, before: Census, now: Census) -> None:
        """Tell what differs between two censuses."""
        if now.apps is before.apps:
            return
        known = before.apps
        for slug in [slug for slug in known if slug not in now.apps]:
            self._forget(known[slug])
        for slug, app in now.apps.items():
            if app is not (old := known.get(slug)):
                self._know(old, app)

    def _know(self, before: App | None, app: App) -> None:
        slug = app.slug
        self.keeping.tell("pace", slug, app.policy.interval)
        if app.source == "discovered" and app.sighting is not None:
            self.keeping.tell("bind", slug, app.sighting.id)
        known = self._last_known(slug) if before is None else None
        self.runner.watch(slug, app.target, app.policy, known)
        self._silence(before, app)
        if before is None and app.evidence is not Port.UNSEEN:
            self.runner.evidence(slug, Scanned(app.evidence))
        if before is None or before.service != app.service:
            self.services.declare(slug, app.service)
        self.touch(slug)
        self.show(app, slug)

    def _silence(self, before: App | None, app: App) -> None:
        """Rows T14: paused, or never read well."""
        was = before.silenced if before else None
        if app.silenced is not None:
            self.runner.evidence(app.slug, Silenced(app.silenced))
        elif was is not None:
            self.runner.evidence(app.slug, Changed())

    def _last_known(self, slug: str) -> Known | None:
        standing = self.keeping.recorder.known(slug)
        if standing is None or not standing.state or standing.since is None:
            return None
        said = standing.reason if standing.reason in _REASONS else Reason.NEW
        since = (
            standing.since + 0.5
        ) / 1000  # within its millisecond, whatever a float makes of it
        return Known(State(standing.state), since, Reason(said))

    def _forget(self, app: App) -> None:
        slug = app.slug
        self.runner.forget(slug)
        self.services.declare(slug, None)
        self.keeping.tell("remove", slug, time.time())
        self.drop(slug)
        self.show(None, slug)


def tell_files(telling: Telling, before: Files, now: Files) -> None:
    """Section 13: what a change of files is to clients."""
    for slug in before.apps.keys() - now.apps.keys():
        telling.app(slug, "removed")
        telling.apps("removed")
    for slug, entry in now.apps.items():
        old = before.apps.get(slug)
        if old is entry:
            continue
        if old is None:
            telling.apps("added")
        telling.app(slug, "error" if entry.errors else "config")
    for name in before.groups.keys() | now.groups.keys():
        if before.groups.get(name) is not now.groups.get(name):
            telling.bookmarks(name)
    if before.config is not now.config:
        telling.config()
    if before.ignore is not now.ignore:
        telling.observed("ignored")  # also when it hides what it hid before: its tag is another
    if _elsewhere(before) != _elsewhere(now):
        telling.apps("resync")


def tell_census(telling: Telling, before: Census, now: Census, reason: str) -> bool:
    """Discovered apps that came and went, and the listeners nobody has declared.

    Whether that is any news.
    """
    if now.apps is before.apps and _listed(before) == _listed(now):
        return False
    old, new = _discovered(before), _discovered(now)
    if new - old:
        telling.apps("discovered")
    if old - new:
        telling.apps("gone")
    differ = _listed(before) != _listed(now)
    if differ:
        telling.observed(reason)
    return differ or new != old


def _discovered(census: Census) -> set[str]:
    return {slug for slug, app in census.apps.items() if app.source == "discovered"}


def _listed(census: Census) -> tuple[object, ...]:
    return census.observed, census.ignored, census.hidden, census.slugs


def _elsewhere(files: Files) -> set[tuple[str, str]]:
    """The mistakes of files that are not loaded at all."""
    loaded = {*(e.file for e in files.apps.values()), *(e.file for e in files.groups.values())}
    loaded |= {files.config.file, files.ignore.file}
    return {(one.file, one.message) for one in files.problems if one.file not in loaded}
