"""Removal of apps and groups: they move to backups/removed, where the newest of each name are kept
permanently."""

from __future__ import annotations

import os
from pathlib import Path

from config.storage import files
from dashboard.files import errors, layout, tags
from dashboard.files.layout import DashboardFile
from dashboard.files.writing import Now, Write, keep, keep_whole


def remove(place: DashboardFile, condition: tags.Condition | None) -> str:
    """Move the file away, valid or not. Returns its new path below the dashboard's home.

    Of a symlink only the link moves; its target stays where it is. A `.yml` that was hidden
    by the `.yaml` is moved with it, because it would bring the name back.
    """
    kept = _move(place, condition)
    while os.path.lexists(place.path):
        _move(place, None)
    return str(kept.relative_to(layout.home()))


def _move(place: DashboardFile, condition: tags.Condition | None) -> Path:
    if place.path.is_symlink() or _is_large(place.path):
        return _move_whole(place, condition)
    copies: dict[bytes, Path] = {}

    def change(now: Now) -> Now:
        if now is None:
            raise errors.not_found(place.kind, place.name)
        if now not in copies:
            copies[now] = keep(place, now)
        return None

    try:
        Write(place, change, condition, replaces=True).run()
    except Exception:
        for copy in copies.values():
            copy.unlink(missing_ok=True)  # the file itself is still where it was
        raise
    return list(copies.values())[-1]


def _move_whole(place: DashboardFile, condition: tags.Condition | None) -> Path:
    """Move a link, or a file that is too large to be read."""
    path = place.path
    try:
        with files.writing(path.name):
            if condition and not condition.holds(etag := _etag(path)):
                raise errors.changed(place.file, etag)
            kept = keep_whole(place)
            path.unlink()
    except files.CannotWrite as error:
        raise errors.read_only(getattr(error.__cause__, "strerror", None) or "") from error
    return kept


def _etag(path: Path) -> str:
    """The tag of the content; that of nothing if it cannot be read, so that only `*` fits it."""
    try:
        found = files.read(path)
    except OSError:
        found = None
    return tags.of(found.data if found else b"")


def _is_large(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > files.READ
