"""What was reviewed is held against git's own cleaning, whatever became of the refs that did."""

from __future__ import annotations

import os
import time

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


@pytest.mark.parametrize(("age", "kept"), [(3600, True), (0, False)])
def test_a_lock_that_a_killed_git_left_keeps_nothing_from_being_held(
    repo: Repo, age: float, kept: bool
):
    shas = repo.shas("main..topic")
    folder = repo.path / ".git" / keeping.KEPT
    folder.mkdir(parents=True)
    lock = folder / f"{shas[0]}.lock"
    lock.touch()
    os.utime(lock, (time.time() - age, time.time() - age))

    keeping.hold(open_repository(repo.path), shas)

    assert held(repo) == (sorted(shas) if kept else [])
    assert lock.exists() is not kept  # one that is young may be another git's at work
