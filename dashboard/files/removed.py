"""The removed files in backups/removed: listed, and brought back."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from config.errors import NotFound, printable
from config.storage import files
from dashboard.files import errors, layout
from dashboard.files.store import Kind

KINDS: tuple[Kind, ...] = ("apps", "bookmarks")
FILE = re.compile(
    r"backups/removed/(?P<kind>apps|bookmarks)/"
    rf"(?P<name>{layout.SLUG.pattern})\.(?P<at>\d{{8}}T\d{{6}}Z)(?:-\d+)?\.yaml"
)
STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Removed:
    """`file`: its path below the dashboard's home, as a removal returns it; `size` in bytes."""

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


def text(one: Removed) -> str:
    """The exact text of the file."""
    found = files.read(one.path)
    if found is None:
        raise NotFound(f'No removed file "{one.file}".')
    try:
        return found.data.decode()
    except UnicodeDecodeError as error:
        raise errors.invalid_file(one.file, None, None, "it is not UTF-8 text") from error


def forget(one: Removed) -> None:
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
        size = (layout.home() / match[0]).lstat().st_size
        at = datetime.strptime(match["at"], STAMP).replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None
    kind: Kind = "apps" if match["kind"] == "apps" else "bookmarks"
    return Removed(kind, match["name"], match[0], at, size)
