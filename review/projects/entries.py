"""The values in project.yaml that the review part uses. Never reads or writes.

Text in, typed fields out: a field of the wrong type counts as absent and becomes a warning, a repo
that cannot be used is listed with its errors. No error in one file affects the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from review.files.fields import YES_OR_NO, Fields

PALETTE = {
    "blue": "#0072b2", "orange": "#e69f00", "green": "#009e73", "pink": "#cc79a7",
    "sky": "#56b4e9", "red": "#d55e00", "yellow": "#f0e442", "grey": "#7f7f7f",
}  # fmt: skip
NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,64}")
NAME_RULE = '"name" must be 1 to 64 letters, digits, ".", "_" or "-"'
COLOR = re.compile(r"#[0-9a-f]{6}")
SHA = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True, slots=True)
class StackEntry:
    """One stack of a repo. `color` is "#rrggbb", None for the default by position.

    `commits` are short or full shas, bottom to top; None makes it the rest stack. `index` is its
    position in the list in the file.
    """

    title: str | None
    color: str | None
    description: str | None
    follow_on: bool
    commits: tuple[str, ...] | None
    index: int


@dataclass(frozen=True, slots=True)
class RepoEntry:
    """One repo as project.yaml lists it; one with `errors` is listed but not usable.

    `range` is text, or {"base": text or None, "head": text}; None means computed. `index` is its
    position in the list in the file.
    """

    name: str
    shown_path: str
    path: Path
    range: str | Mapping[str, str | None] | None
    trunk: str | None
    stacks: tuple[StackEntry, ...]
    index: int
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def repos(values: Any, folder: Path) -> tuple[RepoEntry, ...]:
    """The `repos` list of a project whose folder is `folder`."""
    taken: set[str] = set()
    found = []
    for index, value in enumerate(values if isinstance(values, list) else []):
        entry = _repo(value, index, folder, taken)
        taken.add(entry.name)
        found.append(entry)
    return tuple(found)


def place(shown: str, folder: Path) -> Path | None:
    """The directory that a written path means: absolute, ~, or relative to `folder`; or None."""
    try:
        path = Path(shown.strip()).expanduser()
    except RuntimeError:  # the home of a user who does not exist
        return None
    return None if "\0" in shown else Path(os.path.normpath(folder / path))


def _repo(value: Any, index: int, folder: Path, taken: set[str]) -> RepoEntry:
    errors: list[str] = []
    warnings: list[str] = []
    if not isinstance(value, dict):
        errors.append("an entry of `repos` must be a mapping with `path`")
    fields = Fields(value if isinstance(value, dict) else {}, "", warnings)
    shown = fields.words("path") or ""
    path = place(shown, folder) if shown else None
    if path is None and not errors:
        errors.append(f"No such directory: {shown}" if shown else '"path" is required')
    name = _name(fields, path, index, errors)
    if name in taken:
        errors.append(f'The name "{name}" is used twice')
    return RepoEntry(
        name=name,
        shown_path=shown,
        path=path or folder,
        range=_range(fields, errors),
        trunk=fields.words("trunk"),
        stacks=_stacks(fields, warnings),
        index=index,
        errors=tuple(errors),
        warnings=tuple(warnings),
    )


def _name(fields: Fields, path: Path | None, index: int, errors: list[str]) -> str:
    """The written name, else the last part of the path; always one that is valid in a route."""
    given = fields.value.get("name")
    if isinstance(given, str) and NAME.fullmatch(given):
        return given
    if given is not None and given != "":
        errors.append(NAME_RULE)
    wanted = given if isinstance(given, str) and given else (path.name if path else "")
    return usable_name(wanted) or f"repo-{index + 1}"


def usable_name(text: str) -> str:
    """The text as a name for a repo: other characters become hyphens. "" if nothing is left."""
    made = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")[:64]
    return made if NAME.fullmatch(made) else ""


def _range(fields: Fields, errors: list[str]) -> str | Mapping[str, str | None] | None:
    value = fields.value.get("range")
    if not isinstance(value, dict):
        if isinstance(value, list):
            errors.append('"range" must be text, or a mapping with base and head')
            return None
        return fields.words("range")
    base, head = value.get("base"), value.get("head")
    if not isinstance(base, str | None) or not isinstance(head, str) or not head.strip():
        errors.append('"range" must have a head, and a base or null')
        return None
    return {"base": base.strip() or None if base else None, "head": head.strip()}


def _stacks(fields: Fields, warnings: list[str]) -> tuple[StackEntry, ...]:
    entries = []
    for index, value in enumerate(fields.items("stacks")):
        if isinstance(value, dict):
            entries.append(_stack(Fields(value, f"stack {index + 1}", warnings), index))
        else:
            warnings.append(f"stack {index + 1} must be a mapping; it is ignored")
    return tuple(entries)


def _stack(fields: Fields, index: int) -> StackEntry:
    return StackEntry(
        title=fields.words("title"),
        color=fields.read("color", "a palette name or #rrggbb", _color),
        description=fields.text("description"),
        follow_on=bool(fields.truth("follow_on", YES_OR_NO)),
        commits=_commits(fields),
        index=index,
    )


def _color(text: str) -> str | None:
    lowered = text.strip().lower()
    return PALETTE.get(lowered) or (lowered if COLOR.fullmatch(lowered) else None)


def _commits(fields: Fields) -> tuple[str, ...] | None:
    listed = fields.items("commits")
    if not isinstance(fields.value.get("commits"), list):
        return None
    found = []
    for item in listed:
        sha = item.strip().lower() if isinstance(item, str) else ""
        if SHA.fullmatch(sha):
            found.append(sha)
        else:
            shown = item if isinstance(item, str) else "an entry of commits"
            fields.warnings.append(f"{shown[:80]} of {fields.where} is not a sha; it is ignored")
    return tuple(found)
