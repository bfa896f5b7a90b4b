"""Removed apps and groups: moved to backups/removed, whose newest of each name stay for good."""

from __future__ import annotations

import os
from pathlib import Path

from config.storage import files
from dashboard.files import errors, layout, tags
from dashboard.files.layout import DashboardFile
from dashboard.files.writing import Now, Write, keep


def remove(place: DashboardFile, condition: tags.Condition | None) -> str:
    """Move the file away, good or broken. Where it is now, as a path below home.

    Of a symlink only the link goes; what it names stays where it is. A `.yml` that stood behind
    the `.yaml` goes with it, for it would bring the name back.
    """
    kept = _move(place, condition)
    while os.path.lexists(place.path):
        _move(place, None)
    return str(kept.relative_to(layout.home()))


def _move(place: DashboardFile, condition: tags.Condition | None) -> Path:
    copies: dict[bytes, Path] = {}

    def change(now: Now) -> Now:
        if now is None:
            raise errors.not_found(place.kind, place.name)
        if now not in copies:
            copies[now] = keep(place, now)
        return None

    write = Write(place, change, condition, replaces=True)
    try:
        if place.path.is_symlink():
            _unlink(place.path, write)
        else:
            write.run()
    except Exception:
        for copy in copies.values():
            copy.unlink(missing_ok=True)  # the file itself is still where it was
        raise
    return list(copies.values())[-1]


def _unlink(link: Path, write: Write) -> None:
    try:
        with files.writing(link.name):
            snapshot = files.read(link) if link.is_file() else None
            write(snapshot.data if snapshot else b"")
            link.unlink()
    except files.CannotWrite as error:
        raise errors.read_only(getattr(error.__cause__, "strerror", None) or "") from error
