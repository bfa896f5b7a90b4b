"""A project.yaml that is not followed, as a turn may have written it: what it would change, and a
person's word that it holds all the same.

The word is for exactly the bytes that were shown. Nothing that a turn or a client calls gives it.
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
    """One key of the file as YAML, `before` in what holds; None where it is not there."""

    key: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a file says that waits for a person's word."""

    etag: str
    changes: tuple[Change, ...]


def waiting(project: Project) -> Waiting | None:
    """What would change if the file were followed as it is now; None where it is not doubted."""
    if project.error != covered.DOUBTED:
        return None
    now = files.read(project.path, within=project.dir)
    was = covered.instead(project.path, now.etag, now.stat) if now else None
    if now is None or was is None:
        return None
    return Waiting(now.etag, tuple(_changes(_mapping(was), _mapping(now.data))))


def follow(project: Project, etag: str) -> None:
    """Let the file hold that has this etag. Conflict when it says something else by now."""
    try:
        with files.writing(FILE):
            covered.confirm(project.path, etag)
    except FileNotFoundError:
        raise NotFound(f"{project.slug} has no {FILE} any more") from None


def _mapping(data: bytes) -> Mapping[str, Any]:
    """Nothing of a file that does not parse: it grants nothing."""
    try:
        value = yamlio.parse(data).merged()
    except yamlio.YamlError:
        return {}
    return value if isinstance(value, dict) else {}


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    keys = [*before, *(key for key in after if key not in before)]
    told = ((key, _told(before, key), _told(after, key)) for key in keys)
    return [Change(str(key), was, now) for key, was, now in told if was != now]


def _told(data: Mapping[str, Any], key: str) -> str | None:
    """With what is not seen written out: a line must not look like another one."""
    if key not in data:
        return None
    text = yamlio.dump({key: data[key]}).decode()
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()
