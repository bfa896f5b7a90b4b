"""The repository around a directory is read from files: no git, no waiting, no loops."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from dashboard.listeners import git, records
from dashboard.listeners.identity import Identity
from dashboard.listeners.processes import Process


def run(folder: Path, *args: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(folder), *who, *args], check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    run(folder, "commit", "-q", "--allow-empty", "-m", "One")
    return folder


def found(folder: Path) -> git.Git:
    repository = git.find(folder)
    assert repository is not None
    return repository


def record(one: git.Git) -> records.Git:
    told = records.identity(Identity(Process(None), "", git=one))["git"]
    assert told is not None
    return told


def test_a_directory_deep_in_a_repository_has_its_root_branch_and_remote(shop: Path):
    run(shop, "switch", "-q", "-c", "fix/cart")
    run(shop, "remote", "add", "fork", "https://example.com/fork.git")
    run(shop, "remote", "add", "origin", "https://bob:pw@example.com/shop.git")
    deep = shop / "a" / "b"
    deep.mkdir(parents=True)

    assert record(found(deep)) == {
        "root": str(shop),
        "name": "shop",
        "branch": "fix/cart",
        "worktree": None,
        "remote": "https://***@example.com/shop.git",
    }


def test_a_worktree_has_its_own_branch_and_the_repositorys_name_and_remote(
    shop: Path, tmp_path: Path
):
    run(shop, "remote", "add", "origin", "git@example.com:shop.git")
    run(shop, "worktree", "add", "-q", "-b", "try", str(tmp_path / "elsewhere"))

    one = found(tmp_path / "elsewhere")

    assert (one.name, one.branch, one.worktree) == ("shop", "try", "elsewhere")
    assert (one.root, one.remote) == (tmp_path / "elsewhere", "git@example.com:shop.git")


def test_a_submodule_is_a_repository_of_its_own(shop: Path, tmp_path: Path):
    part = tmp_path / "part"
    part.mkdir()
    run(part, "init", "-q", "-b", "trunk")
    run(part, "commit", "-q", "--allow-empty", "-m", "One")
    run(shop, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part), "lib")

    one = found(shop / "lib")

    assert (one.root, one.name, one.branch) == (shop / "lib", "lib", "trunk")
    assert one.worktree is None


def test_a_detached_head_has_no_branch(shop: Path):
    run(shop, "switch", "-q", "--detach")

    assert found(shop).branch is None


def test_outside_of_repositories_there_is_none(tmp_path: Path):
    assert git.find(tmp_path) is None
    assert git.find(tmp_path / "absent") is None
    assert git.find(tmp_path / ("x" * 300)) is None


@pytest.mark.parametrize(
    "text",
    ["gitdir: .git", "gitdir: .", "gitdir: /dev/zero", "gitdir: /proc/self/fd", "gitdir:", "x", ""],
)
def test_a_git_file_that_leads_in_circles_or_nowhere_is_none(tmp_path: Path, text: str):
    (tmp_path / ".git").write_text(text)

    assert git.find(tmp_path) is None


def test_git_files_that_point_at_each_other_are_none(tmp_path: Path):
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / one).mkdir()
        (tmp_path / one / ".git").write_text(f"gitdir: ../{other}/.git")

    assert git.find(tmp_path / "a") is None


def test_a_loop_of_links_is_none(tmp_path: Path):
    (tmp_path / ".git").symlink_to(tmp_path / ".git")

    assert git.find(tmp_path) is None


@pytest.mark.parametrize("name", [".git", ".git/HEAD", ".git/config", ".git/commondir"])
def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, name: str):
    if "/" in name:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)

    one = git.find(tmp_path)

    assert (one.branch if one else None) == ("main" if name.count("/co") else None)


def test_a_huge_head_and_a_huge_config_say_nothing(shop: Path):
    (shop / ".git" / "config").write_bytes(b'[remote "origin"]\nurl = x\n' + b"#" * 300_000)
    assert found(shop).remote is None

    (shop / ".git" / "HEAD").write_bytes(b"ref: refs/heads/" + b"a" * 50_000_000)
    assert git.find(shop) is None


def test_a_branch_of_odd_characters_is_shown_plainly(shop: Path):
    (shop / ".git" / "HEAD").write_bytes(b"ref: refs/heads/a\x1b[2J\xff\n")

    assert record(found(shop))["branch"] == "a�[2J�"
