"""A full disk: refused in plain words, nothing left behind, nothing held."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from config.storage.files import CannotWrite
from tests.workspace.chats.world import HELLO, USER, World
from workspace.api import chatview
from workspace.chats import files, forks, index, transcript
from workspace.chats.turns import endings, queue
from workspace.models import Turn


def fill(disk: Path) -> None:
    """Not a byte is left."""
    with contextlib.suppress(OSError), (disk / "fill").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def fork(world: World, chat: str) -> None:
    forks.fork(principal=USER, project=world.project, session_id=chat)


@pytest.mark.parametrize("stored", [False, True])
def test_a_chat_whose_first_message_the_database_refuses_is_not_left_behind(
    world: World, monkeypatch, stored: bool
):
    send = queue.send

    def refused(**message: Any) -> None:
        if stored:  # and the answer to the commit was lost
            send(**message)
        raise OperationalError("could not extend file: No space left on device")

    monkeypatch.setattr(queue, "send", refused)
    with pytest.raises(OperationalError):
        world.chat("hello")

    assert len(files.session_ids(world.project)) == Turn.objects.count() == stored


def test_a_transcript_that_cannot_be_opened_is_let_go_again(world: World, small_disk: Path):
    chat = world.chat().chat.id
    path = world.transcript(chat)
    path.write_text("x" * 4096)  # a torn line that fills its block
    fill(small_disk)
    with pytest.raises(transcript.StorageError, match="No space left"):
        transcript.Writer(str(path))
    (small_disk / "fill").unlink()

    transcript.Writer(str(path)).close()


@pytest.mark.parametrize("before", [False, True])
def test_a_message_that_a_full_disk_keeps_out_of_its_chat_is_held_and_runs_later(
    world: World, small_disk: Path, before: bool
):
    """Where there is a turn before it, its start still fits into the last block of the file."""
    chat = world.chat().chat.id
    if before:
        world.finish(chat, "One", "Two")
    fill(small_disk)
    turn, behind = world.send(chat, f"{HELLO}{'x' * 8000}\n").turn, world.send(chat).turn

    held = world.run(turn.id)

    rows = queue.view(queue.rows(project=world.project, chat=chat))
    assert (held.state, [row["id"] for row in rows]) == ("held", [turn.id, behind.id])
    assert {row["reason"] for row in rows} == {endings.SENTENCES["storage_full"]}
    assert bool(world.records(chat, "turn_start")[before:]) == before
    assert turn.id not in [record["turn"] for record in world.records(chat, "user")]

    (small_disk / "fill").unlink()
    assert queue.resume(project=world.project, chat=chat) == 2
    world.cluster()

    assert world.states(chat) == ["done", "done"]
    said = [record["turn"] for record in world.records(chat, "user")]
    assert said[before:] == [turn.id, behind.id]


def test_new_chats_and_forks_are_refused_and_nothing_of_them_stays(world: World, small_disk: Path):
    chat = world.chat().chat.id
    world.finish(chat, "One", "x" * 9000)
    fill(small_disk)
    before = sorted(path.name for path in small_disk.iterdir())

    for act in (world.chat, lambda: fork(world, chat)):
        with pytest.raises(CannotWrite) as refused:
            act()
        assert refused.value.text.endswith(": No space left on device")

    assert sorted(path.name for path in small_disk.iterdir()) == before


def test_a_turn_that_could_not_be_written_is_the_chats_last_until_one_could(world: World):
    started = world.chat("hi")
    assert started.turn is not None
    chat, lost = started.chat.id, Turn.objects.get(id=started.turn.id)
    world.finish(chat, "before", status="ok")
    lost.state = "running"
    lost.save()
    end = {"status": "error", "reason": "storage_full"}

    endings.settle(lost.id, end, lambda turn: None)

    def last() -> tuple[str, str | None]:
        shown = chatview.view(index.get(world.project, chat))["lastTurn"]
        assert shown
        return shown["status"], shown["reason"]

    assert last() == ("failed", endings.SENTENCES["storage_full"])
    world.finish(chat, "after", status="ok")
    assert last()[0] == "completed"
