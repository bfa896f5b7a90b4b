"""Objects that are not what their ids say, as who may write there can make them."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import pytest

from review.git import objects, patches, staying
from review.git.log import history
from review.git.repository import open_repository
from tests.review.git.world import subjects
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


def forge(repo: Repo, oid: str, kind: bytes, body: bytes) -> None:
    place = repo.path / ".git" / "objects" / oid[:2] / oid[2:]
    place.unlink()
    place.write_bytes(zlib.compress(b"%s %d\0%s" % (kind, len(body), body)))


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
    forge(made, repo.sha("topic"), b"commit", body)
    return made


def test_a_commit_that_is_forged_in_one_repository_is_itself_in_another(repo: Repo, forged: Repo):
    sha = repo.sha("topic")
    assert subjects(forged, "main..topic") == ["first", "harmless"]
    assert not patches.of(open_repository(forged.path), [sha])[sha].lines

    opened = open_repository(repo.path)

    assert subjects(repo, "main..topic") == ["first", "second"]
    assert [one.path for one in history.commit(opened, sha).files] == ["b/c.txt"]
    assert patches.of(opened, [sha])[sha].lines


@pytest.mark.parametrize("body", [b"garbage", b"100644 no end", b"100644 a\0short"])
def test_a_tree_that_cannot_be_read_counts_as_missing(repo: Repo, body: bytes):
    opened, tree = open_repository(repo.path), repo.git("rev-parse", "topic:b")
    staying.close()
    forge(repo, tree, b"tree", body)

    assert objects.entry(opened, repo.sha("topic"), "b/c.txt") is None
    assert objects.entry(opened, repo.sha("topic"), "a.txt") is not None


def test_a_commit_that_names_no_objects_leads_to_none(repo: Repo):
    opened, sha = open_repository(repo.path), repo.sha("topic")
    staying.close()
    forge(repo, sha, b"commit", b"tree \xff\nparent \xfe\0\n\nodd\n")

    assert objects.entry(opened, sha, "a.txt") is None
    assert objects.missing(opened, *objects.parents(opened, [sha])) == {"\ufffd\0"}
