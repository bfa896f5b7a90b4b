"""Thumbnails of apps and icons of bookmarks."""

from __future__ import annotations

from typing import Any, TypedDict

from config.errors import NotFound
from dashboard.daemon import current
from dashboard.files import errors, layout
from dashboard.operations.apps import known_app
from dashboard.operations.common import text
from dashboard.rendering.icons import Icon
from dashboard.rendering.thumbs import Picture


class RefreshResult(TypedDict):
    taken: int


def thumb(*, slug: str) -> Picture:
    """The app's picture; every app has one."""
    known_app(slug=slug)
    daemon = current()
    return daemon.wait(daemon.state.gallery.picture, slug)


def refresh_thumbs(*, slug: Any = None) -> RefreshResult:
    """Take new screenshots of one app, or of every app that is up. Returns how many were taken."""
    if slug is not None:
        known_app(slug=text("slug", slug))
    daemon = current()
    return {"taken": daemon.wait(daemon.state.gallery.refresh, None if slug is None else [slug])}


def icon(*, group: str, url: str) -> Icon | None:
    """The icon of a link of the group; None while there is none yet."""
    layout.place("bookmarks", group)
    daemon = current()
    entry = daemon.ask(lambda: daemon.state.loaded.groups.get(group))
    if entry is None:
        raise errors.not_found("bookmarks", group)
    if entry.parsed is None:  # a broken file without a last good value has no links
        raise NotFound(f'No web link "{url[: errors.SHOWN]}" in group "{group}".')
    return daemon.wait(daemon.state.gallery.icon, group, entry.parsed, url)
