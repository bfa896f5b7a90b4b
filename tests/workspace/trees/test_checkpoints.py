"""The tree before a turn and after it: kept beside what the user has in git, never in its way."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from config.git import shadow, snapshot
from tests.workspace.trees.desk import Desk
from workspace.trees import checkpoints, records


def files_of(desk: Desk, ref: str) -> list[str]:
    return desk.repo.git("ls-tree", "-r", "--name-only", ref).splitlines()


def test_a_turn_that_changes_a_file_keeps_both_trees_as_commits(desk: Desk):
    turn = desk.at_work().runs(lambda root: desk.put("a.txt", "new\n")).ends()

    name = f"refs/svc/checkpoints/{turn.row.chat}/{turn.row.id}"
    assert desk.refs() == [name, f"{name}.after"]
    assert desk.repo.git("show", f"{name}:a.txt") == "one"
    assert desk.repo.git("show", f"{name}.after:a.txt") == "new"
    assert turn.changes() == {"a.txt": "modified"}
    assert turn.record
    assert turn.record.count == 1


def test_a_turn_that_changes_nothing_leaves_nothing(desk: Desk):
    turn = desk.at_work().runs(lambda root: (root / "a.txt").touch()).ends()

    assert (desk.refs(), turn.record) == ([], None)
    assert not list((shadow.home() / "turns").iterdir())


@pytest.mark.parametrize(
    "fields",
    [{"mode": "plan"}, {"tools": ["Read", "Grep", "mcp__svc_manage"]}, {"engine": None}],
    ids=["plan mode", "no tool that writes", "no engine"],
)
def test_a_turn_that_cannot_edit_is_not_kept(desk: Desk, fields: dict[str, object]):
    turn = desk.at_work(**fields)

    assert (turn.job.keep, turn.record, desk.refs()) == (None, None, [])


def test_nothing_of_the_users_is_written(desk: Desk):
    desk.put("staged.txt", "staged\n")
    desk.repo.git("add", "staged.txt")
    desk.put("a.txt", "not staged\n")
    desk.repo.git("config", "core.logAllRefUpdates", "always")
    desk.repo.git("stash", "store", "-m", "kept", desk.repo.git("stash", "create"))
    before = desk.users()

    desk.at_work().runs(lambda root: desk.put("src/b.txt", "new\n")).ends().undo()

    assert desk.users() == before


def test_what_git_ignores_stays_out_but_not_what_is_tracked_all_the_same(desk: Desk):
    desk.put("noise.log", "x\n")
    desk.put("tracked.log", "x\n")
    desk.put("mine", "x\n")
    (desk.root / ".git/info").mkdir(exist_ok=True)
    (desk.root / ".git/info/exclude").write_text("mine")
    desk.repo.git("add", "-f", "tracked.log")

    turn = desk.at_work()

    assert turn.record
    assert files_of(desk, turn.record.refs[0]) == [
        ".gitignore",
        "a.txt",
        "src/b.txt",
        "tracked.log",
    ]


def test_what_git_begins_to_ignore_leaves_the_next_tree(desk: Desk):
    desk.put("out/x", "x\n")
    first = desk.at_work()
    desk.put(".gitignore", "*.log\nout\n")
    desk.put("out/x", "and it is written on\n")
    second = desk.at_work()

    assert first.record
    assert second.record
    assert "out/x" in files_of(desk, first.record.refs[0])
    assert "out/x" not in files_of(desk, second.record.refs[0])


def test_bytes_are_kept_as_they_are_and_no_filter_runs(desk: Desk, tmp_path: Path):
    mark = tmp_path / "ran"
    for key in ("filter.evil.clean", "filter.evil.smudge", "core.fsmonitor"):
        desk.repo.git("config", key, f"touch {mark}; cat")
    desk.repo.git("config", "core.autocrlf", "true")
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-commit"):
        hook = desk.root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    desk.put(".gitattributes", "* filter=evil text eol=crlf\n")
    desk.put("crlf.txt", b"a\r\nb\n\xff")

    turn = desk.at_work().runs(lambda root: desk.put("crlf.txt", "other")).ends()
    done = turn.undo()

    assert done.restored == ["crlf.txt"]
    assert (desk.root / "crlf.txt").read_bytes() == b"a\r\nb\n\xff"
    assert not mark.exists()


def test_a_repository_inside_and_what_is_too_large_stay_out_and_whole(desk: Desk, monkeypatch):
    inner = Desk(desk.root / "inner")
    Desk(desk.root / "unborn", git=False)
    inner.repo.git("init", "-q", str(desk.root / "unborn"))
    monkeypatch.setattr(snapshot, "LARGEST", 10)
    desk.put("large.bin", "x" * 11)
    before = inner.state(), inner.users()

    turn = desk.at_work().runs(lambda root: desk.put("large.bin", "x")).ends()

    assert turn.record
    assert turn.record.left == ("inner/", "large.bin", "unborn/")
    assert "large.bin" in turn.notices[0]
    assert turn.changes()["large.bin"].startswith("added: it was not kept before the turn")
    assert turn.undo().restored == []
    assert (desk.read("large.bin"), before) == ("x", (inner.state(), inner.users()))


def test_a_linked_worktree_and_a_sparse_checkout_are_trees_like_any_other(desk: Desk):
    desk.repo.git("worktree", "add", "-q", str(desk.root.parent / "linked"))
    linked = Desk(desk.root.parent / "linked", git=False)
    desk.repo.git("sparse-checkout", "set", "--no-cone", "/a.txt")
    before = desk.users()

    one = linked.at_work().runs(lambda root: linked.put("a.txt", "linked\n")).ends()
    other = desk.at_work().runs(lambda root: desk.put("a.txt", "sparse\n")).ends()

    assert (one.changes(), other.changes()) == ({"a.txt": "modified"},) * 2
    one.undo()
    assert (linked.read("a.txt"), desk.read("a.txt")) == ("one\n", "sparse\n")
    assert desk.users() == before


def test_a_repository_of_sha256_is_kept_too(db: None, settings, tmp_path: Path):
    settings.DATA_DIR = tmp_path / "data"
    desk = Desk(tmp_path / "work", git=False)
    subprocess.run(["git", "init", "-q", "--object-format=sha256", desk.root], check=True)
    desk.put("a.txt", "one\n")

    turn = desk.at_work().writes("a.txt", "two\n").ends()
    turn.undo()

    assert desk.read("a.txt") == "one\n"


def test_what_cannot_be_kept_is_a_notice_and_no_failed_turn(desk: Desk):
    (desk.root / ".git/HEAD").unlink()

    turn = desk.at_work().writes("a.txt", "two\n").ends()

    assert turn.notices[0].startswith("The edits of this turn cannot be undone: no checkpoint")
    assert desk.read("a.txt") == "two\n"


def test_a_fifo_for_which_git_waits_is_named_with_what_to_do(desk: Desk, monkeypatch):
    monkeypatch.setattr(snapshot, "BUDGET_S", 1.0)
    (desk.root / "sub").mkdir()
    os.mkfifo(fifo := desk.root / "sub/.gitignore")

    turn = desk.at_work().runs(lambda at: (at / "b.txt").write_text("x")).ends()

    assert f"seconds: {fifo} is a FIFO, which git waits for; remove it" in turn.notices[0]


def test_nothing_is_written_into_a_repository_that_a_directory_merely_points_at(
    desk: Desk, tmp_path: Path
):
    other = Desk(tmp_path / "other")
    before = other.users()
    turn = desk.at_work()
    (desk.root / ".git").rename(tmp_path / "moved")
    (desk.root / ".git").write_text(f"gitdir: {other.root / '.git'}\n")
    turn.writes("a.txt", "two\n").ends()
    again = desk.at_work()
    (desk.root / ".git").unlink()
    (desk.root / ".git").symlink_to(other.root / ".git")

    assert "does not name this directory" in again.notices[0]
    assert "is a link" in desk.at_work().notices[0]
    assert (other.users(), other.refs()) == (before, [])


def test_a_submodule_is_a_tree_of_its_own(desk: Desk, tmp_path: Path):
    Desk(tmp_path / "lib")
    lib = str(tmp_path / "lib")
    desk.repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "sub")
    inner = Desk(desk.root / "sub", git=False)

    turn = inner.at_work().runs(lambda root: inner.put("a.txt", "two\n")).ends()

    assert (turn.notices, turn.changes()) == ([], {"a.txt": "modified"})


def test_an_index_that_was_damaged_or_half_written_is_made_again(desk: Desk):
    desk.at_work().runs(lambda root: desk.put("a.txt", "1")).ends()
    (folder,) = (shadow.home() / "trees").iterdir()
    (folder / "index").write_bytes(b"no index")
    (folder / "index.lock").write_bytes(b"")

    turn = desk.at_work().runs(lambda root: desk.put("a.txt", "2")).ends()

    assert (turn.notices, turn.changes()) == ([], {"a.txt": "modified"})


def test_blobs_that_were_pruned_are_written_again(desk: Desk):
    desk.put("untracked", "x\n")
    desk.at_work().ends()
    assert desk.refs() == []
    desk.repo.git("gc", "-q", "--prune=now")

    turn = desk.at_work().runs(lambda root: desk.put("untracked", "y\n")).ends()
    turn.undo()

    assert desk.read("untracked") == "x\n"


def test_what_is_older_than_it_is_kept_goes_with_its_refs(desk: Desk, settings):
    old = desk.at_work().runs(lambda root: desk.put("a.txt", "1")).ends()
    new = desk.at_work().runs(lambda root: desk.put("a.txt", "2")).ends()
    assert old.record
    records.update(old.record, ended=time.time() - 31 * 86_400)
    desk.repo.git("pack-refs", "--all")

    checkpoints.prune()

    assert [turn.record is not None for turn in (old, new)] == [False, True]
    assert desk.refs() == [f"refs/svc/checkpoints/{new.row.chat}/{new.row.id}{end}"
                           for end in ("", ".after")]  # fmt: skip


def test_a_directory_without_git_keeps_what_file_tools_touched(plain: Desk):
    plain.put("a.txt", "one\n")
    plain.put("b.txt", "by hand\n")

    turn = plain.at_work().writes("a.txt", "two\n").writes("new/c.txt", "three\n")
    turn.runs(lambda root: plain.put("b.txt", "by a command\n")).ends()

    assert turn.changes() == {"a.txt": "modified", "new/c.txt": "added"}
    assert turn.undo().restored == ["a.txt", "new/c.txt"]
    assert plain.state().keys() == {"a.txt", "b.txt"}
    assert plain.read("a.txt") == "one\n"
    assert turn.redo().restored == ["a.txt", "new/c.txt"]
    assert (plain.read("a.txt"), plain.read("new/c.txt")) == ("two\n", "three\n")


def test_without_days_to_keep_nothing_is_kept(desk: Desk, settings):
    settings.SVC = type("S", (), {"checkpoint_days": 0})
    assert desk.at_work().job.keep is None
    assert not (desk.root.parent / "data/checkpoints").exists()
