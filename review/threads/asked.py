"""The record that an agent was asked to work on a thread, and that a resolution was proposed.

Values and how they are read; threads/asking.py writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from review.files import times
from review.files.fields import Fields

State = Literal["open", "asked", "answered", "resolved"]


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked, when, in which workspace project, and which chat was asked.

    `sha` is the commit as it was shown then and `tip` the head of its range; `path` and `line` (its
    last one, on the new side) are where the thread stood in that commit.
    """

    at: str | None
    by: str | None
    project: str | None
    chat: str | None
    sha: str | None
    tip: str | None
    path: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Proposed:
    """Someone proposed to resolve the thread; a person has to do it."""

    by: str | None
    at: str | None


def parse_asked(value: Any, where: str, warnings: list[str]) -> Asked | None:
    """The mapping `asked` of a thread; None without a time."""
    if value is None:
        return None
    fields = Fields(value, where, warnings)
    at = fields.time("at")
    if at is None:
        return None
    return Asked(
        at=at,
        by=fields.text("by"),
        project=fields.text("project"),
        chat=fields.text("chat"),
        sha=fields.hex("sha"),
        tip=fields.hex("tip"),
        path=fields.text("path"),
        line=fields.number("line"),
    )


def parse_proposed(value: Any, where: str, warnings: list[str]) -> Proposed | None:
    """The mapping `proposed` of a thread; None without a name."""
    if value is None:
        return None
    fields = Fields(value, where, warnings)
    by, at = fields.text("by"), fields.time("at")
    return Proposed(by, at) if by else None


def later(at: str | None, than: str | None) -> bool:
    """Whether `at` is after `than`. False without `at`; any time is after None."""
    return at is not None and times.exact(at) > times.exact(than)
