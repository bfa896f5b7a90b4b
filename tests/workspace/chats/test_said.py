"""read_chat remembers the last lines of a chat for as long as its transcript is as it was."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from config.mcp.arguments import ECHO_LIMIT
from tests.workspace.chats.world import USER, World
from workspace.chats import said, transcript
from workspace.mcp import chats as tools

OLD_S = 60.0


def rest(path: Path, *, for_s: float = OLD_S) -> int:
    """As if nobody had changed it for so long; the time that it bears then."""
    at = time.time_ns() - int(for_s * 1e9)
    at += at % 10**9 == 0
    os.utime(path, ns=(at, at))
    return at


@pytest.fixture
def chat(world: World) -> str:
    """Nine lines, which were written a minute ago."""
    chat = world.chat().chat.id
    for number in range(4):
        world.finish(chat, f"ask {number}", f"say {number}")
    world.finish(chat, "last")
    rest(world.transcript(chat))
    return chat


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The transcripts that are read, each time."""
    paths: list[str] = []
    backwards = transcript.backwards

    def noted(path: str, end: int | None = None):
        paths.append(path)
        return backwards(path, end)

    monkeypatch.setattr(transcript, "backwards", noted)
    return paths


def texts(world: World, chat: str, limit: int = 9) -> list[str]:
    return [line["text"] for line in said.read_chat(world.project, chat, limit=limit).shown]


def test_who_asks_again_gets_the_same_without_a_read(world: World, chat: str, reads: list[str]):
    first = said.read_chat(world.project, chat, limit=4)
    again = said.read_chat(world.project, chat, limit=4)
    fewer = said.read_chat(world.project, chat, limit=2)

    assert reads == [str(world.transcript(chat))]
    assert again == first
    assert [line["text"] for line in first.shown] == ["say 2", "ask 3", "say 3", "last"]
    assert [line["text"] for line in fewer.shown] == ["say 3", "last"]
    before = said.read_chat(world.project, chat, limit=2, before=fewer.next)
    assert [line["text"] for line in before.shown] == ["say 2", "ask 3"]


def test_more_lines_than_were_read_are_read(world: World, chat: str, reads: list[str]):
    assert texts(world, chat, 3) == ["ask 3", "say 3", "last"]
    assert len(texts(world, chat, 8)) == 8
    assert len(texts(world, chat, 100)) == 9
    assert len(reads) == 3
    assert len(texts(world, chat, 1000)) == 9  # it is known that there are no more
    assert len(reads) == 3


def test_a_change_by_hand_in_place_turns_it_over(world: World, chat: str):
    assert texts(world, chat, 1) == ["last"]
    path = world.transcript(chat)
    with path.open("r+b") as file:
        data = file.read().replace(b'"last"', b'"lost"')
        file.seek(0)
        file.write(data)

    assert texts(world, chat, 1) == ["lost"]


@pytest.mark.parametrize("coarse", [False, True])
def test_what_was_changed_just_now_is_read_each_time(world: World, chat: str, coarse: bool):
    path = world.transcript(chat)
    at = rest(path, for_s=-OLD_S)
    if coarse:
        at = int(time.time()) * 10**9
        os.utime(path, ns=(at, at))
    assert texts(world, chat, 1) == ["last"]
    path.write_bytes(path.read_bytes().replace(b'"last"', b'"lost"'))
    os.utime(path, ns=(at, at))  # the clock of the file system stood still

    assert texts(world, chat, 1) == ["lost"]


def test_lines_that_come_are_told(world: World, chat: str):
    assert texts(world, chat, 1) == ["last"]
    world.finish(chat, "new")
    rest(world.transcript(chat), for_s=OLD_S / 2)

    assert texts(world, chat, 1) == ["new"]


def test_only_so_many_chats_and_characters_are_remembered(world: World, chat: str, monkeypatch):
    monkeypatch.setattr(said, "_known", {})
    monkeypatch.setattr(said, "MOST", 2)
    monkeypatch.setattr(said, "ROOM", 20)
    chats = [chat, *(world.chat().chat.id for _ in range(3))]
    for one in chats[1:]:
        world.finish(one, "12345678")
        rest(world.transcript(one))
    paths = [str(world.transcript(one)) for one in chats]
    for one in chats:
        texts(world, one, 1)
    assert [*said._known] == paths[2:]

    texts(world, chat)  # 44 characters
    assert [*said._known] == paths[3:]


def test_a_cut_text_is_whole_for_who_asks_for_it_whole(world: World, chat: str):
    world.finish(chat, "x" * 3 * ECHO_LIMIT)
    rest(world.transcript(chat))

    def told(**more: Any) -> str:
        found = tools.read_chat(USER, project="alpha", session_id=chat, limit=1, **more)
        return str(found["messages"][0]["text"])

    assert told().endswith("chars]")
    assert told(full=True) == "x" * 3 * ECHO_LIMIT
    assert told().endswith("chars]")
