"""Every test here has a repository `repo`: main with one commit, and `topic` with two more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from review.git import staying
from tests.review.repos import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit({"a.txt": "one\ntwo\nthree\n"}, "base")
    made.branch("topic")
    made.commit({"a.txt": "one\nTWO\nthree\n"}, "first")
    made.commit({"b/c.txt": "new\n"}, "second")
    return made


@pytest.fixture
def no_gits() -> Iterator[None]:
    """No git of ours is there before a test, nor behind it."""
    staying.close()
    yield
    staying.close()
    assert staying._all == set()
