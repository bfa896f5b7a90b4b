"""The `service` block that makes a lost command a service of its app."""

from __future__ import annotations

import glob
from typing import Any

from dashboard.files import errors, store
from dashboard.files.entries import Entry as File
from dashboard.files.schema.app import NAME, AppFile
from dashboard.reboot.entry import JournalEntry


def write(entry: JournalEntry, slug: str) -> AppFile:
    """Put the block into apps/<slug>.yaml, which is made when there is none. The app it is now.

    409 `exists` when it has one, `invalid_file`, `changed`; 400 for what a file cannot say.
    Blocks.
    """
    known = store.get("apps", slug)
    written = _first(entry, slug) if known is None else _more(entry, slug, known)
    app: AppFile = written.parsed
    return app


def environment(entry: JournalEntry) -> dict[str, str]:
    """PORT is not of it: it comes from the port of the app."""
    return {name: value for name, value in entry.env.items() if name != "PORT"}


def _first(entry: JournalEntry, slug: str) -> File:
    mapping = {
        "name": entry.name[:NAME],
        "port": entry.port,
        "match": {"cwd": glob.escape(_listened_in(entry))},
        "service": _block(entry),
    }
    return store.put("apps", slug, mapping, if_none_match=True)[0]


def _listened_in(entry: JournalEntry) -> str:
    """Where it is recognised, which may lie below where it was started, as a workspace's does."""
    told = (entry.identity or {}).get("cwd")
    return told if isinstance(told, str) and told.startswith("/") else entry.cwd


def _more(entry: JournalEntry, slug: str, known: File) -> File:
    """Refused when the file changes meanwhile: the block may be there by then."""
    value = known.value or {}
    if value.get("service") and known.etag is not None:
        raise errors.exists(known.file, known.etag)
    patch = {"service": _block(entry)} | ({} if value.get("port") else {"port": entry.port})
    return store.patch("apps", slug, patch, if_match=known.etag)


def _block(entry: JournalEntry) -> dict[str, Any]:
    env = environment(entry)
    block = {"command": [*entry.argv], "cwd": entry.cwd, "autostart": True}
    return block | ({"env": env} if env else {})
