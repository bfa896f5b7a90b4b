"""A rebase or bisect in progress, with the branch or commit that HEAD was detached from; and any
other unfinished operation."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from config.git import walled
from review.git.output import SHA

HEADS = "refs/heads/"
REBASES = ("rebase-merge", "rebase-apply")  # folders in the git directory of a work tree
MARKS = (*(f"{folder}/head-name" for folder in REBASES), "BISECT_START")
HOLDING = {
    "rebase-merge": "A rebase",
    "rebase-apply": "A rebase",
    "MERGE_HEAD": "A merge",
    "CHERRY_PICK_HEAD": "A cherry-pick",
    "REVERT_HEAD": "A revert",
    "sequencer": "A cherry-pick or revert",
    "BISECT_START": "A bisect",
}
LIMIT = 4096  # bytes of a state file: a name, or a sha


@dataclass(frozen=True, slots=True)
class Underway:
    """`ref` is the branch's full name, None for work that began on a detached HEAD; `sha` is the
    commit that the branch points to now, or that HEAD pointed to.
    """

    kind: Literal["rebase", "bisect"]
    ref: str | None
    sha: str

    @property
    def branch(self) -> str:
        return (self.ref or "a detached HEAD").removeprefix(HEADS)


def holding(git_dir: Path) -> str | None:
    """The unfinished operation in this git directory, in words that begin a sentence, or None."""
    return next((word for name, word in HOLDING.items() if (git_dir / name).exists()), None)


def read(git_dir: Path, shas: Mapping[str, str]) -> Underway | None:
    """The operation that detached this git directory's HEAD; `shas` are the commits of refs."""
    return next(_detect(git_dir, shas), None)


def _detect(git_dir: Path, shas: Mapping[str, str]) -> Iterator[Underway]:
    for folder in REBASES:
        ref = _line(git_dir / folder / "head-name")  # git am has no such file: it moves the branch
        if ref in shas:
            yield Underway("rebase", ref, shas[ref])
        elif ref and SHA.fullmatch(sha := _line(git_dir / folder / "orig-head")):
            yield Underway("rebase", None, sha)
    start = _line(git_dir / "BISECT_START")
    if HEADS + start in shas:
        yield Underway("bisect", HEADS + start, shas[HEADS + start])
    elif SHA.fullmatch(start):
        yield Underway("bisect", None, start)


def _line(path: Path) -> str:
    """The text of a one-line file, "" if there is none."""
    try:
        return os.fsdecode(walled.contents(path, limit=LIMIT)).strip()
    except OSError:
        return ""
