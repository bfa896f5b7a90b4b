"""Whatever a record holds, no road to a page, a search, a stream or an export ends at it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from config import jsonio
from tests.workspace.chats.test_stream import chat, nobody_left, reading
from tests.workspace.chats.world import World
from workspace.chats import export, messages, transcript
from workspace.chats.search import search
from workspace.projects import store as projects

__all__ = ["chat", "nobody_left"]  # the fixtures


def nested(levels: int) -> Any:
    inner: Any = "deep"
    for _ in range(levels):
        inner = {"a": [inner]}
    return inner


ODD = {
    "a number over 64 bits": {"wei": 10**21},
    "a number that no float holds": {"wei": 10**400},
    "300 levels": {"a": nested(150)},
    "800 levels": {"a": nested(400)},
}


def call(world: World, chat: str, given: Any) -> None:
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("tool_use", "msg_1", tool="Grep", call="1", input=given, target="hello")
        asked = {"tool": "Grep", "call": "1", "input": given, "by": "policy", "reason": None}
        writer.append("permission", "msg_1", **asked, state="asked", until=None)
        writer.append("tool_result", "msg_1", call="1", is_error=False, text="found", ms=1)
        writer.append("assistant", "msg_1", text="last needle", block="1")


@pytest.mark.parametrize("given", ODD.values(), ids=ODD)
async def test_a_call_with_odd_arguments_ends_no_stream(world: World, chat: str, given: Any):
    async with reading(chat, query="after=0") as live:
        call(world, chat, given)
        await live.until(lambda client: len(client.named("line")) == 3)
    async with reading(chat, query="after=0") as again:
        lines = again.named("line")

    assert [line.data for line in lines] == [line.data for line in live.named("line")]
    question, tool, words = (line.data for line in lines)
    assert (question["state"], words["content"]) == ("asked", "last needle")
    assert question["input"].keys() == tool["toolCall"]["input"].keys()


@pytest.mark.parametrize("given", ODD.values(), ids=ODD)
def test_a_call_with_odd_arguments_hides_nothing_from_page_search_and_export(
    world: World, given: Any
):
    chat, other = world.chat().chat.id, world.chat().chat.id
    call(world, chat, given)
    world.finish(other, "another needle")

    shown = json.loads(jsonio.dumps(messages.page(world.project, chat, turns=True)[0]))
    found = search.search(projects.all(), "needle", only=None, limit=9).hits
    whole = export.export(project=world.project, session_id=chat, form="md").pieces

    assert [one.get("content") for one in shown] == [None, "Grep hello — ok", "last needle"]
    assert {hit.found.chat for hit in found} == {chat, other}
    assert b"last needle" in b"".join(whole)


def test_one_line_that_cannot_be_shown_hides_no_other(world: World, monkeypatch, caplog):
    chat = world.chat().chat.id
    call(world, chat, {})

    def fails(*_: Any) -> None:
        raise ValueError("odd")

    monkeypatch.setattr(messages, "tool_line", fails)

    shown = messages.page(world.project, chat)[0]

    assert [one["content"] for one in shown] == ["last needle"]
    assert [
        hit.shown["content"]
        for hit in search.search(projects.all(), "needle", only=None, limit=9).hits
    ] == ["last needle"]
    assert "cannot be shown" in caplog.text
