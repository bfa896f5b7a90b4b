"""The files of the dashboard: read as they are at this moment, changed one at a time.

`if_match` is the header as it was sent. Every refusal has its own code and sentence (errors.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from config.storage import files, yamlio
from dashboard.files import errors, layout, reading, removal, tags, writing
from dashboard.files.entries import Entry, FileError
from dashboard.files.layout import CONFIG, IGNORE
from dashboard.files.reading import Files
from dashboard.files.schema import same_rule

Kind = Literal["apps", "bookmarks"]
Texts = Literal["apps", "bookmarks", "ignore"]  # config.yaml is read-only here


def look() -> Files:
    """All files, for the cost of their stats; an Entry is the same object until it changes."""
    return reading.look()


def apps() -> dict[str, Entry]:
    """Every declared app by its slug, ordered by slug; `parsed` is an AppFile or None."""
    return reading.all_of("apps")


def groups() -> dict[str, Entry]:
    """Every bookmark group; `parsed` is a Group or None."""
    return reading.all_of("bookmarks")


def config() -> Entry:
    """config.yaml; `parsed` is always a Config, `value` is the mapping that the file has."""
    return reading.single(CONFIG)


def ignore() -> Entry:
    """ignore.yaml; `parsed` is always a tuple of IgnoreRule."""
    return reading.single(IGNORE)


def problems() -> list[FileError]:
    """Every error and warning of every file, including files that are not loaded."""
    return [*look().problems]


def get(kind: Kind, name: str) -> Entry | None:
    """The app or group, None when it has no file. `bad_slug` when the name is not a slug."""
    return reading.get(layout.place(kind, name))


def put(
    kind: Kind,
    name: str,
    mapping: object,
    *,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> tuple[Entry, bool]:
    """Make the file hold exactly the mapping. Returns the entry, and whether the file is new."""
    place, condition = layout.place(kind, name), tags.condition(if_match)
    return writing.put(place, mapping, condition, new=if_none_match)


def patch(kind: Kind, name: str, patch: object, *, if_match: str | None = None) -> Entry:
    """Merge the patch into the file. NotFound when there is none."""
    return writing.patch(layout.place(kind, name), patch, tags.condition(if_match))


def remove(kind: Kind, name: str, *, if_match: str | None = None) -> str:
    """Move the file to `backups/removed/<kind>/<name>.<stamp>.yaml`. Returns that path."""
    return removal.remove(layout.place(kind, name), tags.condition(if_match))


def text(kind: Texts, name: str) -> tuple[str, str]:
    """The file as text, valid or not, and its ETag; "" for ignore.yaml if there is none."""
    place = layout.place(kind, name)
    try:
        found = files.read(place.path)
    except OSError as error:
        raise errors.unreadable(place.file, error.strerror or "") from error
    if found is None:
        if place.single:
            return "", tags.ABSENT
        raise errors.not_found(kind, name)
    return found.data.decode(errors="replace"), tags.of(found.data)


def put_text(
    kind: Texts,
    name: str,
    text: object,
    *,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> tuple[Entry, bool]:
    """Make the file hold exactly this text, if it is valid."""
    place, condition = layout.place(kind, name), tags.condition(if_match)
    return writing.put_text(place, text, condition, new=if_none_match)


def add_ignore(
    rule: Mapping[str, Any], *, if_match: str | None = None
) -> tuple[Entry, dict[str, Any]]:
    """Append a rule to ignore.yaml, unless it has one that covers the same.

    Returns the entry, and the rule that the file has now.
    """
    now = yamlio.Quoted(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    standing: dict[str, Any] = {}

    def change(old: dict[str, Any]) -> dict[str, Any]:
        rules = list(old.get("rules") or [])
        known = next((one for one in rules if same_rule(one, rule)), None)
        standing.clear()
        standing.update(known or {**rule, "at": now})
        return old if known else {**old, "rules": [*rules, dict(standing)]}

    entry = writing.edit(IGNORE, change, tags.condition(if_match))
    return entry, {**standing}


__all__ = [
    "CONFIG", "IGNORE", "Files", "add_ignore", "apps", "config", "get", "groups", "ignore", "look",
    "patch", "problems", "put", "put_text", "remove", "text",
]  # fmt: skip
