"""The parts of a repo under review, as values: items, stacks, orphans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from review.git.commits import Commit
from review.git.ranges import Range
from review.git.refs import Refs
from review.git.repository import Repository
from review.projects import Project, RepoEntry
from review.stacks.branches import Branch
from review.stacks.prs.pr_files import PrFile
from review.stacks.states import Proposal
from review.stacks.status import Github, Status
from review.threads.carry.carryover import Candidate, Match, Shares, Trace
from review.threads.schema import Thread


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a commit landed on the trunk; `by` is the evidence.

    `at` is the committer date; `commit` is None when the landed object is missing.
    """

    sha: str
    at: str | None
    by: str
    commit: Commit | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One listed commit. `stack` and `position` count from 1; `pr_source` is the sha whose file
    holds its PR record, None where there is none. `proposal`: a PR record that may be its own.
    `fixed`: it left the range by landing, or the trunk contains it unchanged, so that nothing
    rewrites it.
    """

    commit: Commit
    shown_commit: Commit
    stack: int
    position: int
    match: Match | None
    pr: PrFile
    pr_source: str | None
    landed: Landing | None
    status: Status
    branch: Branch | None
    github: Github | None
    trace: Trace
    shares: Shares = field(default_factory=Shares)
    proposal: Proposal | None = None
    fixed: bool = False

    @property
    def title(self) -> str:
        return self.pr.title or self.commit.subject


@dataclass(frozen=True, slots=True)
class Stack:
    """`entry_index`: its place in the file's list, None for the rest stack and a chat's branch.

    `weight` is None while the commits were read without their counts. `branch`: that of the chat
    whose commits these are.
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
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Orphan:
    """Review state of a gone commit that no commit of the range stands for, and the commits it may
    have become; or, with a `reason`, of a commit whose repository cannot be read. `drafted`: the
    shas under which there are drafts of it.
    """

    sha: str
    subject: str | None
    file: str
    conversations: tuple[Thread, ...]
    candidates: tuple[Candidate, ...] = ()
    reason: str | None = None
    drafted: tuple[str, ...] = ()

    @property
    def unresolved(self) -> int:
        return sum(not thread.resolved for thread in self.conversations)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that may be over at the next try: the stamp of the repo then, when it happened by
    the monotonic clock, and how many seconds the attempt took."""

    stamp: str
    at: float
    took: float


@dataclass(frozen=True, slots=True)
class Repo:
    """One repo of a project as it is now. With `errors` there are no items and no stacks.

    `stamp` changes with anything it was made from, and is "" for a repo that `failed` for now;
    `counted` says whether the commits carry their line counts.
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
    failed: Failure | None = None

    @property
    def missing(self) -> bool:
        """Whether there is no repository where project.yaml says."""
        return self.repository is None and not self.entry.errors
