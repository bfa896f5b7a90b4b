"""A real worker keeps the tree around the turn that it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.chats.conftest import world as world  # noqa: PLC0414 - a fixture
from tests.workspace.chats.turns.world import book, fence
from tests.workspace.chats.world import HELLO, World
from tests.workspace.trees.desk import Desk
from workspace.trees import records, undo

EDITS = book(fence("Bash", "echo two > a.txt"), fence("Write", "x", "file_path=new.txt"))


@pytest.fixture
def work(world: World, settings, tmp_path: Path) -> Desk:
    """The project alpha with a checkout of its own."""
    settings.DATA_DIR = tmp_path / "data"
    world.write("name: Alpha\nrepo: https://example.org/work.git\npermissionMode: acceptEdits\n")
    return Desk(world.folder / "alpha" / "work")


def test_a_turns_edits_are_kept_and_undone(world: World, work: Desk):
    world.write("name: Alpha\nrepo: https://example.org/work.git\n"
                "permissionMode: bypassPermissions\n")  # fmt: skip
    turn = world.chat(EDITS).turn
    assert turn

    assert world.run(turn.id).state == "done"

    record = records.find(turn.chat, turn.id)
    assert record
    assert (record.count, record.ended is not None) == (2, True)
    done = undo.restore_files(world.project, turn.chat, turn.id, "undo")
    assert done.restored == ["a.txt", "new.txt"]
    assert work.read("a.txt") == "one\n"


def test_a_turn_without_a_change_leaves_nothing(world: World, work: Desk):
    turn = world.chat(book(fence("Read", attrs="file_path=a.txt"))).turn
    assert turn

    assert world.run(turn.id).state == "done"
    assert (records.find(turn.chat, turn.id), work.refs()) == (None, [])


def test_a_checkpoint_that_fails_is_a_notice_in_the_chat_and_no_failed_turn(
    world: World, work: Desk
):
    (work.root / ".git/HEAD").unlink()
    turn = world.chat(HELLO).turn
    assert turn

    assert world.run(turn.id).state == "done"

    (notice,) = world.records(turn.chat, "notice")
    assert (notice["level"], notice["code"]) == ("warn", "checkpoint")
    assert notice["text"].startswith("The edits of this turn cannot be undone")
