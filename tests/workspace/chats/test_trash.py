"""Deleting a chat takes nothing away: it comes back byte for byte, held messages included."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from django.db import connection, transaction

from config.errors import Conflict, NotFound
from tests.workspace.chats.world import USER, World
from workspace.chats import actions, files, forks, index, messages, trash, unread
from workspace.chats.turns import queue
from workspace.models import Chat, Turn

GONE = "00000000-0000-4000-8000-000000000000"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def told(world: World, name: str | None = None) -> str:
    """A chat that had a turn."""
    chat = world.chat(name=name).chat.id
    world.finish(chat, "What is the answer?", "42.")
    return chat


def delete(world: World, chat: str) -> trash.Deleted:
    return trash.delete(project=world.project, session_id=chat)


def restore(world: World, chat: str) -> Chat:
    return trash.restore(project=world.project, session_id=chat)


def test_a_deleted_chat_is_nowhere_and_its_bytes_are_in_the_trash(world: World):
    chat = told(world)
    before = contents(world.project.chats_dir)

    entry = delete(world, chat)

    assert contents(entry.folder).items() <= before.items()
    assert set(contents(entry.folder)) == {f"{chat}.yaml", f"{chat}.jsonl"}
    assert index.entries(world.project) == []
    assert not Chat.objects.filter(id=chat).exists()
    assert unread.counts() == {}
    for ask in (index.get, files.read):
        with pytest.raises(NotFound):
            ask(world.project, chat)


def test_a_chat_comes_back_as_it_was(world: World):
    chat = told(world)
    before, row = contents(world.project.chats_dir), index.get(world.project, chat)
    shown = messages.page(world.project, chat)

    delete(world, chat)
    back = restore(world, chat)

    assert contents(world.project.chats_dir) == before
    assert (back.name, back.unread, back.updated) == (row.name, True, row.updated)
    assert messages.page(world.project, chat) == shown
    assert trash.listing(world.project) == []
    assert list((world.project.chats_dir / "trash").iterdir()) == []


def test_the_trash_lists_the_last_deleted_first_by_name_or_first_prompt(world: World):
    named, unnamed = told(world, "Answers"), told(world)
    empty = world.chat().chat.id
    for chat in (named, unnamed, empty):
        delete(world, chat)

    found = trash.listing(world.project)

    assert [one.session_id for one in found] == [empty, unnamed, named]
    assert [one.name for one in found] == [empty[:8], "What is the answer?", "Answers"]


def test_a_chat_in_which_a_turn_runs_or_waits_stays(world: World):
    chat = world.chat("#!runbook\n").chat.id

    with pytest.raises(Conflict, match=r"Messages \(1\) wait to run in this chat") as waits:
        delete(world, chat)
    Turn.objects.filter(chat=chat).update(state="running")
    with pytest.raises(Conflict, match="A turn is running in this chat"):
        delete(world, chat)

    assert waits.value.code == "busy"
    assert [row.id for row in index.entries(world.project)] == [chat]
    assert trash.listing(world.project) == []


def test_held_messages_go_along_and_are_there_again(world: World):
    chat = told(world)
    message = world.send(chat).turn.id
    Turn.objects.filter(id=message).update(state="held")

    delete(world, chat)
    assert Turn.objects.get(id=message).state == "held"
    restore(world, chat)

    assert [row.id for row in queue.rows(project=world.project, chat=chat)] == [message]


def test_a_message_that_arrives_first_keeps_the_chat_in_its_place_all_the_time(
    world: World, monkeypatch
):
    """A worker may begin the message at any moment, so its chat must not be away for any."""
    chat = told(world)
    hold, moved = queue.hold_chat, []

    def message_first(session_id: str) -> None:
        monkeypatch.setattr(queue, "hold_chat", hold)
        world.send(chat)
        hold(session_id)

    monkeypatch.setattr(queue, "hold_chat", message_first)
    monkeypatch.setattr(trash, "_move", lambda *args: moved.append(args))
    before = contents(world.project.chats_dir)

    with pytest.raises(Conflict, match="wait to run"):
        delete(world, chat)

    assert moved == []
    assert contents(world.project.chats_dir) == before
    assert trash.listing(world.project) == []


def test_no_message_gets_into_a_chat_that_was_deleted_meanwhile(world: World, monkeypatch):
    chat = told(world)
    held = queue.hold_chat

    def deleted_first(session_id: str) -> None:
        monkeypatch.setattr(queue, "hold_chat", held)
        (world.project.chats_dir / f"{chat}.yaml").rename(world.folder / "away.yaml")

    monkeypatch.setattr(queue, "hold_chat", deleted_first)

    with pytest.raises(NotFound):
        world.send(chat)

    assert not Turn.objects.filter(chat=chat).exists()


def test_of_deletions_and_messages_at_once_no_message_is_lost(world: World):
    chats_made = [told(world) for _ in range(8)]
    outcomes: dict[str, list[str]] = {chat: [] for chat in chats_made}

    def attempt(chat: str, what) -> None:
        try:
            what(world, chat)
            outcomes[chat].append(what.__name__)
        except (Conflict, NotFound):
            pass
        finally:
            connection.close()

    def send(world: World, chat: str) -> None:
        world.send(chat)

    threads = [
        threading.Thread(target=attempt, args=(chat, what))
        for chat in chats_made
        for what in (send, delete)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    for chat, done in outcomes.items():
        there = files.exists("alpha", chat)
        assert there == ("delete" not in done)
        assert ("send" in done) <= there
        assert Turn.objects.filter(chat=chat).exists() == ("send" in done)


def test_a_damaged_record_can_be_deleted_and_comes_back_as_damaged(world: World):
    chat = told(world)
    path = world.project.chats_dir / f"{chat}.yaml"
    path.write_bytes(b"name: [\xff")

    delete(world, chat)
    restore(world, chat)

    assert path.read_bytes() == b"name: [\xff"


def test_a_crash_after_the_record_went_leaves_a_chat_that_can_be_taken_back(world: World):
    chat = told(world)
    before = contents(world.project.chats_dir)
    entry = delete(world, chat).folder
    (entry / f"{chat}.jsonl").rename(world.project.chats_dir / f"{chat}.jsonl")

    assert index.entries(world.project) == []
    restore(world, chat)

    assert contents(world.project.chats_dir) == before


def test_a_fork_outlives_its_source_and_the_source_its_fork(world: World):
    source = told(world)
    fork = forks.fork(principal=USER, project=world.project, session_id=source).chat.id

    delete(world, source)
    assert messages.page(world.project, fork)[1] == 2

    restore(world, source)
    delete(world, fork)
    assert messages.page(world.project, source)[1] == 2


@pytest.mark.parametrize("chat", [GONE, "../../etc/passwd", "", "trash", "x" * 5000])
def test_what_is_no_chat_can_be_neither_deleted_nor_taken_back(world: World, chat):
    told(world)
    for act in (delete, restore):
        with pytest.raises(NotFound):
            act(world, chat)

    assert not (world.project.chats_dir / "trash").exists()


def test_a_chat_that_is_there_is_not_taken_back_over_itself(world: World):
    chat = told(world)
    delete(world, chat)
    path = world.project.chats_dir / f"{chat}.yaml"
    path.write_text("name: Mine\n")

    with pytest.raises(Conflict) as refused:
        restore(world, chat)

    assert refused.value.code == "exists"
    assert path.read_text() == "name: Mine\n"


def test_a_trash_that_leads_elsewhere_takes_nothing(world: World, tmp_path: Path):
    chat = told(world)
    before = contents(world.project.chats_dir)
    (tmp_path / "elsewhere").mkdir()
    (world.project.chats_dir / "trash").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Conflict, match="the trash of alpha cannot be used"):
        delete(world, chat)

    assert contents(world.project.chats_dir) == before
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_strange_things_in_the_trash_are_left_alone_and_not_listed(world: World):
    folder = world.project.chats_dir / "trash"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / f"20261301T000000.000000Z-{GONE}").mkdir()

    assert [one.session_id for one in trash.listing(world.project)] == []


def test_a_resumed_chat_that_was_deleted_is_followed_by_a_new_one(world: World):
    chat = told(world)
    delete(world, chat)

    with pytest.raises(NotFound), transaction.atomic():
        actions.fire(
            project=world.project, chat=chat, prompt="x",
            firing=actions.Firing(trigger="t", origin="scheduled", sender={"kind": "trigger"}),
        )  # fmt: skip

    assert not Turn.objects.filter(chat=chat).exists()
