"""Objects that are not what their ids say, as who may write there can make them."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import pytest

from review.git import patches
from review.git.log import history
from review.git.repository import open_repository
from tests.review.git.world import subjects
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


@pytest.fixture
def forged(repo: Repo, tmp_path: Path) -> Repo:
    """A copy in which the last commit claims to change nothing."""
    made = Repo(tmp_path / "forged")
    shutil.copytree(repo.path / ".git", made.path / ".git", dirs_exist_ok=True)
    tree, parent = repo.git("rev-parse", "topic~1^{tree}", "topic~1").split()
    body = (
        f"tree {tree}\nparent {parent}\nauthor A <a@b> 1767600000 +0000\n"
        "committer A <a@b> 1767600000 +0000\n\nharmless\n"
    ).encode()
    sha = repo.sha("topic")
    place = made.path / ".git" / "objects" / sha[:2] / sha[2:]
    place.unlink()
    place.write_bytes(zlib.compress(b"commit %d\0" % len(body) + body))
    return made


def test_a_commit_that_is_forged_in_one_repository_is_itself_in_another(repo: Repo, forged: Repo):
    sha = repo.sha("topic")
    assert subjects(forged, "main..topic") == ["first", "harmless"]
    assert not patches.of(open_repository(forged.path), [sha])[sha].lines

    opened = open_repository(repo.path)

    assert subjects(repo, "main..topic") == ["first", "second"]
    assert [one.path for one in history.commit(opened, sha).files] == ["b/c.txt"]
    assert patches.of(opened, [sha])[sha].lines
