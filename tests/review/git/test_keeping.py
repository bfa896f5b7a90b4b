"""What was reviewed is held against git's own cleaning, whatever became of the refs that did."""

from __future__ import annotations

import pytest

from review.git import keeping
from review.git.repository import open_repository
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


def hold(repo: Repo) -> str:
    sha = repo.sha()
    keeping.hold(open_repository(repo.path), [sha])
    return sha


def held(repo: Repo) -> list[str]:
    return repo.git("for-each-ref", "--format=%(objectname)", keeping.KEPT).split()


def test_a_commit_is_held_once_also_by_a_ref_that_git_packed(repo: Repo, runs: list[str]):
    sha = hold(repo)
    repo.git("pack-refs", "--all")
    hold(repo)
    runs.clear()

    assert hold(repo) == sha
    assert runs == []
    assert held(repo) == [sha]


@pytest.mark.parametrize("packed", [False, True])
def test_a_commit_whose_ref_was_taken_away_is_held_again(repo: Repo, packed: bool):
    sha = hold(repo)
    if packed:
        repo.git("pack-refs", "--all")
        hold(repo)
    repo.git("update-ref", "-d", f"{keeping.KEPT}/{sha}")

    hold(repo)

    assert held(repo) == [sha]
