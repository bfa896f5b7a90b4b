"""Shortcuts from a test repository to what review reads of it."""

from __future__ import annotations

from collections.abc import Mapping

from review.git import ranges, refs
from review.git.commits import Commit
from review.git.log import history
from review.git.ranges import Range
from review.git.repository import open_repository
from tests.review.repos import Repo

Wanted = str | Mapping[str, str | None] | None


def span(repo: Repo, wanted: Wanted = None, trunk: str | None = None) -> Range:
    repository = open_repository(repo.path)
    return ranges.resolve(repository, refs.read(repository), wanted, trunk)


def read(repo: Repo, wanted: Wanted = None) -> tuple[list[Commit], list[str]]:
    """The commits of a range and its warnings."""
    return history.commits(open_repository(repo.path), span(repo, wanted))


def subjects(repo: Repo, wanted: Wanted = None) -> list[str]:
    return [commit.subject for commit in read(repo, wanted)[0]]
