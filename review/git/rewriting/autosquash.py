"""Which commits fold into which: the rules of `git rebase --autosquash`, over subjects alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from review.git.commits import Commit

Act = Literal["fixup", "squash", "amend"]
PREFIXES: tuple[tuple[str, Act], ...] = (
    ("fixup! ", "fixup"), ("squash! ", "squash"), ("amend! ", "amend"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """The parts of a commit that matter here."""

    sha: str
    subject: str


@dataclass(frozen=True, slots=True)
class Fold:
    """A commit that folds into `target`; `act` says what becomes of its message."""

    sha: str
    target: str
    act: Act


def chain(commits: Mapping[str, Commit], head: str) -> list[Commit]:
    """The commits up to `head` that can be rewritten, oldest first: from `head` down while they are
    in `commits` and are no merges."""
    found: list[Commit] = []
    at: str | None = head
    while at is not None and (commit := commits.get(at)) and len(commit.parents) < 2:
        found.append(commit)
        at = commit.parent
    return found[::-1]


def act_of(subject: str) -> Act | None:
    """The action that the subject's prefix asks for; None for a commit without one."""
    return next((act for prefix, act in PREFIXES if subject.startswith(prefix)), None)


def folds(commits: Sequence[Named | Commit]) -> list[Fold]:
    """The folds of a chain, given oldest first. Their targets are below them and never folds."""
    found: list[Fold] = []
    roots: dict[str, str] = {}
    first: dict[str, str] = {}  # subject -> the oldest commit with it that is not a fold
    for at, commit in enumerate(commits):
        act = act_of(commit.subject)
        target = _target(_bare(commit.subject), commits[:at], first) if act else None
        if act is None or target is None:
            first.setdefault(commit.subject, commit.sha)
            continue
        roots[commit.sha] = roots.get(target, target)
        found.append(Fold(commit.sha, roots[commit.sha], act))
    return found


def _bare(subject: str) -> str:
    """The subject without any prefix: `fixup! fixup! x` is a fixup of x."""
    while act_of(subject):
        subject = subject.partition(" ")[2].lstrip()
    return subject


def _target(wanted: str, below: Sequence[Named | Commit], first: dict[str, str]) -> str | None:
    """The target's sha: found by its whole subject, its sha, or the beginning of its subject."""
    if not wanted:
        return None
    if wanted in first:
        return first[wanted]
    if len(wanted) >= 4 and " " not in wanted:
        hits = [one.sha for one in below if one.sha.startswith(wanted.lower())]
        if len(hits) == 1:
            return hits[0]
    return next((one.sha for one in below if one.subject.startswith(wanted)), None)
