"""The typed values of a review file; reading.py creates them from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from config.errors import NotFound
from review.threads.asked import Asked, Proposed
from review.threads.carry.traces import CarriedFrom
from review.threads.judged import Verdict

VERSION = 1
SIDES: Mapping[str, Literal["LEFT", "RIGHT"]] = {
    "left": "LEFT", "old": "LEFT", "base": "LEFT",
    "right": "RIGHT", "new": "RIGHT", "head": "RIGHT",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Anchor:
    """The commented lines as they were: three texts of lines joined by newlines."""

    commit: str | None
    blob: str | None
    text: str | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Comment:
    """`at`: its index in the list in the file; `named`: whether its id is written there."""

    id: str
    author: str | None
    body: str
    created_at: str | None
    updated_at: str | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    at: int = 0
    named: bool = True


@dataclass(frozen=True, slots=True)
class Thread:
    """`line` is the last line of the range, from 1; sides as the file spells them.

    `author` is None unless the thread itself names an author. `at` and `named` as in Comment.
    `created_at` has milliseconds when the server wrote it.
    """

    id: str
    path: str | None
    side: str | None
    line: int | None
    start_line: int | None
    start_side: str | None
    resolved: bool
    resolved_by: str | None
    resolved_at: str | None
    author: str | None
    created_at: str | None
    anchor: Anchor
    comments: tuple[Comment, ...]
    from_sha: str | None = None
    asked: Asked | None = None
    proposed: Proposed | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    at: int = 0
    named: bool = True

    @property
    def opened_by(self) -> str | None:
        return self.author or (self.comments[0].author if self.comments else None)

    def comment(self, cid: str) -> Comment:
        """The comment of that id. Raises NotFound if there is none."""
        for comment in self.comments:
            if comment.id == cid:
                return comment
        raise NotFound("No such comment")


@dataclass(frozen=True, slots=True)
class Mark:
    """A file marked as viewed. Without `diff` the mark is for the file as it is in commit `of`."""

    path: str
    diff: str | None
    at: str | None
    of: str | None = None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What identifies the commit when its object is gone."""

    sha: str | None
    subject: str | None
    author: str | None
    authored: str | None
    change_id: str | None
    patch_id: str | None
    patch_id_u0: str | None


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """One review file. `threads` has also hand-made ones without comments, in file order."""

    version: int = VERSION
    commit: Fingerprint | None = None
    carried_from: CarriedFrom | None = None
    viewed: tuple[Mark, ...] = ()
    threads: tuple[Thread, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def conversations(self) -> tuple[Thread, ...]:
        """The threads that are shown and counted: those with a comment."""
        return tuple(thread for thread in self.threads if thread.comments)

    @property
    def lacks_a_side(self) -> bool:
        """Whether a thread on a file has no side, so that only its commit tells the side."""
        return any(thread.path and thread.side is None for thread in self.threads)

    def thread(self, tid: str) -> Thread:
        """The shown thread of that id. Raises NotFound if there is none."""
        for thread in self.threads:
            if thread.id == tid and thread.comments:
                return thread
        raise NotFound("No such thread")


def normal_side(side: str | None) -> Literal["LEFT", "RIGHT"]:
    """LEFT or RIGHT for every accepted spelling; RIGHT without one."""
    return SIDES.get((side or "").lower(), "RIGHT")
