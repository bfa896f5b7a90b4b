"""Bookmark groups: listed, read, written, removed."""

from __future__ import annotations

from typing import Any

from dashboard.daemon import Daemon, current
from dashboard.files import errors, places, store
from dashboard.operations.caller import Local, Record, Written


def list_bookmarks(caller: Local, *, group: str | None = None) -> Record:
    """Every group, or the one."""
    if group is not None:
        return {"groups": [get_bookmarks(caller, group=group)]}
    daemon = current()
    return {"groups": daemon.ask(daemon.groups)}


def get_bookmarks(caller: Local, *, group: str) -> Record:
    """The Group of section 7."""
    places.place("bookmarks", group)
    return _record(current(), group)


def put_bookmarks(
    caller: Local,
    *,
    group: str,
    config: Any,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> Written:
    """Make the file hold exactly this mapping."""
    daemon = current()
    _entry, created = store.put(
        "bookmarks", group, config, if_match=if_match, if_none_match=if_none_match
    )
    return written_group(daemon, group, created=created)


def patch_bookmarks(
    caller: Local, *, group: str, patch: Any, if_match: str | None = None
) -> Written:
    """Merge into the file (7.4)."""
    daemon = current()
    store.patch("bookmarks", group, patch, if_match=if_match)
    return written_group(daemon, group, created=False)


def remove_bookmarks(caller: Local, *, group: str, if_match: str | None = None) -> Record:
    """Move the file to backups/removed (7.5)."""
    daemon = current()
    removed = store.remove("bookmarks", group, if_match=if_match)
    daemon.sync()
    return {"ok": True, "removed": removed}


def written_group(daemon: Daemon, group: str, *, created: bool) -> Written:
    """The answer to a write of a group's file, once the daemon knows what is written."""
    daemon.sync()
    record = _record(daemon, group)
    return Written(record, record["etag"], created)


def _record(daemon: Daemon, group: str) -> Record:
    found = daemon.ask(daemon.group, group)
    if found is None:
        raise errors.not_found("bookmarks", group)
    return found
