"""Files as text, for the editor."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from dashboard.daemon import current
from dashboard.files import store
from dashboard.files.layout import IGNORE
from dashboard.files.store import Kind
from dashboard.operations.bookmarks import written_group
from dashboard.operations.common import Record, Written, invalid, written_app

NAMES = {"apps": "slug", "bookmarks": "group"}


class Text(TypedDict):
    """A file as text; with `slug` for an app, `group` for a group, neither for ignore.yaml."""

    slug: NotRequired[str]
    group: NotRequired[str]
    text: str
    etag: str


def get_text(*, kind: Kind, name: str) -> Text:
    """The text of the file, valid or not."""
    text, etag = store.text(kind, name)
    if kind == "apps":
        return {"slug": name, "text": text, "etag": etag}
    return {"group": name, "text": text, "etag": etag}


def put_text(
    *,
    kind: Kind,
    name: str,
    body: Any,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> Written:
    """Make the file hold exactly this text. `body` is `{text}`; the other fields of a GET are
    accepted and ignored."""
    _only_text(body, NAMES[kind])
    daemon = current()
    _entry, created = store.put_text(
        kind, name, body.get("text"), if_match=if_match, if_none_match=if_none_match
    )
    written = written_app if kind == "apps" else written_group
    return written(daemon, name, created=created)


def get_ignore() -> Text:
    """The text of ignore.yaml, valid or not; "" if there is none."""
    text, etag = store.text("ignore", IGNORE.name)
    return {"text": text, "etag": etag}


def put_ignore(*, body: Any, if_match: str | None = None, if_none_match: bool = False) -> Written:
    """Make ignore.yaml hold exactly this text; it is in effect when this returns."""
    _only_text(body)
    daemon = current()
    _entry, created = store.put_text(
        "ignore", IGNORE.name, body.get("text"), if_match=if_match, if_none_match=if_none_match
    )
    daemon.sync()
    record = get_ignore()
    return Written(record, record["etag"], created)


def _only_text(body: Record, *names: str) -> None:
    other = sorted(set(body) - {"text", "etag", *names})
    if other:
        raise invalid(other[0], "is not known here; send text")
