"""Undo takes back exactly what a turn changed and nobody changed since."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path

import pytest

from config.errors import Conflict, NotFound
from config.git import entries, placing
from config.storage import drafts
from tests.workspace.trees.desk import Desk
from workspace.trees import undo
from workspace.trees.changes import ASTRAY, BROKEN, NOT_BY_TOOLS, OTHER_TURN
from workspace.trees.undo import IGNORED, SINCE


def mess(root: Path) -> None:
    """A bit of everything that a command can do to a tree."""
    (root / "a.txt").write_text("changed\n")
    (root / "a.txt").chmod(0o750)
    (root / "src/b.txt").rename(root / "src/moved.txt")
    (root / "deep/er").mkdir(parents=True)
    (root / "deep/er/new.txt").write_text("new\n")
    (root / "link").unlink()
    (root / "link").symlink_to("elsewhere")
    (root / "file").unlink()
    (root / "file").mkdir()
    (root / "file/inside").write_text("x")
    (root / os.fsdecode(b'\xff\n"')).write_text("odd\n")


@pytest.fixture
def messed(desk: Desk):
    (desk.root / "link").symlink_to("a.txt")
    desk.put("file", "a file\n")
    (desk.root / "a.txt").chmod(0o640)
    return desk, desk.state(), desk.at_work().runs(mess).ends()


def test_everything_a_turn_did_is_taken_back_and_given_again(messed):
    desk, before, turn = messed
    after = desk.state()

    done = turn.undo()

    assert desk.state() == before
    assert (len(done.restored), done.kept) == (8, [])
    assert not (desk.root / "deep").exists()
    assert turn.redo().restored == done.restored
    again = desk.state()
    assert {path: data for path, (_, data) in again.items()} == {
        path: data for path, (_, data) in after.items()
    }


def test_an_undo_that_is_repeated_changes_nothing_more(messed):
    desk, before, turn = messed
    turn.undo()

    assert turn.undo().restored == []
    assert desk.state() == before


def test_what_was_changed_since_is_kept_and_named(desk: Desk):
    turn = desk.at_work().writes("a.txt", "turn\n").writes("src/b.txt", "turn\n").ends()
    desk.put("a.txt", "mine\n")

    done = turn.undo()

    assert (done.restored, done.kept) == (["src/b.txt"], [("a.txt", SINCE)])
    assert desk.read("a.txt") == "mine\n"
    assert turn.redo().restored == ["src/b.txt"]
    assert desk.read("a.txt") == "mine\n"


def test_a_new_file_that_was_edited_since_is_not_deleted(desk: Desk):
    turn = desk.at_work().runs(lambda root: desk.put("new", "turn\n")).ends()
    desk.put("new", "turn\nmine\n")

    assert turn.undo().kept == [("new", SINCE)]
    assert desk.read("new") == "turn\nmine\n"


def test_what_another_turn_did_meanwhile_is_not_taken_away(desk: Desk):
    one = desk.at_work()
    other = desk.at_work()
    one.runs(lambda root: desk.put("a.txt", "by one\n")).writes("src/b.txt", "by one\n")
    other.runs(lambda root: desk.put("other", "other\n"))
    running = one.ends().changes()
    other.ends()

    assert running == {"a.txt": f"modified: {OTHER_TURN}", "other": f"added: {OTHER_TURN}",
                       "src/b.txt": "modified"}  # fmt: skip
    done = one.undo()
    assert done.restored == ["src/b.txt"]
    assert (desk.read("other"), desk.read("src/b.txt")) == ("other\n", "two\n")


def test_turns_that_take_no_part_in_a_file_leave_it_to_the_one_that_wrote_it(desk: Desk):
    one = desk.at_work().writes("a.txt", "early\n")
    other = desk.at_work().runs(lambda root: desk.put("other", "other\n")).ends()
    one.ends()

    assert one.changes() == {"a.txt": "modified", "other": f"added: {OTHER_TURN}"}
    assert other.changes() == {"other": "added"}


def test_a_file_that_two_turns_wrote_in_turns_belongs_to_neither(desk: Desk):
    one, other = desk.at_work(), desk.at_work()
    one.writes("a.txt", "1\n")
    other.writes("a.txt", "2\n")
    one.writes("a.txt", "3\n").ends()
    other.ends()

    assert one.changes() == {"a.txt": f"modified: {OTHER_TURN}"}
    assert one.undo().restored == []


def test_a_persons_save_while_a_turn_uses_file_tools_alone_is_not_its_own(desk: Desk):
    turn = desk.at_work().writes("a.txt", "turn\n")
    desk.put("src/b.txt", "mine\n")
    desk.put("a.txt", "turn and mine\n")
    turn.writes("a.txt", "turn again\n").ends()

    assert turn.changes() == {"a.txt": f"modified: {BROKEN}",
                              "src/b.txt": f"modified: {NOT_BY_TOOLS}"}  # fmt: skip


def test_an_undo_while_another_turn_runs_is_not_that_turns_doing(desk: Desk):
    first = desk.at_work().runs(lambda root: desk.put("a.txt", "first\n")).ends()
    running = desk.at_work().runs(lambda root: desk.put("mine", "x\n"))
    first.undo()
    running.ends()

    assert running.changes() == {"a.txt": f"modified: {OTHER_TURN}", "mine": "added"}


def test_what_was_ignored_before_a_turn_is_not_deleted_by_its_undo(desk: Desk):
    desk.put("secret.log", "mine\n")

    def stop_ignoring(root: Path) -> None:
        desk.put(".gitignore", "")
        desk.put("made", "x\n")

    turn = desk.at_work().runs(stop_ignoring).ends()
    assert turn.changes()["secret.log"] == "added"

    done = turn.undo()

    assert (done.restored, done.kept) == ([".gitignore", "made"], [("secret.log", IGNORED)])
    assert desk.read("secret.log") == "mine\n"


def test_what_a_turn_only_made_ignored_is_no_deletion_of_its(desk: Desk):
    for name in (".env", "build/one", "build/two"):
        desk.put(name, "mine\n")

    def ignores(root: Path) -> None:
        (root / ".gitignore").write_text("build/\n.env\n")

    turn = desk.at_work().runs(ignores).ends()
    assert turn.changes() == {".gitignore": "modified"}
    (desk.root / ".env").unlink()  # by the person, later

    done = turn.undo()

    assert (done.restored, done.kept) == ([".gitignore"], [])
    assert not (desk.root / ".env").exists()


def test_what_a_turn_deleted_and_made_ignored_is_given_back(desk: Desk):
    desk.put(".env", "mine\n")

    def removes(root: Path) -> None:
        (root / ".env").unlink()
        (root / ".gitignore").write_text(".env\n")

    turn = desk.at_work().runs(removes).ends()
    assert turn.changes() == {".env": "deleted", ".gitignore": "modified"}


def test_a_turn_that_a_crash_ended_gives_back_what_its_file_tools_did(desk: Desk):
    from workspace.trees import checkpoints

    turn = desk.at_work().writes("a.txt", "turn\n")
    turn.runs(lambda root: desk.put("src/b.txt", "unknown\n"))
    checkpoints.end_lost(turn.row)

    assert turn.undo().restored == ["a.txt"]
    assert (desk.read("a.txt"), desk.read("src/b.txt")) == ("one\n", "unknown\n")


def test_a_link_that_stands_in_the_way_is_not_followed(desk: Desk, tmp_path: Path):
    turn = desk.at_work().runs(lambda root: desk.put("src/b.txt", "turn\n")).ends()
    outside = tmp_path / "outside"
    (desk.root / "src").rename(outside)
    (desk.root / "src").symlink_to(outside)

    assert turn.undo().kept == [("src/b.txt", SINCE)]
    assert (outside / "b.txt").read_text() == "turn\n"


def forge(desk: Desk, tree: str, folder: bytes, name: bytes) -> None:
    """Give the tree one folder more with one file in it, under the id that it has: git looks at
    no hash when it reads."""

    def put(kind: str, data: bytes, oid: str = "") -> bytes:
        whole = f"{kind} {len(data)}\0".encode() + data
        oid = oid or hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        place = desk.root / ".git/objects" / oid[:2] / oid[2:]
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_bytes(zlib.compress(whole))
        return bytes.fromhex(oid)

    inner = put("tree", b"100644 " + name + b"\0" + put("blob", b"forged\n"))
    put("tree", b"40000 " + folder + b"\0" + inner + desk.repo.raw("cat-file", "tree", tree), tree)


@pytest.mark.parametrize(
    ("folder", "name"),
    [("..", ".zprofile"), ("../..", ".zprofile"), (".GIT", "config"), (".", "config")],
)
def test_a_path_that_git_would_not_write_is_kept_and_the_rest_is_restored(
    desk: Desk, folder: str, name: str
):
    turn = desk.at_work()
    assert turn.record
    assert turn.record.before
    forge(desk, turn.record.before, folder.encode(), name.encode())
    around = {path: path.lstat() for path in desk.root.parent.rglob("*") if path.is_file()}
    turn.runs(lambda root: desk.put("a.txt", "turn\n")).ends()

    done = turn.undo()

    assert (done.restored, done.kept) == (["a.txt"], [(f"{folder}/{name}", ASTRAY)])
    assert desk.read("a.txt") == "one\n"
    assert not (desk.root.parent / ".zprofile").exists()
    assert not (desk.root / ".GIT").exists()
    assert not (desk.root / "config").exists()
    config = desk.root / ".git/config"
    assert config.lstat() == around[config]


def test_a_link_that_came_into_the_way_to_the_tree_itself_leads_no_undo_elsewhere(
    desk: Desk, tmp_path: Path
):
    turn = desk.at_work().runs(lambda root: desk.put("a.txt", "turn\n")).ends()
    desk.root.rename(tmp_path / "real")
    desk.root.symlink_to(tmp_path / "real")

    with pytest.raises(Conflict, match="A link leads elsewhere"):
        turn.undo()
    with pytest.raises(OSError), entries.folder_of(str(desk.root), "a.txt"):
        pass
    assert desk.read("a.txt") == "turn\n"


@pytest.mark.parametrize(
    "path", ["", "/x", "x/", "a//b", ".", "a/./b", "../x", "a/..", ".git", "a/.Git/x", "a\0b",
             ".g\u200cit/config"],
)  # fmt: skip
def test_no_folder_is_opened_by_a_path_that_git_would_not_write(desk: Desk, path: str):
    with pytest.raises(entries.Astray), entries.folder_of(str(desk.root), path, make=True):
        pass
    for fine in ("a", ".gitignore", "a/..b/...", "git/x", os.fsdecode(b"\xff")):
        assert not entries.astray(fine)


def test_a_save_that_slips_in_between_is_not_lost(desk: Desk, monkeypatch):
    turn = desk.at_work().runs(lambda root: desk.put("a.txt", "turn\n")).ends()
    swap = drafts.Folder.swap

    def late(folder: drafts.Folder, draft: str, target: str) -> None:
        if target == "a.txt":  # records of the turn are swapped in, too
            monkeypatch.setattr(drafts.Folder, "swap", swap)
            desk.put("a.txt", "mine\n")
        swap(folder, draft, target)

    monkeypatch.setattr(drafts.Folder, "swap", late)

    assert turn.undo().kept == [("a.txt", SINCE)]
    assert desk.read("a.txt") == "mine\n"
    assert sorted(desk.state()) == [".gitignore", "a.txt", "src/b.txt"]


def test_a_save_that_slips_in_before_a_deletion_is_not_lost(desk: Desk, monkeypatch):
    turn = desk.at_work().runs(lambda root: desk.put("new", "turn\n")).ends()
    move = drafts.Folder.move

    def late(folder: drafts.Folder, old: str, new: str) -> None:
        if old == "new":
            monkeypatch.setattr(drafts.Folder, "move", move)
            desk.put("new", "mine\n")
        move(folder, old, new)

    monkeypatch.setattr(drafts.Folder, "move", late)

    assert turn.undo().kept == [("new", SINCE)]
    assert desk.read("new") == "mine\n"


def test_a_file_that_cannot_be_written_is_named_and_the_others_are_restored(
    desk: Desk, monkeypatch
):
    turn = desk.at_work().writes("a.txt", "x\n").writes("src/b.txt", "x\n").ends()
    place = placing.place

    def refuse(root: str, path: str, *rest: object, **more: object) -> None:
        if path == "a.txt":
            raise PermissionError(13, "Permission denied")
        place(root, path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(placing, "place", refuse)
    done = turn.undo()

    assert done.kept == [("a.txt", "it cannot be written: Permission denied")]
    assert done.restored == ["src/b.txt"]


def test_what_is_not_kept_or_of_another_project_is_not_found(desk: Desk):
    turn = desk.at_work().ends()
    for chat, name in ((turn.row.chat, turn.row.id), (turn.row.chat, "../x"), ("x", turn.row.id)):
        with pytest.raises(NotFound):
            undo.restore_files(desk.project, chat, name, "undo")


def test_edits_that_were_not_undone_cannot_be_given_again(desk: Desk):
    turn = desk.at_work().writes("a.txt", "x\n").ends()

    with pytest.raises(Conflict):
        turn.redo()
