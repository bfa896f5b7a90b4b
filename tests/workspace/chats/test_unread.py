"""What was not seen yet: kept in the record of the chat, counted by project."""

from __future__ import annotations

import pytest

from config.errors import NotFound
from tests.workspace.chats.world import World, agent
from workspace.chats import actions, forks, index, transcript, unread
from workspace.models import Chat
from workspace.projects import store

USER = {"kind": "user", "id": "kim"}


def is_unread(world: World, chat: str) -> bool:
    return index.get(world.project, chat).unread


def said(world: World, chat: str, **sender: str) -> None:
    """A message at the beginning of a turn that goes on."""
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("user", "msg_1", text="Look", sender=sender)


def read(world: World, chat: str, offset: int | None = None) -> bool:
    return unread.mark(project=world.project, session_id=chat, offset=offset)[1]


def test_a_chat_is_unread_from_the_end_of_a_turn_until_it_is_read(world: World):
    chat = world.chat().chat.id
    assert not is_unread(world, chat)
    world.finish(chat, "Hi", "Hello.")
    assert is_unread(world, chat)

    assert read(world, chat)

    assert not is_unread(world, chat)
    assert not read(world, chat)
    world.finish(chat, "Again")
    assert is_unread(world, chat)


@pytest.mark.parametrize(
    ("sender", "is_news"),
    [
        ({"kind": "user", "id": "kim"}, False),
        ({"kind": "client", "id": "ci"}, True),
        ({"kind": "trigger", "name": "nightly"}, True),
        ({"kind": "chat", "sessionId": "x"}, True),
    ],
)
def test_only_a_message_of_somebody_else_makes_a_chat_unread(world: World, sender, is_news):
    chat = world.chat().chat.id

    said(world, chat, **sender)

    assert is_unread(world, chat) is is_news
    assert Chat.objects.get(id=chat).unread is is_news


def test_what_came_after_the_shown_part_stays_unread(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    shown = index.get(world.project, chat).offset
    world.finish(chat, "Two")

    assert read(world, chat, shown)
    assert is_unread(world, chat)

    assert read(world, chat)
    assert not is_unread(world, chat)


def test_reading_never_moves_back(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    world.finish(chat, "Two")
    first = index.get(world.project, chat).offset // 2
    read(world, chat)
    whole = world.record(chat)["readTo"]
    said(world, chat, kind="client", id="ci")

    assert not read(world, chat, first)

    assert world.record(chat)["readTo"] == whole


def test_an_offset_beyond_the_end_reads_nothing_in_advance(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")

    read(world, chat, 2**63 - 1)

    world.finish(chat, "Two")
    assert is_unread(world, chat)


def test_the_place_survives_a_lost_index_and_unknown_keys_stay(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    path = world.transcript(chat).with_suffix(".yaml")
    path.write_text(path.read_text() + "# mine\nmood: good\n")
    read(world, chat)

    index._folders.clear()
    Chat.objects.all().delete()

    assert not is_unread(world, chat)
    place = world.record(chat)["readTo"]
    assert path.read_text().endswith(f"# mine\nmood: good\nreadTo: {place}\n")


def test_an_archived_chat_is_not_unread_and_tells_again_when_it_comes_back(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    user = agent(chat)

    actions.archive(principal=user, project=world.project, session_id=chat, archived=True)
    assert not is_unread(world, chat)

    actions.archive(principal=user, project=world.project, session_id=chat, archived=False)
    assert is_unread(world, chat)


def test_what_a_fork_inherited_counts_as_read(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")

    fork = forks.fork(principal=agent(chat), project=world.project, session_id=chat).chat.id

    assert not is_unread(world, fork)
    world.finish(fork, "Two")
    assert is_unread(world, fork)


def test_unread_chats_are_counted_by_project_and_read_all_at_once(world: World):
    for _ in range(2):
        world.finish(world.chat().chat.id, "One")
    world.write("name: Beta\n", "beta")
    beta = store.get("beta")
    actions.create(principal=agent("x"), project=beta)

    assert not any(row.unread for row in index.entries(beta))
    assert [row.unread for row in index.entries(world.project)] == [True, True]
    assert unread.counts() == {"alpha": 2}
    assert unread.mark_all([world.project, beta]) == 2
    assert unread.counts() == {}


def test_one_record_that_may_not_be_changed_keeps_no_other_from_being_read(world: World):
    later, chat = world.chat().chat.id, world.chat().chat.id
    for one in (later, chat):
        world.finish(one, "One")
    path = world.transcript(later).with_suffix(".yaml")
    path.write_text(path.read_text().replace("v: 1", "v: 9"))

    assert unread.mark_all([world.project]) == 1

    assert not is_unread(world, chat)
    assert is_unread(world, later)


def test_a_chat_that_is_not_there_cannot_be_read(world: World):
    with pytest.raises(NotFound):
        read(world, "00000000-0000-4000-8000-000000000000")
