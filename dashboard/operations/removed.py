"""Removed apps and groups: listed, and brought back (7.5)."""

from __future__ import annotations

from typing import Any

from config.kernel.logs import timestamp
from dashboard.daemon import current
from dashboard.files import places, removed, store
from dashboard.operations.caller import Local, Record, text


def list_removed(caller: Local) -> Record:
    """What lies in backups/removed, the newest first. `exists`: its name is taken again."""
    return {"removed": [_wire(one) for one in removed.listing()]}


def restore_removed(caller: Local, *, file: Any) -> Record:
    """Put a removed file back under its name, byte for byte; 409 `exists` when that is taken.

    The copy in backups/removed goes, so that a file is either here or there.
    """
    one = removed.find(text("file", file))
    daemon = current()
    store.put_text(one.kind, one.name, removed.text(one), if_none_match=True)
    removed.forget(one)
    daemon.sync()
    place = places.place(one.kind, one.name)
    return {"ok": True, "kind": one.kind, "name": one.name, "file": place.file}


def _wire(one: removed.Removed) -> Record:
    return {
        "kind": one.kind,
        "name": one.name,
        "file": one.file,
        "removedAt": timestamp(one.at),
        "bytes": one.size,
        "exists": places.place(one.kind, one.name).path.exists(),
    }
