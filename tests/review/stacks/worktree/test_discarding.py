"""A file becomes as HEAD has it, and what it was comes back by an undo."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import pytest

from config.errors import Conflict, Invalid, NotFound
from config.git import shadow
from config.storage import displaced
from review.stacks.worktree import discarding
from tests.review.places import put
from tests.review.stacks.worktree.desk import PLACE, Desk

ODD = os.fsdecode(b"d/\xff\n")


def records() -> list[Path]:
    return sorted(shadow.home().glob("discards/*/*"))


def mess(root: Path, repo_git) -> None:
    """A bit of everything, some of it staged."""
    put(root / "a.txt", b"changed\r\n\0")
    (root / "a.txt").chmod(0o750)
    (root / "d/c.txt").unlink()
    put(root / ODD, b"odd\n")
    (root / "link").symlink_to("nowhere")
    put(root / "deep/er/new.txt", b"new\n")
    put(root / "staged.txt", b"staged\n")
    put(root / "b.txt", b"staged\n")
    repo_git("add", "staged.txt", "b.txt")
    put(root / "staged.txt", b"and more\n")
    repo_git("rm", "-q", "--cached", "run.sh")


@pytest.fixture
def messed(desk: Desk) -> Desk:
    mess(desk.root, desk.repo.git)
    put(desk.root / ".git/info/exclude", b"*.log\n")
    put(desk.root / "x.log", b"ignored\n")
    return desk


def everything(desk: Desk) -> tuple[object, ...]:
    return desk.repo.sha(), desk.index(), desk.files(), desk.repo.git("stash", "list")


@pytest.mark.slow
def test_each_file_goes_and_comes_back_staged_as_it_was(messed: Desk):
    before = everything(messed)
    for path in messed.paths():
        index, files = messed.index(), messed.files()

        done = messed.discard(path)

        assert path not in messed.paths()
        assert path not in " ".join(messed.status())
        others = [line for line in messed.index() if not line.endswith(f"\t{path}")]
        assert others == [line for line in index if not line.endswith(f"\t{path}")]
        assert len(files.items() ^ messed.files().items()) <= 2
        assert messed.undo(done["id"])["path"] == path
        assert messed.undo(done["id"])["path"] == path  # and once more is nothing more
        assert everything(messed) == before
    displaced.settle()
    assert messed.locks == []


def test_all_of_them_leave_the_tree_as_head_has_it_and_what_is_ignored_alone(messed: Desk):
    before = everything(messed)
    names = [messed.discard(path)["id"] for path in messed.paths()]

    assert {one["id"] for one in discarding.list_discarded(**PLACE)["discarded"]} == set(names)
    assert (messed.status(), messed.paths()) == (["D  run.sh", "?? run.sh"], [])
    assert (messed.root / "x.log").read_text() == "ignored\n"
    assert not (messed.root / "deep").exists()
    for name in reversed(names):
        messed.undo(name)
    assert everything(messed) == before


def test_a_renamed_file_gets_its_old_name_again(desk: Desk):
    put(desk.root / "long.txt", b"one\ntwo\nthree\n" * 9)
    desk.repo.commit(subject="Long")
    (desk.root / "long.txt").rename(desk.root / "moved.txt")
    before = everything(desk)

    done = desk.discard("moved.txt")

    assert done["files"] == ["long.txt", "moved.txt"]
    assert desk.status() == []
    desk.undo(done["id"])
    assert everything(desk) == before


def test_line_ends_come_as_a_checkout_writes_them(desk: Desk):
    desk.repo.config("core.autocrlf", "true")
    put(desk.root / "a.txt", b"other\r\n")

    done = desk.discard("a.txt")

    assert (desk.root / "a.txt").read_bytes() == b"a\r\n"
    assert desk.status() == []
    desk.undo(done["id"])
    assert (desk.root / "a.txt").read_bytes() == b"other\r\n"


def test_what_was_written_or_staged_since_stays(desk: Desk):
    put(desk.root / "a.txt", b"mine\n")
    desk.repo.git("add", "a.txt")
    done = desk.discard("a.txt")
    put(desk.root / "a.txt", b"later\n")
    with pytest.raises(Conflict, match=r"a.txt was written since"):
        desk.undo(done["id"])
    assert (desk.root / "a.txt").read_bytes() == b"later\n"

    desk.repo.git("add", "a.txt")
    put(desk.root / "a.txt", b"a\n")
    desk.undo(done["id"])
    assert desk.repo.raw("cat-file", "blob", ":a.txt") == b"later\n"
    assert (desk.root / "a.txt").read_bytes() == b"mine\n"


def test_nothing_is_discarded_that_was_not_seen_or_cannot_be_kept(desk: Desk):
    put(desk.root / "a.txt", b"seen\n")
    seen = desk.look()["look"]
    put(desk.root / "a.txt", b"later\n")
    with pytest.raises(Conflict) as caught:
        desk.discard("a.txt", look=seen)
    assert caught.value.code == "changed"
    for path in ("b.txt", "nowhere", "../x"):
        with pytest.raises(Invalid):
            desk.discard(path)
    for name in ("", "x", "20260101T000000Z-00000000"):
        with pytest.raises(NotFound if name[8:9] else Invalid):
            desk.undo(name)
    assert (desk.root / "a.txt").read_bytes() == b"later\n"


def test_a_staged_file_behind_a_lock_stays_and_leaves_no_checkpoint(desk: Desk):
    put(desk.root / "a.txt", b"mine\n")
    desk.repo.git("add", "a.txt")
    (desk.root / ".git/index.lock").write_text("")

    with pytest.raises(Conflict) as caught:
        desk.discard("a.txt")

    assert caught.value.code == "locked"
    assert (desk.root / "a.txt").read_bytes() == b"mine\n"
    assert desk.repo.git("for-each-ref", "refs/svc") == ""
    assert records() == []


def test_a_file_whose_place_is_taken_stays_gone(desk: Desk):
    (desk.root / "a.txt").unlink()
    put(desk.root / "a.txt/inside", b"x")

    with pytest.raises(Conflict) as caught:
        desk.discard("a.txt")

    assert caught.value.code == "in_the_way"
    assert (desk.root / "a.txt/inside").read_bytes() == b"x"
    desk.discard("a.txt/inside")
    desk.discard("a.txt")
    assert desk.status() == []


def test_discards_are_kept_as_long_as_checkpoints(desk: Desk):
    put(desk.root / "a.txt", b"1\n")
    old = desk.discard("a.txt")["id"]
    aged = f"20200102T030405Z{old[16:]}"
    desk.repo.git("update-ref", f"{discarding.REFS}/{aged}", f"{discarding.REFS}/{old}")
    desk.repo.git("update-ref", "-d", f"{discarding.REFS}/{old}")
    (record,) = records()
    record.rename(record.with_name(f"{aged}.json"))
    assert [one["id"] for one in discarding.list_discarded(**PLACE)["discarded"]] == [aged]
    put(desk.root / "b.txt", b"2\n")

    new = desk.discard("b.txt")["id"]

    assert desk.repo.git("for-each-ref", "--format=%(refname:lstrip=4)", "refs/svc") == new
    assert [path.stem for path in records()] == [new]


def forged(desk: Desk, name: str) -> None:
    """What any program may write: a commit that says what was discarded, under a ref of ours."""
    blob = desk.repo.git("hash-object", "-w", "--stdin", stdin=b"forged\n")
    nothing = {"../.profile": None}
    said = {
        "path": "a.txt", "root": str(desk.root), "was": {"../.profile": ["100644", blob]},
        "staged": nothing, "head": nothing, "now": nothing,
    }  # fmt: skip
    told = f"Discarded in the work tree\n\n{json.dumps(said)}"
    made = desk.repo.git("commit-tree", "HEAD^{tree}", "-m", told)
    desk.repo.git("update-ref", f"{discarding.REFS}/{name}", made)


def test_a_discard_that_only_the_repository_tells_of_is_none(desk: Desk):
    put(desk.root / "a.txt", b"mine\n")
    done = desk.discard("a.txt")
    for name in ("20260102T030405Z-deadbeef", done["id"]):
        forged(desk, name)

    assert [one["id"] for one in discarding.list_discarded(**PLACE)["discarded"]] == [done["id"]]
    with pytest.raises(NotFound):
        desk.undo("20260102T030405Z-deadbeef")
    assert desk.undo(done["id"])["files"] == ["a.txt"]
    assert (desk.root / "a.txt").read_bytes() == b"mine\n"
    assert not (desk.root.parent / ".profile").exists()


def test_a_record_that_leads_out_of_the_work_tree_gives_nothing_back(desk: Desk):
    put(desk.root / "a.txt", b"mine\n")
    done = desk.discard("a.txt")
    (record,) = records()
    put(record, record.read_bytes().replace(b'"a.txt": ', b'"../a.txt": '))

    with pytest.raises(Conflict, match=r"git itself writes no such path: \.\./a\.txt"):
        desk.undo(done["id"])

    assert not (desk.root.parent / "a.txt").exists()
    assert (desk.root / "a.txt").read_bytes() == b"a\n"


def test_bytes_that_are_not_those_of_the_discard_are_not_given_back(desk: Desk):
    put(desk.root / "a.txt", b"mine\n")
    done = desk.discard("a.txt")
    blob = desk.repo.git("hash-object", "--stdin", stdin=b"mine\n")
    place = desk.root / ".git/objects" / blob[:2] / blob[2:]
    place.unlink()
    put(place, zlib.compress(b"blob 7\0forged\n"))

    with pytest.raises(
        Conflict, match=rf"a\.txt cannot be given back: the object {blob} is damaged"
    ):
        desk.undo(done["id"])

    assert (desk.root / "a.txt").read_bytes() == b"a\n"


def test_an_ignored_file_in_the_place_of_a_deleted_one_stays(desk: Desk):
    desk.repo.git("rm", "-q", "--cached", "a.txt")
    put(desk.root / ".git/info/exclude", b"a.txt\n")
    put(desk.root / "a.txt", b"mine\n")
    before = everything(desk)

    with pytest.raises(Conflict, match=r"a\.txt is there and ignored") as caught:
        desk.discard("a.txt")

    assert (caught.value.code, everything(desk)) == ("in_the_way", before)
    assert desk.repo.git("for-each-ref", "refs/svc") == ""
    (desk.root / "a.txt").unlink()
    desk.discard("a.txt")
    assert desk.status() == []


def test_what_took_the_place_of_a_folder_is_discarded_before_what_was_in_it(desk: Desk):
    (desk.root / "d").rename(desk.root / "e")
    (desk.root / "d").symlink_to("e")
    before = everything(desk)
    with pytest.raises(Conflict, match=r"d is in the way of d/c\.txt; discard it first") as caught:
        desk.discard("e/c.txt")
    assert (caught.value.code, everything(desk)) == ("in_the_way", before)

    link, file = desk.discard("d"), desk.discard("e/c.txt")
    assert (desk.status(), desk.files()["d/c.txt"][1]) == ([], b"c\n")
    desk.undo(file["id"])
    desk.undo(link["id"])
    assert everything(desk) == before


def test_what_git_add_announced_is_announced_again_by_an_undo(desk: Desk):
    put(desk.root / "d/run me.sh", b"run\n")
    (desk.root / "d/run me.sh").chmod(0o755)
    (desk.root / "link").symlink_to("nowhere")
    put(desk.root / "empty.txt", b"")
    desk.repo.git("add", "-N", ".")
    put(desk.root / "staged.txt", b"")
    desk.repo.git("add", "staged.txt")
    before, stats = everything(desk), desk.stats()
    announced = [" A d/run me.sh", " A empty.txt", " A link"]
    assert desk.status() == [*announced, "A  staged.txt"]

    names = [desk.discard(path)["id"] for path in desk.paths()]
    assert desk.status() == []
    for name in names:
        desk.undo(name)
        desk.undo(name)

    assert (everything(desk), desk.status()) == (before, [*announced, "A  staged.txt"])
    del stats["staged.txt"]
    assert stats.items() <= desk.stats().items()
