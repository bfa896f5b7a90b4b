"""Files as text: what the editor reads and saves (7.6)."""

from __future__ import annotations

from typing import Any

from dashboard.daemon import current
from dashboard.files import store
from dashboard.files.places import IGNORE
from dashboard.files.store import Kind
from dashboard.operations.bookmarks import written_group
from dashboard.operations.caller import Local, Record, Written, invalid, written_app

NAMES = {"apps": "slug", "bookmarks": "group"}


def get_text(caller: Local, *, kind: Kind, name: str) -> Record:
    """The file as it is, good or broken."""
    text, etag = store.text(kind, name)
    return {NAMES[kind]: name, "text": text, "etag": etag}


def put_text(
    caller: Local,
    *,
    kind: Kind,
    name: str,
    body: Any,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> Written:
    """Make the file hold exactly this text. `body` is `{text}`; what GET added is let through."""
    _only_text(body, NAMES[kind])
    daemon = current()
    _entry, created = store.put_text(
        kind, name, body.get("text"), if_match=if_match, if_none_match=if_none_match
    )
    written = written_app if kind == "apps" else written_group
    return written(daemon, name, created=created)


def get_ignore(caller: Local) -> Record:
    """ignore.yaml as it is, good or broken; "" where there is none."""
    text, etag = store.text("ignore", IGNORE.name)
    return {"text": text, "etag": etag}


def put_ignore(
    caller: Local, *, body: Any, if_match: str | None = None, if_none_match: bool = False
) -> Written:
    """Make ignore.yaml hold exactly this text; what it hides follows at once."""
    _only_text(body)
    daemon = current()
    _entry, created = store.put_text(
        "ignore", IGNORE.name, body.get("text"), if_match=if_match, if_none_match=if_none_match
    )
    daemon.sync()
    record = get_ignore(caller)
    return Written(record, record["etag"], created)


def _only_text(body: Record, *names: str) -> None:
    other = sorted(set(body) - {"text", "etag", *names})
    if other:
        raise invalid(other[0], "is not known here; send text")
