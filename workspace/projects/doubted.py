"""A project.yaml that is not followed because a turn may have written it: what it would change,
and a person's decision to follow it.

The decision is about exactly the bytes that were shown. No turn and no client can make it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from config.errors import NotFound
from config.storage import covered, files, yamlio
from workspace.projects.project import FILE, Project

NOT_A_PERSON = "only a person may let a doubted project.yaml be followed, on the project's page"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed key as YAML, `before` in the content in effect; None if the key is missing."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """The changes in a file that waits for a person's decision."""

    etag: str
    changes: tuple[Change, ...]


def waiting(project: Project) -> Waiting | None:
    """What would change if the file were followed as it is now; None if it is not doubted."""
    if project.error != covered.DOUBTED:
        return None
    now = files.read(project.path, within=project.dir)
    was = covered.instead(project.path, now.etag, now.stat) if now else None
    if now is None or was is None:
        return None
    return Waiting(now.etag, tuple(_changes(_mapping(was), _mapping(now.data))))


def follow(project: Project, etag: str) -> None:
    """Follow the file with this etag. Conflict if it has changed since, NotFound if it is gone."""
    try:
        with files.writing(FILE):
            covered.confirm(project.path, etag)
    except FileNotFoundError:
        raise NotFound(f"{project.slug} has no {FILE} any more") from None


def _mapping(data: bytes) -> Mapping[str, Any]:
    """The parsed file; {} if it does not parse, as it grants nothing then."""
    try:
        value = yamlio.parse(data).merged_value()
    except yamlio.YamlError:
        return {}
    return value if isinstance(value, dict) else {}


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    keys = [*before, *(key for key in after if key not in before)]
    told = ((key, _visible(before, key), _visible(after, key)) for key in keys)
    return [Change(str(key), was, now) for key, was, now in told if was != now]


def _visible(data: Mapping[str, Any], key: str) -> str | None:
    """The key as YAML, None if missing; invisible characters are escaped, so that no line can
    look like another one."""
    if key not in data:
        return None
    text = yamlio.dump({key: data[key]}).decode()
    return "".join(char if char.isprintable() or char == "\n" else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode()
