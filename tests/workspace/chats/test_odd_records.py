"""Whatever a record holds, no road to a page, a search, a stream or an export ends at it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from config import jsonio
from tests.workspace.chats.test_stream import chat, nobody_left, reading
from tests.workspace.chats.world import World
from workspace.chats import export, index, messages, said, transcript
from workspace.chats.search import indexing, search
from workspace.chats.streams.channel import Channel, read_lines
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


LINES: dict[str, dict[str, Any]] = {
    "turn_start": {"engine": "runbook", "model": None, "instructions": [], "try": 2},
    "user": {"text": "t", "sender": {"kind": "user"}},
    "thinking": {"text": "t", "block": "0"},
    "assistant": {"text": "t", "block": "1"},
    "tool_use": {"tool": "Grep", "call": "1", "input": {"pattern": "x"}, "target": "x"},
    "permission": {"tool": "Grep", "call": "1", "input": {}, "state": "asked", "until": "2026"},
    "tool_result": {"call": "1", "is_error": False, "text": "t", "ms": 1},
    "notice": {"level": "warn", "code": "x", "text": "t"},
    "turn_wait": {"status": "waiting", "try": 2, "of": 3, "until": "2026"},
    "turn_end": {
        "status": "error", "reason": "api_error", "text": "t", "usage": {"inputTokens": 1},
        "cost": 0.5, "model": "m", "context": {"used": 1, "limit": 2},
        "hosts": [{"host": "a", "port": 1}],
    },
}  # fmt: skip
VALUES = [
    None, True, -1, 10**400, 1.5, float("inf"), float("nan"), "", "\ud83d\0", [], [1, None],
    ["user"], {}, {"a": 1}, {"used": float("inf")}, {"used": 10**400}, {"inputTokens": "many"},
]  # fmt: skip
ENVELOPE = {"v": 1, "seq": 50, "id": "0" * 32, "parent": None, "ts": "2026-01-01", "turn": "msg_2"}


def damaged_lines() -> list[bytes]:
    """Each field of each record with each value, one at a time, and each field left out."""
    found = []
    for kind, fields in LINES.items():
        whole = ENVELOPE | {"type": kind} | fields
        for key in whole:
            found += [json.dumps(whole | {key: value}) for value in VALUES]
            found.append(json.dumps({name: whole[name] for name in whole if name != key}))
    return [f"{line}\n".encode() for line in found]


def test_no_line_that_is_json_hides_what_stands_around_it(world: World, caplog):
    chat = world.chat().chat.id
    world.finish(chat, "first needle", "an answer")
    path = world.transcript(chat)
    live = Channel("alpha", chat, str(path))
    with path.open("ab") as file:
        file.write(b"".join(damaged_lines()))
    world.finish(chat, "last needle", "an answer")

    [row] = index.entries(world.project)
    data, end = read_lines(messages.Viewer(str(path)), str(path), 0, None)
    live.tick()
    shown = jsonio.dumps(messages.page(world.project, chat, limit=10**6, turns=True)[0])
    told = jsonio.dumps(said.read_chat(world.project, chat, limit=10**6).shown)
    whole = export.export(project=world.project, session_id=chat, form="md").pieces
    raw = export.export(project=world.project, session_id=chat, form="jsonl").pieces
    read = indexing.catch_up(world.project, chat)
    hits = search.search(projects.all(), "needle", only=None, limit=9).hits

    assert read
    assert (row.offset, end, live.position) == (path.stat().st_size,) * 3
    assert row.damaged > 100
    assert "cannot be shown" not in caplog.text
    assert row.title == "first needle"
    for road in (data, shown, told, b"".join(whole), b"".join(raw)):
        assert b"first needle" in road
        assert b"last needle" in road
    assert [hit.shown["content"] for hit in hits] == ["last needle", "first needle"]


@pytest.mark.parametrize(
    "value", ["[1e400, 1000000000000000000000]", "[" * 1010 + "]" * 1010], ids=["infinite", "deep"]
)
def test_no_value_that_a_database_refuses_hides_other_chats(world: World, value: str):
    chat, other = world.chat().chat.id, world.chat().chat.id
    told = json.dumps(ENVELOPE | {"id": "x", "type": "turn_start", "instructions": "here"})
    world.transcript(chat).write_text(f"{told}\n".replace('"here"', value))
    world.finish(chat, "needle")

    rows = index.entries(world.project)

    assert {row.id: row.title for row in rows} == {chat: "needle", other: ""}


def test_a_line_whose_text_ends_in_half_a_character_is_read(world: World):
    chat = world.chat().chat.id
    with world.transcript(chat).open("ab") as file:
        line = ENVELOPE | {"type": "user", "text": "needle \ud83d", "sender": {"kind": "user"}}
        file.write(f"{json.dumps(line)}\n".encode())

    [row] = index.entries(world.project)

    assert row.title == "needle \ufffd"
    assert world.records(chat, "user")[0]["text"] == "needle \ufffd"
