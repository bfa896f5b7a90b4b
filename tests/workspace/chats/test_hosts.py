"""What turns reached or were refused: kept with the turn, added up for the chat."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.chats.test_index import forget
from tests.workspace.chats.world import USER, World
from workspace.api import chatview
from workspace.chats import forks, hosts, index, messages

REFUSED = {"host": "127.0.0.1", "port": 8000, "refused": True}


def reached(host: str, port: int = 443) -> dict[str, Any]:
    return {"host": host, "port": port, "refused": False}


def of_chat(world: World, chat: str) -> list[hosts.Host]:
    return chatview.view(index.get(world.project, chat))["hosts"]


def test_the_end_of_a_turn_tells_them_beside_its_outcome(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Go", hosts=[reached("github.com"), REFUSED])
    world.finish(chat, "Again")

    shown, *_ = messages.page(world.project, chat, turns=True)
    ends = [line for line in shown if line.get("state") == "completed"]

    assert ends[0]["hosts"] == [reached("github.com"), REFUSED]
    assert "hosts" not in ends[1]


def test_a_chat_has_each_of_all_its_turns_once_in_the_order_of_first_use(world: World):
    chat = world.chat().chat.id
    assert of_chat(world, chat) == []
    world.finish(chat, "One", hosts=[reached("github.com"), REFUSED, REFUSED])
    assert of_chat(world, chat) == [reached("github.com"), REFUSED]
    twice = [REFUSED | {"refused": False}, reached("github.com"), reached("github.com", 80)]

    world.finish(chat, "Two", hosts=twice)

    whole = [reached("github.com"), REFUSED, twice[0], twice[2]]
    assert of_chat(world, chat) == whole
    forget()
    assert of_chat(world, chat) == whole


def test_a_list_of_chats_leaves_them_out(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Go", hosts=[REFUSED])

    assert "hosts" not in chatview.views([index.get(world.project, chat)])[0]


def test_a_fork_has_those_of_the_turns_it_copied(world: World):
    chat = world.chat().chat.id
    first = world.finish(chat, "One", hosts=[reached("a.org")])
    world.finish(chat, "Two", hosts=[reached("b.org")])

    def fork(turn: str | None) -> list[hosts.Host]:
        made = forks.fork(principal=USER, project=world.project, session_id=chat, turn=turn)
        return of_chat(world, made.chat.id)

    assert fork(None) == [reached("a.org"), reached("b.org")]
    assert fork(first) == [reached("a.org")]


def test_a_transcript_that_is_replaced_has_only_its_own(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One", hosts=[reached("a.org")])
    assert of_chat(world, chat)
    lines = world.transcript(chat).read_bytes().splitlines(keepends=True)[:-1]

    world.transcript(chat).unlink()
    world.transcript(chat).write_bytes(b"".join(lines))

    assert of_chat(world, chat) == []


@pytest.mark.parametrize(
    "told",
    ["github.com", {"host": "a.org"}, [None], [{}], [{"host": "", "port": 1}], [{"host": "a.org"}],
     [{"host": "a.org", "port": "443"}], [{"host": "a" * 254, "port": 1}],
     [{"host": "a.org", "port": 65536}]],
)  # fmt: skip
def test_what_is_no_such_list_is_left_out(told):
    assert hosts.of({"hosts": told}) == []


def test_there_are_at_most_two_hundred(world: World):
    many = [reached(f"h{number}.org") for number in range(300)]
    chat = world.chat().chat.id
    world.finish(chat, "One", hosts=many[:150])
    world.finish(chat, "Two", hosts=many[100:])

    assert hosts.of({"hosts": many}) == many[:200]
    assert of_chat(world, chat) == many[:200]
