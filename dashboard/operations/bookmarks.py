"""Bookmark groups: listed, read, written, removed."""

from __future__ import annotations

from typing import Any, TypedDict

from dashboard.daemon import Daemon, Views, current, read
from dashboard.files import errors, layout, store
from dashboard.operations.common import Removed, Written
from dashboard.registry.records import Group


class GroupList(TypedDict):
    groups: list[Group]


def list_bookmarks() -> GroupList:
    return {"groups": read(Views.groups)}


def get_bookmarks(*, group: str) -> Group:
    """The record Group."""
    layout.place("bookmarks", group)
    return _record(current(), group)


def put_bookmarks(
    *,
    group: str,
    config: Any,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> Written:
    """Make the group's file hold exactly this mapping."""
    daemon = current()
    _entry, created = store.put(
        "bookmarks", group, config, if_match=if_match, if_none_match=if_none_match
    )
    return written_group(daemon, group, created=created)


def patch_bookmarks(*, group: str, patch: Any, if_match: str | None = None) -> Written:
    """Merge the patch into the group's file."""
    daemon = current()
    store.patch("bookmarks", group, patch, if_match=if_match)
    return written_group(daemon, group, created=False)


def remove_bookmarks(*, group: str, if_match: str | None = None) -> Removed:
    """Move the group's file to backups/removed."""
    daemon = current()
    removed = store.remove("bookmarks", group, if_match=if_match)
    daemon.sync()
    return {"ok": True, "removed": removed}


def written_group(daemon: Daemon, group: str, *, created: bool) -> Written:
    """The answer to a write of a group's file, once the daemon has read the file."""
    daemon.sync()
    record = _record(daemon, group)
    return Written(record, record["etag"] or "", created)


def _record(daemon: Daemon, group: str) -> Group:
    found = daemon.ask(daemon.views.group, group)
    if found is None:
        raise errors.not_found("bookmarks", group)
    return found
