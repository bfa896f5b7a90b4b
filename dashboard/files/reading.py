"""The files as they are at this moment: one is read when its stat has changed, and its last good
value is kept.

Nothing here depends on a watcher: a caller gets what the file holds at that moment.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Literal

from config.storage import files
from dashboard.files import entries, layout, tags
from dashboard.files.entries import LIMIT, Entry, FileError
from dashboard.files.layout import CONFIG, IGNORE, DashboardFile

KINDS: tuple[Literal["apps"], Literal["bookmarks"]] = ("apps", "bookmarks")
RACY_S = 0.05  # a file this young may change again and keep its stat


@dataclass(frozen=True, slots=True)
class Files:
    """Every file as it was at one moment; an Entry is the same object until its file changes."""

    apps: dict[str, Entry]
    groups: dict[str, Entry]
    config: Entry
    ignore: Entry
    problems: tuple[FileError, ...] = ()  # of all these files, and of files that are not loaded


@dataclass(frozen=True, slots=True)
class _ReadFile:
    stat: str
    entry: Entry
    settled: bool


_known: dict[str, _ReadFile] = {}  # by path, as text: all of them are checked every few seconds
_since: dict[tuple[str, str], FileError] = {}
_guard = threading.Lock()


def get(place: DashboardFile) -> Entry | None:
    """The file as it is now; None when there is none (a single file then has its defaults)."""
    path = place.path
    known = _known.get(str(path))
    stat = files.stat_of(path)
    if stat is None and not os.path.lexists(path):
        return _drop(place, path)
    if known and known.settled and known.stat == stat:
        return known.entry
    return _read(place, path, known)


def look() -> Files:
    """All files as they are now, each folder listed once; unchanged files only cost a stat."""
    listings = {kind: layout.listing(kind) for kind in KINDS}
    apps, groups = (_read_entries(kind, listings[kind]) for kind in KINDS)
    config, ignore = single(CONFIG), single(IGNORE)
    found = (config, ignore, *apps.values(), *groups.values())
    told = [error for entry in found for error in entry.file_errors]
    unloaded = [error for kind in KINDS for error in _listing_errors(kind, listings[kind])]
    return Files(apps, groups, config, ignore, (*told, *_with_since(unloaded)))


def single(place: DashboardFile) -> Entry:
    """config.yaml or ignore.yaml, which have their defaults where there is no file."""
    found = get(place)
    assert found is not None
    return found


def all_of(kind: Literal["apps", "bookmarks"]) -> dict[str, Entry]:
    """Every file of the kind by its name; as last read while the folder cannot be read."""
    return _read_entries(kind, layout.listing(kind))


def remember(place: DashboardFile, snapshot: files.Snapshot) -> Entry:
    """Store and return the entry of a file that was just written."""
    path = place.path
    known = _known.get(str(path))
    entry = _entry(place, snapshot.data, known.entry if known else None)
    _keep(path, _ReadFile(snapshot.stat, entry, settled=False))
    return entry


def clear() -> None:
    """Forget everything, including the last good values."""
    with _guard:
        _known.clear()
        _since.clear()


def _drop(place: DashboardFile, path: Path) -> Entry | None:
    _forget(path)
    return _absent(place) if place.single else None


@cache
def _absent(place: DashboardFile) -> Entry:
    """The entry of a single file that does not exist: always the same object."""
    return entries.entry(place, None)


def _read_entries(kind: Literal["apps", "bookmarks"], listing: layout.Listing) -> dict[str, Entry]:
    root = f"{layout.folder(kind)}/"
    before = {path: known for path, known in list(_known.items()) if path.startswith(root)}
    if listing.unread:
        return {known.entry.name: known.entry for known in before.values()}
    found = {}
    for place, path in zip(listing.places, listing.paths, strict=True):
        known = before.pop(path, None)
        same = known is not None and known.settled and known.stat == _stat(path)
        entry = known.entry if known and same else get(place)
        if entry is not None:
            found[place.name] = entry
    for path in before:
        _forget(Path(path))
    return found


def _read(place: DashboardFile, path: Path, known: _ReadFile | None) -> Entry | None:
    """Read a file that is new or changed; wait a moment for one that looks half-saved."""
    before = known.entry if known else None
    deadline = time.monotonic() + files.SETTLE_S
    while True:
        found = _once(place, path, before)
        if found is None:
            return get(place) if place.path != path else _drop(place, path)
        waits = _half(found, known) and time.monotonic() < deadline
        if not waits or _age_s(found.stat) >= files.SETTLE_S:
            break
        time.sleep(0.01)
    if known and known.entry == found.entry:  # the errors are the same as before
        found = replace(found, entry=known.entry)
    _keep(path, found)
    return found.entry


def _once(place: DashboardFile, path: Path, before: Entry | None) -> _ReadFile | None:
    unread = Entry(place, place.file, None)
    try:
        snapshot = files.read(path, limit=LIMIT)
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror}"
        return _ReadFile("0:0:0", entries.broken(unread, reason, before=before), settled=False)
    if snapshot is None and not os.path.lexists(path):
        return None
    if snapshot is None:
        reason = "the file is a symlink to nothing"
        return _ReadFile("0:0:0", entries.broken(unread, reason, before=before), settled=False)
    entry = _entry(place, snapshot.data, before)
    return _ReadFile(snapshot.stat, entry, settled=_age_s(snapshot.stat) > RACY_S)


def _entry(place: DashboardFile, data: bytes, before: Entry | None) -> Entry:
    """The same object while the bytes are the same, so that callers can compare by identity."""
    if before is not None and before.etag == tags.of(data):
        return before
    return entries.entry(place, data, before)


def _stat(path: str) -> str | None:
    """The same as files.stat_of, in a third of the time."""
    try:
        stat = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return f"{stat.st_mtime_ns}:{stat.st_size}:{stat.st_ino}"


def _half(found: _ReadFile, known: _ReadFile | None) -> bool:
    """Whether the file looks like an unfinished save: broken, or truncated and not yet filled."""
    if known is not None and known.entry.etag == found.entry.etag:
        return False
    return bool(found.entry.errors) or found.stat.split(":")[1] == "0"


def _age_s(stat: str) -> float:
    return time.time() - int(stat.split(":", 1)[0]) / 1e9


def _keep(path: Path, known: _ReadFile) -> None:
    with _guard:
        _known[str(path)] = known


def _forget(path: Path) -> None:
    with _guard:
        _known.pop(str(path), None)


def _listing_errors(
    kind: Literal["apps", "bookmarks"], listing: layout.Listing
) -> Iterator[FileError]:
    if listing.unread:
        yield FileError(kind, "error", listing.unread)
    for file, reason in listing.refused:
        yield FileError(file, "error", reason)
    for file in listing.kept:
        reason = "a save that could not be merged is kept here; take over what is missing from it"
        yield FileError(file, "warning", f"{reason}, then remove it")


def _with_since(found: Iterable[FileError]) -> list[FileError]:
    """The errors of files that are not loaded, each with the time at which it was first seen."""
    now = datetime.now(UTC)
    with _guard:
        known = dict(_since)
        _since.clear()
        for error in found:
            key = (error.file, error.message)
            _since[key] = known.get(key, replace(error, since=now))
        return list(_since.values())
