"""Branches, tags and HEAD are read once and again when they moved, not before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from review.git import refs
from review.git.repository import open_repository
from tests.review.repos import Repo
from tests.service import until


def read(repo: Repo) -> refs.Refs:
    return refs.read(open_repository(repo.path))


def stamp(repo: Repo) -> str:
    return refs.stamp(open_repository(repo.path))


def settled(repo: Repo) -> str:
    """A stamp that holds: the files are old enough."""
    until(lambda: stamp(repo) == stamp(repo))
    return stamp(repo)


def test_branches_tags_and_head_are_told_by_their_full_names(repo: Repo):
    repo.tag("light")
    repo.tag("heavy", message="with words")
    repo.git("tag", "-a", "-m", "a tag of a tag", "nested", "heavy")
    repo.git("tag", "tree", "HEAD^{tree}")

    found = read(repo)

    head = repo.sha()
    assert (found.head, found.head_ref) == (head, "refs/heads/topic")
    assert found.shas == {
        "refs/heads/main": repo.sha("main"),
        "refs/heads/topic": head,
        **{f"refs/tags/{name}": head for name in ("light", "heavy", "nested")},
    }


def test_packed_refs_are_read_too(repo: Repo):
    before = read(repo).shas
    repo.git("pack-refs", "--all")

    assert not (repo.path / ".git/refs/heads/topic").exists()
    assert read(repo).shas == before


def test_a_detached_head_has_no_branch(repo: Repo):
    repo.git("checkout", "-q", "--detach", "main")

    found = read(repo)

    assert (found.head, found.head_ref) == (repo.sha("main"), None)


def test_an_unborn_branch_has_no_commit(tmp_path: Path):
    found = read(Repo(tmp_path / "empty", branch="trunk"))

    assert (found.head, found.head_ref, found.shas) == (None, "refs/heads/trunk", {})


def test_a_ref_to_a_missing_object_hides_no_other(repo: Repo):
    (repo.path / ".git/refs/heads/broken").write_text("1" * 40 + "\n")

    assert read(repo).branch("topic") == repo.sha("topic")


def test_a_head_that_is_a_symbolic_link_is_followed(repo: Repo):
    head = repo.path / ".git/HEAD"
    head.unlink()
    head.symlink_to("refs/heads/main")

    assert read(repo).head_ref == "refs/heads/main"


def test_branches_at_a_commit_are_sorted_and_local(repo: Repo, tmp_path: Path):
    for name in ("zeta", "alpha", "feature/x"):
        repo.git("branch", name)
    clone = repo.clone(tmp_path / "clone")

    assert read(repo).branches_at(repo.sha()) == ["alpha", "feature/x", "topic", "zeta"]
    assert read(clone).branches_at(repo.sha()) == ["topic"]
    assert read(repo).branches_at("1" * 40) == []


def test_a_branch_of_a_remote_counts_where_no_local_one_has_its_name(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone")
    moved = clone.commit({"x": "1\n"})

    found = read(clone)

    assert found.branch("main") == repo.sha("main")
    assert found.branch("topic") == found.branch("refs/heads/topic") == moved
    assert found.branch("HEAD") is None
    assert found.branch("nowhere") is None
    assert found.upstreams == {"refs/heads/topic": "refs/remotes/origin/topic"}
    assert found.symbolic == {"refs/remotes/origin/HEAD": "refs/remotes/origin/topic"}


def test_short_names_follow_the_rules_of_git(repo: Repo, tmp_path: Path):
    repo.tag("topic", "main")
    clone = repo.clone(tmp_path / "clone")

    assert read(repo).full_name("topic") == "refs/tags/topic"
    assert read(repo).full_name("heads/topic") == "refs/heads/topic"
    assert read(clone).full_name("origin") == "refs/remotes/origin/HEAD"
    assert read(repo).full_name("nowhere") is None
    assert read(repo).full_name("") is None


def test_nothing_runs_while_no_ref_moves(repo: Repo, runs: list[str]):
    settled(repo)
    first = read(repo)
    runs.clear()

    assert read(repo) is first
    assert runs == []


@pytest.mark.parametrize(
    "move",
    [
        ("branch", "other"),
        ("branch", "-D", "main"),
        ("branch", "deep/er/still"),
        ("tag", "v1"),
        ("checkout", "-q", "--detach"),
        ("checkout", "-q", "main"),
        ("reset", "-q", "--hard", "main"),
        ("commit", "-q", "--allow-empty", "-m", "x"),
        ("pack-refs", "--all"),
        ("branch", "--set-upstream-to=main"),
        ("update-ref", "refs/remotes/origin/x", "HEAD"),
    ],
    ids=" ".join,
)
def test_every_move_of_a_ref_changes_the_stamp(repo: Repo, move: tuple[str, ...]):
    before = settled(repo)
    repo.git(*move)

    assert stamp(repo) != before
    assert read(repo).shas == {
        name: sha
        for sha, name in (
            line.split() for line in repo.git("show-ref", "--dereference").splitlines()
        )
    }


def test_a_move_within_a_linked_worktree_changes_its_stamp(repo: Repo, tmp_path: Path):
    linked = repo.worktree(tmp_path / "linked", "side")
    before = settled(linked)
    linked.git("checkout", "-q", "--detach")
    detached = settled(linked)
    repo.git("branch", "elsewhere")

    assert len({before, detached, stamp(linked)}) == 3


def test_two_moves_under_one_stat_are_both_seen(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    """Loose refs are of one size, and the clock of a file system ticks slowly."""
    monkeypatch.setattr(refs, "RACY_NS", 60 * 10**9)
    branch = repo.path / ".git/refs/heads/main"
    now = branch.stat().st_mtime_ns
    for sha in [repo.sha("main"), repo.sha("topic")] * 3:
        branch.write_text(f"{sha}\n")
        os.utime(branch, ns=(now, now))

        assert read(repo).branch("main") == sha


def test_a_clock_that_runs_ahead_does_not_keep_refs_from_resting(repo: Repo, runs: list[str]):
    later = (repo.path / ".git/HEAD").stat().st_mtime_ns + 3_600 * 10**9
    os.utime(repo.path / ".git/HEAD", ns=(later, later))
    until(lambda: stamp(repo) == stamp(repo))
    read(repo)
    runs.clear()

    read(repo)

    assert runs == []


def test_the_folders_to_watch_tell_of_every_move(repo: Repo, tmp_path: Path):
    linked = repo.worktree(tmp_path / "linked", "deep/side")
    common = repo.path / ".git"

    watched = refs.watched(open_repository(linked.path))

    assert {common, common / "refs", common / "refs/heads", common / "refs/heads/deep"} <= {
        *watched
    }
    assert {common / "worktrees/linked", common / "worktrees/linked/logs"} <= {*watched}
    assert common / "objects" not in watched
    assert all(folder.is_dir() for folder in watched)


def test_what_the_service_keeps_is_no_branch_and_no_move(repo: Repo):
    before, known = settled(repo), read(repo)
    repo.git("update-ref", "refs/svc/checkpoints/chat/turn", "HEAD")

    assert settled(repo) == before
    repo.git("update-ref", "refs/svc/checkpoints/chat/turn", "main")
    repo.git("update-ref", "refs/svc/checkpoints/chat/more", "main")
    folders = refs.watched(open_repository(repo.path))

    assert settled(repo) == before
    assert not [folder for folder in folders if "svc" in folder.parts]
    repo.git("tag", "moved")
    after = read(repo)
    assert after.shas == {**known.shas, "refs/tags/moved": repo.sha()}
