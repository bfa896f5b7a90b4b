"""A new commit or branch is noticed from the files of a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dashboard.pictures import commits


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


def test_a_commit_changes_it_and_work_in_the_tree_does_not(repository):
    before = commits.head(repository)
    (repository / "file").write_text("x")
    git(repository, "add", "file")
    git(repository, "status")
    assert commits.head(repository) == before

    sha = commit(repository)

    assert commits.head(repository) == f"ref: refs/heads/main {sha}"


def test_another_branch_on_the_same_commit_changes_it(repository):
    before = commits.head(repository)

    git(repository, "switch", "-q", "-c", "feature/x")

    assert commits.head(repository) != before


def test_packing_the_references_changes_nothing(repository):
    git(repository, "branch", "in/main")
    before = commits.head(repository)

    git(repository, "pack-refs", "--all", "--prune")

    assert not (repository / ".git/refs/heads/main").exists()
    assert commits.head(repository) == before


def test_a_detached_head_and_a_branch_without_commit_are_read(repository, tmp_path):
    sha = git(repository, "rev-parse", "HEAD")
    git(repository, "switch", "-q", "--detach")
    assert commits.head(repository) == f"{sha} "

    git(tmp_path, "init", "-q", "-b", "main")
    assert commits.head(tmp_path) == "ref: refs/heads/main "


def test_a_worktree_has_its_own_head_on_the_common_references(repository, tmp_path):
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", "-b", "side", str(tree))
    main, side = commits.head(repository), commits.head(tree)

    sha = commit(tree)

    assert side != commits.head(tree) == f"ref: refs/heads/side {sha}"
    assert commits.head(repository) == main


def test_a_repository_that_keeps_its_references_in_a_table_is_noticed_too(tmp_path):
    try:
        git(tmp_path, "init", "-q", "--ref-format=reftable")
    except subprocess.CalledProcessError:
        dotgit = tmp_path / ".git"
        (dotgit / "reftable").mkdir(parents=True)
        (dotgit / "HEAD").write_text("ref: refs/heads/.invalid\n")
        (dotgit / "reftable/tables.list").write_text("one\n")
        before = commits.head(tmp_path)
        (dotgit / "reftable/tables.list").write_text("one\ntwo\n")
    else:
        before = commits.head(tmp_path)
        commit(tmp_path)

    assert before is not None
    assert commits.head(tmp_path) != before


@pytest.mark.parametrize("head", ["ref: ../../secret", "ref: /etc/hostname", "ref: a/../../secret"])
def test_a_head_cannot_lead_out_of_the_repository(repository, head):
    (repository / "secret").write_text("secret")
    (repository / ".git/HEAD").write_text(head)

    assert commits.head(repository) == f"{head} "


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"ref: " + b"x" * 4000, b"ref: \x00a"])
def test_an_odd_head_is_no_failure(repository, content):
    (repository / ".git/HEAD").write_bytes(content)

    commits.head(repository)


def test_where_there_is_no_repository_there_is_no_head(tmp_path):
    assert commits.heads({tmp_path, tmp_path / "gone"}) == {tmp_path: None, tmp_path / "gone": None}
