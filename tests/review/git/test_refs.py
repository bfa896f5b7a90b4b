"""Branches, tags and HEAD are read once and again when they moved, not before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from config.git.command import GitError
from review import caches
from review.git import reffiles, refs
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


@pytest.mark.django_db
def test_refs_in_plain_files_are_read_as_git_reads_them(
    repo: Repo, tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
):
    repo.tag("heavy", message="with words")
    repo.git("tag", "-a", "-m", "a tag of a tag", "nested", "heavy")
    repo.git("tag", "tree", "HEAD^{tree}")
    repo.git("branch", "größe/é@1")
    repo.git("update-ref", "refs/svc/checkpoints/x", "HEAD")
    clone = repo.clone(tmp_path / "clone")
    clone.git("pack-refs", "--all")
    moved = clone.commit({"x": "1\n"})
    clone.git("symbolic-ref", "refs/heads/nowhere", "refs/heads/gone")
    clone.git("symbolic-ref", "refs/heads/alias", "refs/heads/topic")
    clone.git("symbolic-ref", "refs/heads/again", "refs/heads/alias")
    clone.git("update-ref", "-d", "refs/tags/heavy")
    linked = clone.worktree(tmp_path / "linked", "side")
    linked.git("update-ref", "refs/bisect/bad", "HEAD")
    places = [repo, clone, linked]
    for place in places:
        open_repository(place.path)
    runs.clear()

    by_files = [read(place) for place in places]

    assert "for-each-ref" not in runs
    assert by_files[1].shas["refs/heads/alias"] == moved
    assert ["refs/bisect/bad" in one.shas for one in by_files] == [False, False, True]
    monkeypatch.setattr(reffiles, "read", lambda *_args, **_more: None)
    caches.clear()
    assert [read(place) for place in places] == by_files


@pytest.mark.django_db
def test_no_ref_is_lost_while_git_packs_them(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    before = read(repo)
    for name in ("_loose", "_read_packed"):
        monkeypatch.setattr(reffiles, name, packing(repo, getattr(reffiles, name)))
    caches.clear()

    assert read(repo).shas == before.shas


def packing(repo: Repo, step: Callable[..., Iterable[object]]) -> Callable[..., Iterator[object]]:
    """The step, and behind it somebody who packs."""

    def stepped(*args: object) -> Iterator[object]:
        found = list(step(*args))
        repo.git("pack-refs", "--all")
        return iter(found)

    return stepped


@pytest.mark.parametrize(
    "odd", ["extension", "reftable", "link", "name", "content", "packed", "cut", "chain"]
)
def test_refs_that_are_out_of_the_ordinary_are_left_to_git(repo: Repo, odd: str, runs: list[str]):
    folder = repo.path / ".git"
    match odd:
        case "extension":
            repo.git("config", "core.repositoryFormatVersion", "1")
            repo.git("config", "extensions.noop", "true")
        case "reftable":
            (folder / "reftable").mkdir()
        case "link":
            (folder / "refs/heads/link").symlink_to("main")
        case "name":
            (folder / "refs/heads/a..b").write_text(repo.sha() + "\n")
        case "content":
            (folder / "refs/heads/torn").write_text(repo.sha()[:7])
        case "packed":
            (folder / "packed-refs").write_text("torn\n")
        case "cut":
            (folder / "packed-refs").write_text(f"{repo.sha()} refs/tags/v")
        case "chain":
            repo.tag("t0", message="first of a long chain")
            for number in range(reffiles.DEPTH):
                repo.git("tag", "-a", "-m", "next", f"t{number + 1}", f"t{number}")
    open_repository(repo.path)
    runs.clear()

    with contextlib.suppress(GitError):  # git refuses torn packed refs
        assert read(repo).branch("topic") == repo.sha("topic")

    assert "for-each-ref" in runs


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


@pytest.mark.parametrize("name", ["../../x", "a b", ".x", "x.lock", "topic\n\0"])
def test_a_head_that_no_ref_can_be_is_not_believed(repo: Repo, name: str):
    (repo.path / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\n")

    with pytest.raises(GitError):
        refs.read(open_repository(repo.path))


def test_a_head_with_a_nul_in_it_is_what_git_takes_it_for(repo: Repo):
    (repo.path / ".git" / "HEAD").write_bytes(b"ref: refs/heads/topic\0\n")

    assert (read(repo).head_ref, read(repo).head) == ("refs/heads/topic", repo.sha("topic"))


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
    assert refs.upstream(open_repository(clone.path), found) == "refs/remotes/origin/topic"
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

    watched = refs.watched_folders(open_repository(linked.path))

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
    folders = refs.watched_folders(open_repository(repo.path))

    assert settled(repo) == before
    assert not [folder for folder in folders if "svc" in folder.parts]
    repo.git("tag", "moved")
    after = read(repo)
    assert after.shas == {**known.shas, "refs/tags/moved": repo.sha()}
