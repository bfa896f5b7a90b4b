"""A project whose folder was renamed by hand loses no message, whatever it has waiting."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from shutil import copytree

import pytest

from tests.service import until
from tests.workspace.chats.conftest import world  # noqa: F401 - a fixture
from tests.workspace.chats.world import HELLO, USER, World, ended
from workspace import trash
from workspace.background import renames
from workspace.background.watcher import Background
from workspace.chats import actions
from workspace.chats.turns import queue
from workspace.models import Turn
from workspace.projects import store
from workspace.triggers.curator import passes


def waiting(world: World, count: int = 3) -> list[Turn]:  # noqa: F811
    """A chat in which this many messages wait."""
    chat = world.chat().chat.id
    return [world.send(chat).turn for _ in range(count)]


def rename(world: World, name: str = "beta") -> None:  # noqa: F811
    (world.folder / "alpha").rename(world.folder / name)


def rows(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(row.project, row.state) for row in (Turn.objects.get(id=one.id) for one in turns)]


def test_messages_of_a_project_that_is_gone_are_held_with_the_reason(world: World):  # noqa: F811
    turns = waiting(world)
    rename(world)

    left = world.run(turns[0].id)

    assert rows(turns) == [("alpha", "held")] * 3
    assert left.reason.startswith("Project not found: alpha. Its folder was moved or renamed")
    assert Turn.objects.get(id=turns[2].id).reason == left.reason


def test_they_go_on_when_the_folder_has_its_name_again(world: World):  # noqa: F811
    turns = waiting(world)
    rename(world)
    world.run(turns[0].id)
    (world.folder / "beta").rename(world.folder / "alpha")

    assert queue.resume(project=world.project, chat=turns[0].chat) == 3
    world.cluster()

    assert rows(turns) == [("alpha", "done")] * 3


def test_the_rows_of_a_renamed_project_follow_its_chats(world: World):  # noqa: F811
    turns = waiting(world)
    done = world.run(turns[0].id)
    Turn.objects.filter(id=turns[1].id).update(state="held", reason="stopped")
    part = Background()
    part.start()
    try:
        rename(world)
        until(lambda: rows(turns) == [("beta", "done"), ("beta", "held"), ("beta", "queued")])
    finally:
        part.stop()

    beta = store.get("beta")
    assert queue.resume(project=beta, chat=done.chat) == 1
    world.cluster()
    assert rows(turns) == [("beta", "done")] * 3
    assert (world.folder / "beta" / "hello.txt").read_text() == "hello\n"


def test_rows_of_a_project_in_the_trash_wait_for_it(world: World):  # noqa: F811
    (turn,) = waiting(world, 1)
    Turn.objects.filter(id=turn.id).update(state="held")
    copytree(world.folder / "alpha", world.folder / "beta")
    trash.delete("alpha")

    assert renames.follow() == 0
    assert rows([turn]) == [("alpha", "held")]


def test_a_copy_that_has_messages_of_its_own_takes_none(world: World):  # noqa: F811
    (turn,) = waiting(world, 1)
    copytree(world.folder / "alpha", world.folder / "beta")
    own = actions.send(
        principal=USER, project=store.get("beta"), session_id=turn.chat, prompt=HELLO
    ).turn
    rename(world, "Away")  # not a name that a project can have

    assert renames.follow() == 0
    assert rows([turn, own]) == [("alpha", "queued"), ("beta", "queued")]


def test_a_project_that_is_gone_is_not_looked_at_for_curation(
    world: World,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
):
    world.run(waiting(world, 1)[0].id)
    rename(world)

    with caplog.at_level(logging.WARNING):
        passes.consider_all(datetime.now(UTC))

    assert "no curation pass" not in caplog.text


def test_a_turn_that_runs_meanwhile_ends_under_the_new_name_and_the_next_begins(world: World):  # noqa: F811
    chat = world.chat().chat.id
    turn = world.send(chat, "#!runbook\n```Bash\nuntil [ -e go ]; do sleep 0.1; done\n```\n").turn
    behind = world.send(chat).turn
    work = world.work(turn.id)
    world.until_record(chat, "tool_use")

    rename(world)
    assert renames.follow() == 2
    (world.folder / "beta" / "go").touch()
    ended(work)

    assert rows([turn, behind]) == [("beta", "done"), ("beta", "queued")]
    world.cluster()
    assert rows([behind]) == [("beta", "done")]
    assert not (world.folder / "alpha").exists()
