"""A project with a work tree that somebody works in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.review.places import put
from tests.review.repos import Repo
from tests.review.stacks.worktree import said as saying
from tests.review.stacks.worktree.desk import Desk
from tests.review.stacks.worktree.said import Said


@pytest.fixture
def desk(db, home: Path, tmp_path: Path) -> Desk:
    repo = Repo(tmp_path / "api")
    text = f"title: Pay\nrepos:\n- name: api\n  path: {repo.path}\n"
    put(home / "pay" / "project.yaml", text.encode())
    repo.config("user.name", "Ada")
    repo.config("user.email", "ada@example.org")
    repo.commit({"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n", "run.sh": "x\n"}, "Start")
    return Desk(repo)


@pytest.fixture
def said(db, home: Path, tmp_path: Path) -> Said:
    return saying.made(home, tmp_path / "api")
