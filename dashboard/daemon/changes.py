"""The events sent to clients when files or listeners have changed."""

from __future__ import annotations

from dashboard.events import EventDebouncer
from dashboard.files.store import Files
from dashboard.registry.census import Census


def tell_files(events: EventDebouncer, before: Files, now: Files) -> None:
    """Send the events for a change of the files."""
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
        events.observed("ignored")  # even if the rules hide the same listeners: the tag changed
    if _elsewhere(before) != _elsewhere(now):
        events.apps("resync")


def tell_census(events: EventDebouncer, before: Census, now: Census, reason: str) -> bool:
    """Send the events for discovered apps that came and went, and for undeclared listeners.

    Return whether either of them changed.
    """
    if now.apps is before.apps and _listing(before) == _listing(now):
        return False
    old, new = _discovered_slugs(before), _discovered_slugs(now)
    if new - old:
        events.apps("discovered")
    if old - new:
        events.apps("gone")
    differ = _listing(before) != _listing(now)
    if differ:
        events.observed(reason)
    return differ or new != old


def _discovered_slugs(census: Census) -> set[str]:
    return {slug for slug, app in census.apps.items() if app.source == "discovered"}


def _listing(census: Census) -> tuple[object, ...]:
    return census.observed, census.ignored, census.hidden, census.slugs


def _elsewhere(files: Files) -> set[tuple[str, str]]:
    """The errors of files that are not loaded at all, as (file, message)."""
    loaded = {*(e.file for e in files.apps.values()), *(e.file for e in files.groups.values())}
    loaded |= {files.config.file, files.ignore.file}
    return {(one.file, one.message) for one in files.problems if one.file not in loaded}
