"""The removed files in backups/removed: listed, and brought back."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from config.errors import NotFound, printable
from config.storage import files
from dashboard.files import errors, layout, store
from dashboard.files.store import Kind

KINDS: tuple[Kind, ...] = ("apps", "bookmarks")
FILE = re.compile(
    r"backups/removed/(?P<kind>apps|bookmarks)/"
    rf"(?P<name>{layout.SLUG.pattern})\.(?P<at>\d{{8}}T\d{{6}}Z)(?:-\d+)?\.yaml"
)
STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Removed:
    """`file`: its path below the dashboard's home, as a removal returns it; `size` in bytes, of a
    link that of the file it leads to."""

    kind: Kind
    name: str
    file: str
    at: datetime
    size: int

    @property
    def path(self) -> Path:
        return layout.home() / self.file


def listing() -> list[Removed]:
    """Every removed file, the newest first; files with other names are ignored."""
    found = []
    for kind in KINDS:
        folder = layout.home() / "backups" / "removed" / kind
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            continue
        found += [one for entry in entries if (one := _find_removed(f"{kind}/{entry.name}"))]
    return sorted(found, key=lambda one: (one.at, one.file), reverse=True)


def find(file: str) -> Removed:
    """The removed file at this path. NotFound for any other text."""
    found = _find_removed(file.removeprefix("backups/removed/")) if FILE.fullmatch(file) else None
    if found is None:
        raise NotFound(f'No removed file "{printable(file)}".')
    return found


def put_back(one: Removed) -> None:
    """Put the file back under its name, a link as a link. Conflict `exists` if the name is in
    use."""
    if one.path.is_symlink():
        _link_back(one)
    else:
        store.put_text(one.kind, one.name, _text(one), if_none_match=True)
    _forget(one)


def _link_back(one: Removed) -> None:
    place = layout.place(one.kind, one.name)
    if (entry := store.get(one.kind, one.name)) is not None:
        raise errors.exists(place.file, entry.etag)
    try:
        with files.writing(place.file):
            place.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            place.path.symlink_to(layout.text_of_link(one.path, place.path.parent))
    except files.CannotWrite as error:
        raise errors.read_only(getattr(error.__cause__, "strerror", None) or "") from error


def _text(one: Removed) -> str:
    try:
        found = files.read(one.path)
    except OSError as error:
        raise errors.unreadable(one.file, error.strerror or "") from error
    if found is None:
        raise NotFound(f'No removed file "{one.file}".')
    try:
        return found.data.decode()
    except UnicodeDecodeError as error:
        raise errors.invalid_file(one.file, None, None, "it is not UTF-8 text") from error


def _forget(one: Removed) -> None:
    """Delete the copy, as the file has been put back in its place."""
    try:
        one.path.unlink(missing_ok=True)
    except OSError as error:
        raise errors.read_only(error.strerror or "") from error


def _find_removed(below: str) -> Removed | None:
    """The removed file at a path below backups/removed; None when there is none."""
    match = FILE.fullmatch(f"backups/removed/{below}")
    if match is None:
        return None
    try:
        path = layout.home() / match[0]
        size = (path.stat() if path.is_file() else path.lstat()).st_size
        at = datetime.strptime(match["at"], STAMP).replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None
    kind: Kind = "apps" if match["kind"] == "apps" else "bookmarks"
    return Removed(kind, match["name"], match[0], at, size)
