"""Repositories of every kind open, others say why not, and an open one stays open."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from config.git.command import GitError
from review.git import objects, refs
from review.git.repository import open_repository
from tests.review.git.world import subjects
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


def refusal(path: Path) -> GitError:
    with pytest.raises(GitError) as told:
        open_repository(path)
    return told.value


def test_a_work_tree_opens(repo: Repo):
    opened = open_repository(repo.path)

    assert (opened.git_dir, opened.common_dir) == (repo.path / ".git", repo.path / ".git")
    assert (opened.sha256, opened.shallow, opened.partial) == (False, "", False)


def test_a_linked_worktree_has_the_common_objects_and_its_own_head(repo: Repo, tmp_path: Path):
    linked = repo.worktree(tmp_path / "linked", "side")
    linked.commit({"d.txt": "1\n"}, "in the linked worktree")

    opened = open_repository(linked.path)

    assert opened.common_dir == repo.path / ".git"
    assert opened.git_dir == repo.path / ".git" / "worktrees" / "linked"
    assert refs.read(opened).head_ref == "refs/heads/side"
    assert subjects(linked, "topic..side") == ["in the linked worktree"]


def test_a_bare_repository_opens(repo: Repo, tmp_path: Path):
    bare = repo.clone(tmp_path / "bare.git", "--bare")

    assert open_repository(bare.path).git_dir == bare.path
    assert subjects(bare, "main..topic") == ["first", "second"]


def test_a_sha256_repository_reads_like_any_other(tmp_path: Path):
    repo = Repo(tmp_path / "long", sha256=True)
    repo.commit({"a": "1\n"}, "base")
    repo.branch("topic")
    head = repo.commit({"a": "2\n"}, "first")

    assert open_repository(repo.path).sha256
    assert len(head) == 64
    assert subjects(repo, "main..topic") == ["first"]
    assert subjects(repo, {"base": None, "head": "topic"}) == ["base", "first"]
    entry = objects.entry(open_repository(repo.path), head, "a")
    assert entry is not None
    assert objects.blob(open_repository(repo.path), entry.oid) == b"2\n"


def test_a_submodule_opens_as_a_repository_of_its_own(repo: Repo, tmp_path: Path):
    outer = Repo(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.path), "inner")

    opened = open_repository(outer.path / "inner")

    assert opened.git_dir == outer.path / ".git" / "modules" / "inner"


def test_a_directory_that_does_not_exist_is_missing(tmp_path: Path):
    assert refusal(tmp_path / "nowhere").kind == "missing"
    assert refusal(tmp_path / "nowhere" / ("x" * 300)).kind == "missing"
    assert refusal(Path("/a\0b")).kind == "missing"


def test_a_plain_directory_or_a_file_is_no_repository(repo: Repo, tmp_path: Path):
    (tmp_path / "plain").mkdir()

    assert refusal(tmp_path / "plain").kind == "not_git"
    assert refusal(repo.path / "a.txt").kind == "not_git"
    assert refusal(tmp_path / "plain").text == f"Not a git repository: {tmp_path / 'plain'}"


def test_a_directory_inside_a_work_tree_is_not_taken_for_it(repo: Repo):
    assert refusal(repo.path / "b").kind == "not_git"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_somebody_else_s_repository_is_unreadable_until_the_user_trusts_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for path in [repo.path, *repo.path.rglob("*")]:
        os.chown(path, 4711, 4711, follow_symlinks=False)

    assert refusal(repo.path).kind == "unreadable"

    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repo.path}\n")
    assert open_repository(repo.path).git_dir == repo.path / ".git"
    assert subjects(repo, "main..topic") == ["first", "second"]


def test_opening_again_runs_nothing(repo: Repo, runs: list[str]):
    first = open_repository(repo.path)
    before = list(runs)
    repo.commit({"a.txt": "more\n"})

    assert open_repository(repo.path) is first
    assert runs == before


def test_another_repository_at_the_same_path_is_noticed(repo: Repo):
    open_repository(repo.path)
    shutil.rmtree(repo.path)
    assert refusal(repo.path).kind == "missing"

    Repo(repo.path, sha256=True)

    assert open_repository(repo.path).sha256


def test_a_clone_that_becomes_deep_is_noticed(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone", "--depth=1")
    assert open_repository(clone.path).shallow

    clone.git("fetch", "-q", "--unshallow")

    assert not open_repository(clone.path).shallow


@pytest.mark.parametrize("name", ["with space", "wïth ümlaut", "new\nline", "-dash", "quo'te\""])
def test_a_repository_may_have_any_name(tmp_path: Path, name: str):
    repo = Repo(tmp_path / name)
    repo.commit({"a": "1\n"}, "base")
    repo.branch("topic")
    repo.commit({"a": "2\n"}, "first")

    assert open_repository(repo.path).git_dir == tmp_path / name / ".git"
    assert subjects(repo, "main..topic") == ["first"]
