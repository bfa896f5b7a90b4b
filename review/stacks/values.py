"""What a repo under review consists of, as values: items, stacks, orphans (contract 2, 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from review.git.commits import Commit
from review.git.ranges import Range
from review.git.refs import Refs
from review.git.repository import Repository
from review.projects import Project, RepoEntry
from review.reviews.carry import Candidate, Match, Shares, Trace
from review.reviews.schema import Thread
from review.stacks.prs import PrFile
from review.stacks.states import Proposal


@dataclass(frozen=True, slots=True)
class Landed:
    """Where a commit landed on the trunk; `by` is the evidence (contract 7.4).

    `at` is the committer date; `commit` is None when the landed object is missing.
    """

    sha: str
    at: str | None
    by: str
    commit: Commit | None = None

    @property
    def record(self) -> dict[str, str | None]:
        return {"sha": self.sha, "at": self.at, "by": self.by}


@dataclass(frozen=True, slots=True)
class Item:
    """One listed commit. `stack` and `position` count from 1; `pr_source` is the sha whose file
    holds its PR record, None where there is none. `proposal`: a record that may be its own.
    """

    commit: Commit
    shown_commit: Commit
    stack: int
    position: int
    match: Match | None
    pr: PrFile
    pr_source: str | None
    landed: Landed | None
    status: str
    branch: dict[str, Any] | None
    github: dict[str, Any] | None
    trace: Trace
    shares: Shares = field(default_factory=Shares)
    proposal: Proposal | None = None

    @property
    def title(self) -> str:
        return self.pr.title or self.commit.subject


@dataclass(frozen=True, slots=True)
class Stack:
    """`entry_index`: its place in the list of the file, None for the implicit rest stack.

    `weight` is None while the commits were read without their counts.
    """

    n: int
    title: str | None
    color: str
    description: str | None
    commits: tuple[str, ...]
    warning: str | None = None
    follow_on: bool = False
    weight: int | None = None
    entry_index: int | None = None


@dataclass(frozen=True, slots=True)
class Orphan:
    """Review state of a gone commit that no commit of the range stands for, and the commits it may
    have become; or, with a `reason`, of a commit whose repository cannot be read.
    """

    sha: str
    subject: str | None
    file: str
    conversations: tuple[Thread, ...]
    candidates: tuple[Candidate, ...] = ()
    reason: str | None = None

    @property
    def unresolved(self) -> int:
        return sum(not thread.resolved for thread in self.conversations)

    @property
    def record(self) -> dict[str, Any]:
        made = {
            "sha": self.sha,
            "subject": self.subject,
            "threads": len(self.conversations),
            "unresolved": self.unresolved,
            "file": self.file,
            "candidates": [{"sha": one.sha, "by": one.by} for one in self.candidates],
        }
        return made | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, slots=True)
class Repo:
    """One repo of a project as it is now. With `errors` there are no items and no stacks.

    `stamp` changes with anything it was made from; `counted` says whether the commits carry
    their line counts.
    """

    project: Project
    entry: RepoEntry
    stamp: str
    counted: bool = True
    repository: Repository | None = None
    refs: Refs | None = None
    range: Range | None = None
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    stacks: tuple[Stack, ...] = ()
    orphans: tuple[Orphan, ...] = ()
    by_sha: Mapping[str, Item] = field(default_factory=dict)

    @property
    def missing(self) -> bool:
        """Whether there is no repository where project.yaml says."""
        return self.repository is None and not self.entry.errors
