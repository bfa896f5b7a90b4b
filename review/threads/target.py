"""One commit of one repo, as reviews see it; stacks/ builds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from review.git.commits import Commit
from review.threads.carry.traces import Match, Shares, Trace

if TYPE_CHECKING:
    from review.git.repository import Repository


@dataclass(frozen=True, slots=True)
class Target:
    """`commit` is the one listed in the range; `shown_commit` is what is diffed: the landed commit
    where it landed, else the same. `match` is the gone commit it stands for, `shares` what its
    review has in common with other files.
    """

    slug: str
    repo: str
    repository: Repository
    commit: Commit
    shown_commit: Commit
    match: Match | None
    trace: Trace
    shares: Shares = field(default_factory=Shares)

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """Its review file, as parts below the projects directory."""
        return (self.slug, "reviews", self.repo, f"{self.commit.sha}.yaml")
