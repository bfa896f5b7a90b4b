"""One commit of one repo, or what is not committed, as reviews see it; created in stacks/."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from review import files
from review.git.commits import Commit
from review.threads.carry.traces import Match, Shares, Trace

if TYPE_CHECKING:
    from review.git.repository import Repository


@dataclass(frozen=True, slots=True)
class Target:
    """`commit` is the one listed in the range; `shown_commit` is the one that is diffed: the landed
    commit if it landed, else the same. `match` is the gone commit it stands for, `shares` what its
    review has in common with other files. `uncommitted`: not a commit, but what differs from
    `commit`, which is HEAD then; `shown_commit` is a look at the work tree."""

    slug: str
    repo: str
    repository: Repository
    commit: Commit
    shown_commit: Commit
    match: Match | None
    trace: Trace
    shares: Shares = field(default_factory=Shares)
    uncommitted: bool = False

    @property
    def stem(self) -> str:
        """The name of its review file: the sha of its commit, or WORKTREE."""
        return files.WORKTREE if self.uncommitted else self.commit.sha

    @property
    def own(self) -> Commit:
        """The commit that the review file is about."""
        return self.shown_commit if self.uncommitted else self.commit

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The path of its review file, as parts below the projects directory."""
        return (self.slug, "reviews", self.repo, f"{self.stem}.yaml")
