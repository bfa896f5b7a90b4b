"""The `service` block that turns a lost command into a service of its app."""

from __future__ import annotations

import glob
from typing import Any

from dashboard.files import errors, store
from dashboard.files.entries import Entry as File
from dashboard.files.schema.app import NAME, AppFile
from dashboard.reboot.entry import JournalEntry


def write(entry: JournalEntry, slug: str) -> AppFile:
    """Add the block to apps/<slug>.yaml, which is created if there is none. Returns the app's
    file.

    409 `exists` if the file has a block, `invalid_file`, `changed`; 400 for values that a file
    cannot hold. Blocks.
    """
    known = store.get("apps", slug)
    written = _first(entry, slug) if known is None else _more(entry, slug, known)
    app: AppFile = written.parsed
    return app


def environment(entry: JournalEntry) -> dict[str, str]:
    """The kept environment. PORT is as the command had it, unset if it had none, because the port
    of the app may be that of another of its servers; PORT is the app's if nothing is known."""
    return {"PORT": "", **entry.env} if entry.env else {}


def _first(entry: JournalEntry, slug: str) -> File:
    mapping = {
        "name": entry.name[:NAME],
        "port": entry.port,
        "match": {"cwd": glob.escape(_listened_in(entry))},
        "service": _block(entry),
    }
    return store.put("apps", slug, mapping, if_none_match=True)[0]


def _listened_in(entry: JournalEntry) -> str:
    """The directory it is recognised by; it may be below the one it was started in, as in a
    workspace of packages."""
    told = (entry.identity or {}).get("cwd")
    return told if isinstance(told, str) and told.startswith("/") else entry.cwd


def _more(entry: JournalEntry, slug: str, known: File) -> File:
    """Add the block to an existing file. Refused if it has changed: it may have a block by
    then."""
    value = known.value or {}
    if value.get("service") and known.etag is not None:
        raise errors.exists(known.file, known.etag)
    patch = {"service": _block(entry)} | ({} if value.get("port") else {"port": entry.port})
    return store.patch("apps", slug, patch, if_match=known.etag)


def _block(entry: JournalEntry) -> dict[str, Any]:
    env = environment(entry)
    block = {"command": [*entry.argv], "cwd": entry.cwd, "autostart": True}
    return block | ({"env": env} if env else {})
