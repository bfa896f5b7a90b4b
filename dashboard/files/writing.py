"""Changes to one file, each applied to the file as it is at that moment.

Every byte outside the changed values stays. A refused change leaves the file as it is. The steps:
docs/design/dashboard.md#writing-a-file
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.errors import Conflict
from config.storage import files, yamlio
from dashboard.files import bodies, entries, errors, layout, masks, reading, tags
from dashboard.files.entries import LIMIT, Entry, Reading
from dashboard.files.fields import Issue
from dashboard.files.layout import MOST, DashboardFile

ROOM = 4 * LIMIT  # a result over LIMIT is refused here, with our own message
_UNREADABLE = {errno.ELOOP, errno.EFBIG}  # the fault is the file's, not that of the disk
Now = bytes | None
Change = Callable[[dict[str, Any]], Mapping[str, Any]]


class _NameTaken(Exception):
    """Another removed file has this name already."""


@dataclass(slots=True)
class Write:
    """One change of one file, called by the kernel's writer with the content the file has then.

    `replaces`: the change does not build on that content, so a late save by hand through an old
    file handle is kept beside the file instead of being overwritten.
    """

    place: DashboardFile
    change: Callable[[Now], Now]
    condition: tags.Condition | None
    replaces: bool = False
    created: bool = False
    done: bool = False

    def __call__(self, now: Now) -> Now:
        if self.done and self.replaces:
            raise self._changed_error(now)
        etag = etag_of(self.place, now)
        if self.condition is not None and not self.condition.holds(etag):
            raise self._changed_error(now)
        self.created = now is None
        return self.change(now)

    def run(self) -> files.Snapshot | None:
        """Apply the change; what the file holds then. After a refusal the file is unchanged."""
        path = self.place.path
        if path.exists() and not path.is_file():
            raise errors.no_file(self.place.file)
        try:
            self._make_room(path)
            snapshot = files.change(path, self)
        except files.CannotWrite as error:
            cause = error.__cause__
            reason = getattr(cause, "strerror", None) or str(error)
            if getattr(cause, "errno", None) in _UNREADABLE:
                raise errors.unreadable(self.place.file, reason) from error
            raise errors.read_only(reason) from error
        except Conflict as error:
            if error.code == Conflict.code:  # the kernel's conflict: the file kept changing
                raise self._changed_error(None) from error
            raise
        self.done = True
        return snapshot

    def _make_room(self, path: Path) -> None:
        """Make the folder for its first file; a refused change makes no folder."""
        if not layout.writable(path):
            raise errors.read_only(f"{self.place.file} is a link that leaves your home directory")
        if not path.parent.is_dir():
            self(None)
            with files.writing(path.name):
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _changed_error(self, now: Now) -> Conflict:
        return errors.changed(self.place.file, etag_of(self.place, now))


def etag_of(place: DashboardFile, data: Now) -> str | None:
    if data is None:
        return tags.ABSENT if place.single else None
    return tags.of(data)


def put(
    place: DashboardFile, sent: object, condition: tags.Condition | None, *, new: bool
) -> tuple[Entry, bool]:
    """Make the file hold exactly the mapping; with `new` an existing file is refused.

    Returns the entry, and whether the file was created. Content that is replaced without a
    condition is kept among the removed files, because the caller may not have read it.
    """
    mapping = bodies.mapping(place, sent)
    bodies.refuse(entries.check(place, mapping))

    def change(now: Now) -> Now:
        if new and now is not None:
            raise errors.exists(place.file, tags.of(now))
        made = apply(place, now, lambda _old: mapping)
        if now is not None and _is_unread(now, made, condition):
            keep(place, now)
        return made

    return _write(Write(place, change, condition, replaces=True))


def patch(place: DashboardFile, sent: object, condition: tags.Condition | None) -> Entry:
    """Merge as RFC 7386 says: mappings are merged, null removes a key, other values replace."""
    mapping = bodies.mapping(place, sent)

    def change(now: Now) -> Now:
        if now is None:
            raise errors.not_found(place.kind, place.name)
        return apply(place, now, lambda old: merge(old, mapping))

    return _write(Write(place, change, condition))[0]


def edit(place: DashboardFile, change: Change, condition: tags.Condition | None) -> Entry:
    """Apply `change` to the mapping of the file; a missing file counts as an empty mapping."""
    return _write(Write(place, lambda now: apply(place, now, change), condition))[0]


def put_text(
    place: DashboardFile, sent: object, condition: tags.Condition | None, *, new: bool
) -> tuple[Entry, bool]:
    """Make the file hold exactly this text; with a matching If-Match even when the file is broken.

    The replaced content is kept among the removed files when it is not UTF-8, or when it is
    replaced without a condition.
    """
    data = bodies.text(place, sent)

    def change(now: Now) -> Now:
        if new and now is not None:
            raise errors.exists(place.file, tags.of(now))
        if now is not None and now != data and condition is None:
            _read(place, now)
        if now is not None and (not _is_text(now) or _is_unread(now, data, condition)):
            keep(place, now)
        return data

    return _write(Write(place, change, condition, replaces=True))


def keep(place: DashboardFile, data: bytes) -> Path:
    """Save a file's bytes among the removed files, under a name with a time stamp. Returns the
    path.

    Agents that replace a file again and again would fill the disk, so old copies of the same name
    are deleted.
    """
    return _kept(place, lambda path: files.change(path, lambda now: _fresh(now, data)))


def keep_whole(place: DashboardFile) -> Path:
    """Save a file among the removed files without reading it, a link as a link that leads to the
    same place."""
    file = place.path

    def save(path: Path) -> None:
        if file.is_symlink():
            path.symlink_to(layout.text_of_link(file, path.parent))
        else:
            path.hardlink_to(file)

    return _kept(place, save)


def _kept(place: DashboardFile, save: Callable[[Path], object]) -> Path:
    folder = layout.home() / "backups" / "removed" / place.kind
    with files.writing(place.file):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in layout.stamped_paths(folder, place.name):
        try:
            save(path)
        except (_NameTaken, FileExistsError):
            continue
        for outlived in set(layout.expired_paths(folder, place.name)) - {path}:
            outlived.unlink(missing_ok=True)
        return path
    raise errors.read_only("no free name among the removed files")


def _fresh(now: Now, data: bytes) -> bytes:
    if now is not None:
        raise _NameTaken
    return data


def _write(write: Write) -> tuple[Entry, bool]:
    place = write.place
    if place.kind in MOST and not os.path.lexists(place.path) and layout.full(place.kind):
        bodies.refuse([Issue((), f"there are {MOST[place.kind]} {place.kind}; no more fit")])
    snapshot = write.run()
    assert snapshot is not None
    return reading.remember(place, snapshot), write.created


def apply(place: DashboardFile, now: Now, change: Change) -> bytes:
    """The bytes with the change made, otherwise unchanged. BadValues, or Conflict
    `invalid_file`."""
    old = {} if now is None else _read(place, now).value
    wanted = masks.restore(dict(change(old)), old)
    bodies.refuse([*masks.check(wanted, old), *entries.check(place, wanted)])
    if now is None:
        made = yamlio.dump(wanted)
    elif yamlio.same(wanted, old):
        return now
    else:
        made = _splice(place, now, wanted)
    if len(made) > LIMIT:
        raise errors.too_large()
    bodies.refuse_unreadable(place, made, wanted)
    return made


def _splice(place: DashboardFile, now: bytes, wanted: dict[str, Any]) -> bytes:
    try:
        return yamlio.set_entry(now, (), wanted, limit=ROOM, shared=True)
    except yamlio.NotSpliceable as error:
        raise errors.not_editable(place.file, error.line, error.column, error.reason) from error


def _read(place: DashboardFile, data: bytes) -> Reading:
    """The parsed file. Conflict `invalid_file` when it has a mistake."""
    try:
        found = entries.read(place, data)
    except yamlio.YamlError as error:
        raise errors.invalid_file(place.file, error.line, error.column, error.reason) from error
    if found.wrong:
        first = found.wrong[0]
        line, column = found.at(first)
        raise errors.invalid_file(place.file, line, column, f"{first.where}: {first.message}")
    return found


def merge(now: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(now) if isinstance(now, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = merge(result.get(key), value)
        else:
            result[key] = value
    return result


def _is_unread(now: bytes, made: bytes, condition: tags.Condition | None) -> bool:
    return condition is None and made != now


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
