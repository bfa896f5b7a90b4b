"""The events that clients get when files or listeners differ from those before."""

from __future__ import annotations

from dashboard.events import EventDebouncer
from dashboard.files.store import Files
from dashboard.registry.census import Census


def tell_files(events: EventDebouncer, before: Files, now: Files) -> None:
    """The events that a change of files causes."""
    for slug in before.apps.keys() - now.apps.keys():
        events.app(slug, "removed")
        events.apps("removed")
    for slug, entry in now.apps.items():
        old = before.apps.get(slug)
        if old is entry:
            continue
        if old is None:
            events.apps("added")
        events.app(slug, "error" if entry.errors else "config")
    for name in before.groups.keys() | now.groups.keys():
        if before.groups.get(name) is not now.groups.get(name):
            events.bookmarks(name)
    if before.config is not now.config:
        events.config()
    if before.ignore is not now.ignore:
        events.observed("ignored")  # also when it hides what it hid before: its tag has changed
    if _elsewhere(before) != _elsewhere(now):
        events.apps("resync")


def tell_census(events: EventDebouncer, before: Census, now: Census, reason: str) -> bool:
    """Discovered apps that came and went, and the listeners that no file declares.

    Whether that is any news.
    """
    if now.apps is before.apps and _listed(before) == _listed(now):
        return False
    old, new = _discovered(before), _discovered(now)
    if new - old:
        events.apps("discovered")
    if old - new:
        events.apps("gone")
    differ = _listed(before) != _listed(now)
    if differ:
        events.observed(reason)
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
