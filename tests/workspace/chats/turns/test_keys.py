"""A message that is sent again because its answer was lost: under its key it is one message."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from config.errors import Conflict, Invalid
from tests.workspace.chats.world import HELLO, USER, World, delivered
from workspace.access.principals import User
from workspace.chats import actions, files, listing, trash
from workspace.chats.turns import queue
from workspace.models import Turn

ADA = User(username="ada", anonymous=False)


def test_a_message_that_is_sent_again_under_its_key_is_the_one_that_came(world: World):
    chat = world.chat(HELLO).chat.id
    first = world.send(chat, "Say it once", key="k1")

    again = world.send(chat, "Say it once", key="k1")

    assert (again.turn.id, again.state, again.position) == (first.turn.id, "queued", 1)
    assert (first.repeated, again.repeated) == (False, True)
    assert world.states(chat) == ["queued", "queued"]
    assert len(delivered()) == 1


def test_it_is_known_once_its_turn_is_over_and_where_the_queue_is_full(world: World):
    chat = world.chat().chat.id
    first = world.send(chat, key="k1")
    world.run(first.turn.id)
    for _ in range(queue.MOST_WAITING):
        world.send(chat)

    again = world.send(chat, key="k1")

    assert (again.turn.id, again.state, again.repeated) == (first.turn.id, "started", True)


def test_another_message_under_the_key_is_refused(world: World):
    chat = world.chat().chat.id
    world.send(chat, "One", key="k1")

    with pytest.raises(Conflict, match="says something else; send another key") as told:
        world.send(chat, "Two", key="k1")

    assert told.value.code == "key_reused"
    assert world.states(chat) == ["queued"]


def test_a_message_that_was_taken_out_of_the_queue_did_not_come(world: World):
    chat = world.chat(HELLO).chat.id
    first = world.send(chat, key="k1")
    queue.remove(project=world.project, chat=chat, message=first.turn.id)

    again = world.send(chat, key="k1")

    assert again.turn.id != first.turn.id
    assert not again.repeated


def test_a_key_is_that_of_its_chat_and_of_who_sent_it(world: World):
    chats = [world.chat().chat.id for _ in range(2)]
    sent = [world.send(chat, key="k1") for chat in chats]

    other = actions.send(
        principal=ADA, project=world.project, session_id=chats[0], prompt=HELLO, key="k1"
    )

    assert len({one.turn.id for one in (*sent, other)}) == 3


@pytest.mark.parametrize("key", ["x" * 256, "é", "a\nb"])
def test_what_is_no_key_is_refused(world: World, key: str):
    with pytest.raises(Invalid, match="Idempotency-Key"):
        world.send(world.chat().chat.id, key=key)


def test_a_chat_that_is_started_again_under_its_key_is_the_one_that_is_there(world: World):
    first = world.chat(HELLO, key="k1")
    assert first.turn is not None
    files.update(world.project, first.chat.id, name="Renamed meanwhile")

    again = world.chat(HELLO, key="k1")

    assert again.turn is not None
    assert (again.chat.id, again.turn.id) == (first.chat.id, first.turn.id)
    assert (again.chat.name, again.repeated) == ("Renamed meanwhile", True)
    assert world.chat(HELLO, key="k2").chat.id != first.chat.id


def test_a_chat_whose_message_did_not_come_gets_it_when_it_is_started_again(world: World):
    """The service ended between the two."""
    first = world.chat(HELLO, key="k1")
    Turn.objects.all().delete()

    again = world.chat(HELLO, key="k1")

    assert again.chat.id == first.chat.id
    assert not again.repeated
    assert world.states(first.chat.id) == ["queued"]


def test_a_deleted_chat_is_not_started_again_under_its_key(world: World):
    first = world.chat(HELLO, key="k1")
    assert first.turn is not None
    world.run(first.turn.id)
    trash.delete(project=world.project, session_id=first.chat.id)

    with pytest.raises(Conflict, match="is deleted; send another key"):
        world.chat(HELLO, key="k1")


def test_two_requests_at_once_under_one_key_start_one_chat_with_one_message(world: World):
    def start(_: int) -> str:
        try:
            return actions.create(
                principal=USER, project=world.project, prompt=HELLO, key="k1"
            ).chat.id
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(start, range(8)))

    assert len(found) == 1
    assert Turn.objects.count() == 1
    assert len(listing.listing([world.project], which="all", limit=10).rows) == 1
