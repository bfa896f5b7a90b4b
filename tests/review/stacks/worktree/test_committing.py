"""Chosen files become a commit; HEAD's branch and the index move for exactly these."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict, Invalid, NotFound
from review.stacks.worktree import committing
from tests.review.places import put
from tests.review.repos import Repo
from tests.review.stacks.worktree.desk import PLACE, Desk


def test_chosen_files_are_committed_and_the_rest_stays_as_it_was(desk: Desk):
    desk.repo.write({"a.txt": "a, new\n", "b.txt": "b, staged\n", "new.txt": "new\n"})
    desk.repo.git("add", "b.txt")
    (desk.root / "d/c.txt").unlink()
    head, stats = desk.repo.sha(), desk.stats()

    made = desk.commit("a.txt", "d/c.txt", message="Say so\n\n\n\nBecause.   \n")

    assert made == {"sha": desk.repo.sha(), "branch": "main", "subject": "Say so",
                    "files": ["a.txt", "d/c.txt"]}  # fmt: skip
    assert desk.repo.git("log", "-1", "--format=%P%n%an <%ae>%n%cn%n%B") == (
        f"{head}\nAda <ada@example.org>\nAda\nSay so\n\nBecause."
    )
    assert desk.repo.git("show", "--name-status", "--format=") == "M\ta.txt\nD\td/c.txt"
    assert desk.status() == ["M  b.txt", "?? new.txt"]
    assert desk.stats()["b.txt"] == stats["b.txt"]
    assert "\tcommit: Say so" in desk.repo.git("reflog", "show", "main", "-1", "--format=%x09%gs")
    assert (desk.paths(), desk.locks) == (["b.txt", "new.txt"], [])


def test_nothing_named_is_all_that_differs_with_both_names_of_what_was_renamed(desk: Desk):
    desk.repo.write({"long.txt": "one\ntwo\nthree\n" * 9})
    desk.repo.commit(subject="Long")
    (desk.root / "long.txt").rename(desk.root / "d/moved.txt")
    (desk.root / "run.sh").chmod(0o755)
    (desk.root / "link").symlink_to("a.txt")
    odd = os.fsdecode(b"\xff\n")
    (desk.root / odd).write_text("odd\n")

    made = desk.commit()

    assert sorted(made["files"]) == ["\\xFF\n", "d/moved.txt", "link", "run.sh"]
    assert desk.status() == []
    assert "long.txt" not in desk.tree()
    assert desk.tree()["run.sh"].startswith("100755")
    assert desk.tree()["link"].startswith("120000")


def folder_for_file(root: Path) -> None:
    (root / "a.txt").unlink()
    put(root / "a.txt/inside", b"inside\n")


def file_for_folder(root: Path) -> None:
    shutil.rmtree(root / "d")
    put(root / "d", b"d\n")


def link_for_folder(root: Path) -> None:
    (root / "d").rename(root / "e")
    (root / "d").symlink_to("e")


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("change", [folder_for_file, file_for_folder, link_for_folder])
def test_what_took_the_place_of_a_file_or_a_folder_is_committed_as_git_does_it(
    desk: Desk, change: Callable[[Path], None], staged: bool
):
    change(desk.root)
    if staged:
        desk.repo.git("add", "-A")

    desk.commit()

    assert (desk.paths(), desk.status(), desk.locks) == ([], [], [])
    assert sorted(desk.tree()) == sorted(desk.files())


def test_a_deleted_file_is_committed_alone_where_a_folder_took_its_place(desk: Desk):
    folder_for_file(desk.root)

    desk.commit("a.txt")

    assert (desk.paths(), desk.status()) == (["a.txt/inside"], ["?? a.txt/inside"])


def test_the_first_commit_and_one_on_no_branch_are_made_as_git_makes_them(desk: Desk):
    desk.repo.git("checkout", "-q", "--detach")
    desk.repo.write({"a.txt": "detached\n"})
    assert desk.commit()["branch"] is None
    assert desk.repo.sha() != desk.repo.sha("main")

    desk.repo.git("checkout", "-q", "--orphan", "fresh")
    desk.repo.git("rm", "-q", "-r", "--cached", ".")
    assert desk.commit("b.txt")["branch"] == "fresh"
    assert (desk.repo.git("rev-list", "--count", "HEAD"), list(desk.tree())) == ("1", ["b.txt"])


@pytest.mark.parametrize(
    ("message", "files", "said"),
    [
        ("", None, '"message" is required'),
        (" \n\t", None, '"message" is required'),
        ("a\0b", None, '"message" must be text'),
        (None, None, '"message" is required'),
        ("x", [], "choose at least one file"),
        ("x", ["b.txt"], "b.txt, which does not differ"),
        ("x", ["../out"], "which does not differ"),
        ("x", "a.txt", "must be a list"),
        ("x", [7], "must be a list"),
    ],
)
def test_what_cannot_be_committed_is_said_and_nothing_changes(
    desk: Desk, message: Any, files: Any, said: str
):
    desk.repo.write({"a.txt": "a, new\n"})
    head, index = desk.repo.sha(), desk.index()

    with pytest.raises(Invalid, match=said):
        committing.commit(files=files, message=message, **PLACE)

    assert (desk.repo.sha(), desk.index(), desk.locks) == (head, index, [])


def refused(desk: Desk, code: str, *files: str, **more: str) -> None:
    head, index, tree = desk.repo.sha(), desk.index(), desk.files()
    with pytest.raises(Conflict) as caught:
        desk.commit(*files, **more)
    assert caught.value.code == code, caught.value.text
    assert (desk.repo.sha(), desk.index(), desk.files()) == (head, index, tree)


def test_only_what_was_seen_is_committed(desk: Desk):
    desk.repo.write({"a.txt": "seen\n", "b.txt": "seen\n"})
    seen = desk.look()["look"]
    desk.repo.write({"b.txt": "later\n"})
    refused(desk, "changed", "b.txt", look=seen)
    desk.commit("a.txt", look=seen)
    refused(desk, "moved", "b.txt", look=seen)
    again = desk.look()["look"]
    desk.repo.git("checkout", "-q", "-b", "other")
    refused(desk, "moved", "b.txt", look=again)
    refused(desk, "changed", "b.txt", look="0" * 40)
    with pytest.raises(Invalid):
        desk.commit("b.txt", look="HEAD")


def test_a_merge_a_rebase_and_a_conflict_are_finished_first(desk: Desk):
    desk.repo.branch("other")
    desk.repo.commit({"a.txt": "theirs\n"})
    desk.repo.checkout("main")
    desk.repo.commit({"a.txt": "ours\n"})
    desk.repo.write({"b.txt": "mine\n"})
    assert desk.look()["blocked"] is None
    for half in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"):
        (desk.root / ".git" / half).write_text(desk.repo.sha("other"))
        assert "is under way" in (desk.look()["blocked"] or "")
        refused(desk, "blocked", "b.txt")
        (desk.root / ".git" / half).unlink()
    desk.repo.git("commit", "-q", "-am", "mine")
    with pytest.raises(AssertionError):
        desk.repo.git("merge", "-q", "other")
    refused(desk, "blocked", "a.txt")
    (desk.root / ".git/MERGE_HEAD").unlink()
    refused(desk, "unmerged", "a.txt")


def test_a_lock_of_another_git_is_not_taken_for_ours(desk: Desk):
    desk.repo.write({"a.txt": "a, new\n"})
    lock = desk.root / ".git/index.lock"
    lock.write_text("theirs")
    refused(desk, "locked", "a.txt")
    assert lock.read_text() == "theirs"
    lock.unlink()
    (desk.root / ".git/refs/heads/main.lock").write_text("")
    refused(desk, "moved", "a.txt")
    assert not lock.exists()


def test_git_is_told_who_commits_and_makes_up_no_name(desk: Desk, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    desk.repo.write({"a.txt": "a, new\n"})
    desk.repo.git("config", "--unset", "user.email")
    refused(desk, "no_identity", "a.txt")
    put(tmp_path / ".gitconfig", b"[user]\n\temail = global@example.org\n")
    desk.commit("a.txt")
    assert desk.repo.git("log", "-1", "--format=%ae") == "global@example.org"


def test_no_hook_filter_or_signature_of_the_repository_is_made(desk: Desk, tmp_path):
    mark = tmp_path / "ran"
    hooks = desk.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction",
                 "post-index-change", "prepare-commit-msg"):  # fmt: skip
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
        (hooks / name).chmod(0o755)
    desk.repo.config("commit.gpgsign", "true")
    desk.repo.config("gpg.program", f"touch {mark}; false")
    desk.repo.config("core.fsmonitor", f"touch {mark}; false")
    desk.repo.config("filter.evil.clean", f"touch {mark}; cat")
    put(desk.root / ".gitattributes", b"*.bin filter=evil\n")
    put(desk.root / "x.bin", b"x")

    with pytest.raises(Conflict, match="goes through the filter evil"):
        desk.commit("x.bin")
    desk.commit(".gitattributes")

    assert not mark.exists()  # before a git of the test's own, which runs them
    assert "gpgsig" not in desk.repo.git("cat-file", "commit", "HEAD")


def test_line_ends_are_kept_as_git_would_keep_them(desk: Desk):
    desk.repo.config("core.autocrlf", "true")
    put(desk.root / "a.txt", b"one\r\ntwo\r\n")

    desk.commit("a.txt")

    assert desk.repo.raw("cat-file", "blob", "HEAD:a.txt") == b"one\ntwo\n"
    assert (desk.root / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert desk.status() == []


def test_a_linked_worktree_a_split_index_and_what_is_no_work_tree(desk: Desk, home, tmp_path):
    linked = desk.repo.worktree(tmp_path / "linked", "topic")
    put(home / "pay" / "project.yaml", f"repos:\n- name: api\n  path: {linked.path}\n".encode())
    linked.git("update-index", "--split-index")
    linked.write({"a.txt": "linked\n", "b.txt": "staged\n"})
    linked.git("add", "b.txt")
    main = desk.index()

    assert desk.commit("a.txt")["branch"] == "topic"

    assert Desk(linked).status() == ["M  b.txt"]
    assert (desk.index(), desk.status()) == (main, [])
    bare = desk.repo.clone(tmp_path / "bare", "--bare")
    put(home / "pay" / "project.yaml", f"repos:\n- name: api\n  path: {bare.path}\n".encode())
    with pytest.raises(NotFound):
        desk.commit("a.txt")


def test_what_a_sparse_checkout_leaves_out_stays_left_out(desk: Desk):
    desk.repo.commit({"far/x.txt": "x\n", "far/y.txt": "y\n"}, "Far")
    desk.repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "d")
    desk.repo.write({"d/c.txt": "c, new\n", "a.txt": "a, staged\n"})
    desk.repo.git("add", "a.txt")

    desk.commit("d/c.txt")

    assert desk.status() == ["M  a.txt"]
    assert [line[0] for line in desk.index() if "far/" in line] == ["S", "S"]
    assert desk.discard("a.txt")["files"] == ["a.txt"]
    assert (desk.status(), [path for path in desk.tree() if "far/" in path]) == (
        [],
        ["far/x.txt", "far/y.txt"],
    )


def test_a_repository_of_long_ids_and_one_without_modes(desk: Desk, home, tmp_path):
    long = Repo(tmp_path / "long", sha256=True)
    put(home / "pay" / "project.yaml", f"repos:\n- name: api\n  path: {long.path}\n".encode())
    long.config("user.name", "Ada")
    long.config("user.email", "ada@example.org")
    long.write({"a.txt": "a\n", "b.txt": "b\n"})
    mine = Desk(long)

    assert len(mine.commit("a.txt", message="First")["sha"]) == 64
    mine.undo(mine.discard("b.txt")["id"])
    assert mine.status() == ["?? b.txt"]
    long.config("core.filemode", "false")
    (long.path / "a.txt").chmod(0o755)
    assert mine.paths() == ["b.txt"]
    long.write({"a.txt": "a, new\n"})
    mine.commit()
    assert (mine.status(), mine.tree()["a.txt"][:6]) == ([], "100644")


def test_what_is_tracked_no_more_is_committed_as_deleted_and_lies_there_all_the_same(desk: Desk):
    desk.repo.commit({"secret.env": "KEY=1\n"}, "Too much")
    desk.repo.git("rm", "-q", "--cached", "secret.env")
    desk.repo.write({".gitignore": "*.env\n", "secret.env": "KEY=2\n"})
    assert desk.paths() == [".gitignore", "secret.env"]

    desk.commit("secret.env")
    desk.commit()

    assert (desk.status(), "secret.env" in desk.tree()) == ([], False)
    assert (desk.root / "secret.env").read_text() == "KEY=2\n"


@pytest.mark.parametrize("mark", ["--skip-worktree", "--assume-unchanged"])
def test_what_git_is_told_to_leave_alone_is_left_alone(desk: Desk, mark: str):
    desk.repo.commit({"far.txt": "one\ntwo\nthree\n"}, "Far")
    desk.repo.git("update-index", mark, "b.txt", "far.txt")
    (desk.root / "far.txt").unlink()
    desk.repo.write({"a.txt": "a, new\n", "b.txt": "mine\n", "near.txt": "one\ntwo\nthree\n"})
    marked = [line for line in desk.index() if line.endswith(("\tb.txt", "\tfar.txt"))]
    objects = desk.repo.git("count-objects", "-v")
    assert (desk.paths(), desk.repo.git("count-objects", "-v")) == (["a.txt", "near.txt"], objects)
    with pytest.raises(Invalid):
        desk.discard("b.txt")

    desk.commit()

    assert (desk.paths(), desk.status()) == ([], [])
    assert [line for line in desk.index() if line.endswith(("\tb.txt", "\tfar.txt"))] == marked
    assert desk.repo.git("show", "HEAD:b.txt", "HEAD:far.txt") == "b\none\ntwo\nthree"
    assert (desk.root / "b.txt").read_text() == "mine\n"
