"""Removed apps and groups: listed, and brought back."""

from __future__ import annotations

from typing import Any, TypedDict

from config.logs import timestamp
from dashboard.daemon import current
from dashboard.files import layout, removed
from dashboard.operations.common import text


class RemovedFile(TypedDict):
    """A file in backups/removed. `kind`: apps or bookmarks; `exists`: its name is in use again."""

    kind: str
    name: str
    file: str
    removedAt: str
    bytes: int
    exists: bool


class RemovedList(TypedDict):
    removed: list[RemovedFile]


class Restored(TypedDict):
    ok: bool
    kind: str
    name: str
    file: str


def list_removed() -> RemovedList:
    """The files in backups/removed, the newest first. `exists`: the name is in use again."""
    return {"removed": [_wire(one) for one in removed.listing()]}


def restore_removed(*, file: Any) -> Restored:
    """Put a removed file back under its name, byte for byte, and a link as that link; 409 `exists`
    if the name is in use.

    The copy in backups/removed is deleted, so that a file is never in both places.
    """
    one = removed.find(text("file", file))
    daemon = current()
    removed.put_back(one)
    daemon.sync()
    place = layout.place(one.kind, one.name)
    return {"ok": True, "kind": one.kind, "name": one.name, "file": place.file}


def _wire(one: removed.Removed) -> RemovedFile:
    return {
        "kind": one.kind,
        "name": one.name,
        "file": one.file,
        "removedAt": timestamp(one.at),
        "bytes": one.size,
        "exists": layout.place(one.kind, one.name).path.exists(),
    }
