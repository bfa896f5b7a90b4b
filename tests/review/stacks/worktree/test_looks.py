"""What is told of a work tree, and what is told where it cannot be looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict, NotFound
from config.git import shadow
from config.git.shadow import Shadow
from config.storage import locks
from review.mcp.catalogue import REGISTRY
from review.stacks.worktree import discarding, looks
from tests.review.places import put
from tests.review.stacks.worktree.desk import PLACE, Desk


def every_way(desk: Desk) -> list[Any]:
    """All that is asked of what is not committed."""
    place = {**PLACE, "sha": "WORKTREE"}
    return [
        desk.look,
        lambda: looks.file(path="a.txt", **PLACE),
        lambda: desk.commit("a.txt"),
        lambda: desk.discard("a.txt"),
        lambda: desk.undo("20260101T000000Z-00000000"),
        lambda: discarding.list_discarded(**PLACE),
        lambda: REGISTRY["get_review"].run(None, unresolved_only=False, **place),
    ]


@pytest.mark.parametrize("how", ["moved", "garbage", "no git", "entry"])
def test_why_a_repository_cannot_be_read_is_said_whatever_is_asked(
    desk: Desk, home: Path, how: str
):
    desk.repo.write({"a.txt": "a, new\n"})
    desk.look()
    if how == "moved":
        desk.root.rename(desk.root.with_name("elsewhere"))
    elif how == "garbage":
        (desk.root / ".git/HEAD").write_text("garbage\n")
    elif how == "no git":
        (desk.root / ".git").rename(desk.root.with_name("elsewhere"))
    else:
        put(home / "pay" / "project.yaml", b"repos:\n- {name: api}\n")
    reason = {"moved": "No such directory", "entry": "path"}.get(how, "Not a git repository")

    for ask in every_way(desk):
        with pytest.raises(NotFound, match=reason) as caught:
            ask()
        assert caught.value.code == "unreadable", caught.value.text
    assert looks.count("pay", "api") is None


def test_a_repository_that_does_not_name_its_work_tree_says_why_nothing_is_committed(
    desk: Desk, tmp_path: Path
):
    desk.repo.write({"a.txt": "a, new\n"})
    desk.repo.git("init", "-q", "--separate-git-dir", str(tmp_path / "apart"))

    found = desk.look()

    assert "does not name this directory" in (found["blocked"] or "")
    assert [file["path"] for file in found["files"]] == ["a.txt"]
    with pytest.raises(Conflict) as caught:
        desk.commit("a.txt")
    assert caught.value.code == "not_writable"
    assert discarding.list_discarded(**PLACE) == {"discarded": []}


def test_a_file_that_git_cannot_read_as_it_is_told_to_is_left_out_alone(desk: Desk):
    desk.repo.write({"new.txt": "no mark\n", "a.txt": "a, new\n", "b.txt": "b, new\n"})
    put(desk.root / ".gitattributes", b"new.txt working-tree-encoding=UTF-16\n")

    found = desk.look()

    assert (found["left"], desk.paths()) == (["new.txt"], [".gitattributes", "a.txt", "b.txt"])
    desk.undo(desk.discard("b.txt")["id"])
    for act in (desk.commit, desk.discard):
        with pytest.raises(Conflict, match=r"new\.txt is not compared") as caught:
            act("new.txt")
        assert caught.value.code == "not_compared"
    desk.commit()
    assert desk.status() == ["?? new.txt"]
    put(desk.root / "new.txt", "with a mark\n".encode("utf-16"))
    assert (desk.look()["left"], desk.paths()) == ([], ["new.txt"])
    desk.commit()
    assert desk.status() == []


def test_what_is_neither_file_nor_link_is_left_out_at_each_look(desk: Desk):
    desk.repo.write({"a.txt": None, "b.txt": "b, new\n"})
    os.mkfifo(desk.root / "a.txt")

    for _ in range(2):
        assert (desk.look()["left"], desk.paths()) == (["a.txt"], ["b.txt"])
    for act in (desk.commit, desk.discard):
        with pytest.raises(Conflict, match=r"a\.txt is not compared"):
            act("a.txt")
    assert desk.commit()["files"] == ["b.txt"]


def test_a_look_finds_our_repository_whole_while_another_furnishes_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    desk.look()
    view = looks.open_shadow(desk.root, view=True)
    write = Path.write_bytes

    def write_in_two_steps(path: Path, data: bytes) -> int:
        write(path, b"")
        assert view.run("rev-parse", "--git-dir")
        return write(path, data)

    (view.dir / "root").unlink()
    monkeypatch.setattr(Path, "write_bytes", write_in_two_steps)
    assert desk.paths() == []


def test_our_repository_is_made_and_renewed_by_one_look_at_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    open_at, free = shadow.open_at, []

    def open_if_held(root: Path, *, view: bool = False) -> Shadow | None:
        with locks.attempt(f"view:{desk.root}") as is_free:
            free.append(is_free)
        return open_at(root, view=view)

    monkeypatch.setattr(shadow, "open_at", open_if_held)
    monkeypatch.setattr(looks, "FRESH_S", 0)
    looks.look(**PLACE)
    assert free == [False, False]
