"""Thumbnails of apps and icons of bookmarks (section 14)."""

from __future__ import annotations

from typing import Any

from config.kernel.errors import NotFound
from dashboard.daemon import current
from dashboard.files import errors, places
from dashboard.looks.icons import Icon
from dashboard.looks.thumbs import Picture
from dashboard.operations.apps import known_app
from dashboard.operations.caller import Local, Record, text


def thumb(caller: Local, *, slug: str) -> Picture:
    """The app's picture; there always is one."""
    known_app(caller, slug=slug)
    daemon = current()
    return daemon.wait(daemon.gallery.picture, slug)


def refresh_thumbs(caller: Local, *, slug: Any = None) -> Record:
    """Take new screenshots of one app, or of every app that is up; how many were taken."""
    if slug is not None:
        known_app(caller, slug=text("slug", slug))
    daemon = current()
    return {"taken": daemon.wait(daemon.gallery.refresh, None if slug is None else [slug])}


def icon(caller: Local, *, group: str, url: str) -> Icon | None:
    """The icon of a link of the group; None while there is none yet."""
    places.place("bookmarks", group)
    daemon = current()
    entry = daemon.ask(lambda: daemon.files.groups.get(group))
    if entry is None:
        raise errors.not_found("bookmarks", group)
    if entry.parsed is None:  # a broken file that was never read well has no links
        raise NotFound(f'No web link "{url[: errors.SHOWN]}" in group "{group}".')
    return daemon.wait(daemon.gallery.icon, group, entry.parsed, url)
