"""What clients see of transcript lines: messages, pages, read_chat."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.chats.world import World
from workspace.chats import export, messages, said, transcript


def write(world: World, chat: str, turn: str, *records: tuple[str, dict[str, Any]]) -> None:
    with transcript.Writer(str(world.transcript(chat))) as writer:
        for kind, fields in records:
            writer.append(kind, turn, **fields)


def tool(call: str, *, name: str = "Bash", target: str = "npm test", **result: Any) -> list[Any]:
    return [
        ("tool_use", {"tool": name, "call": call, "input": {"command": target}, "target": target}),
        ("tool_result", {"call": call, "is_error": False, "text": "fine", "ms": 3} | result),
    ]


@pytest.fixture
def chat(world: World) -> str:
    return world.chat().chat.id


def test_a_tool_is_one_message_told_at_its_result(world: World, chat: str):
    write(world, chat, "t1", *tool("c1"))

    (message,), total, following = messages.page(world.project, chat)

    assert (message["role"], message["content"]) == ("tool", "Bash npm test — ok")
    assert message["toolCall"] == {
        "name": "Bash", "target": "npm test", "ok": True, "durationMs": 3,
        "input": {"command": "npm test"}, "output": "fine", "truncated": False,
    }  # fmt: skip
    assert (total, following) == (1, None)


def test_a_message_of_which_only_the_beginning_is_shown_says_so_and_where_the_whole_is(
    world: World, chat: str
):
    text = "All of it. " * 200_000
    write(world, chat, "t1", ("assistant", {"text": text}), ("assistant", {"text": "Short."}))

    (long, short), _, _ = messages.page(world.project, chat)

    assert text.startswith(long["content"])
    assert long["cut"]["bytes"] == len(text)
    whole = world.transcript(chat).parent / long["cut"]["file"]
    assert whole.read_text() == text
    assert "cut" not in short
    exported = b"".join(export.export(project=world.project, session_id=chat, form="md").pieces)
    assert f"Only the beginning of {len(text)} bytes".encode() in exported


def test_thinking_is_between_the_messages_and_counts_as_none(world: World, chat: str):
    write(
        world,
        chat,
        "t1",
        ("user", {"text": "Hi", "sender": {"kind": "user"}}),
        ("thinking", {"text": "hm", "block": "1"}),
        ("assistant", {"text": "Hello", "block": "2"}),
    )

    shown, total, _ = messages.page(world.project, chat, turns=True)
    plain, _, _ = messages.page(world.project, chat)

    assert [line.get("role") or line["type"] for line in shown] == ["user", "thinking", "assistant"]
    assert [line["role"] for line in plain] == ["user", "assistant"]
    assert (shown[1]["content"], total) == ("hm", 2)


def test_a_failed_tool_tells_the_first_line_of_its_error(world: World, chat: str):
    write(world, chat, "t1", *tool("c1", is_error=True, text="exit 1\nmore"))

    lines = said.read_chat(world.project, chat, limit=10).shown

    assert lines[0]["text"] == "Bash npm test — error: exit 1"


def test_the_offset_of_a_message_is_the_byte_after_its_line(world: World, chat: str):
    world.finish(chat, "One", "Two")
    data = world.transcript(chat).read_bytes()

    found, _, _ = messages.page(world.project, chat)

    for message in found:
        line = data[: message["offset"]].splitlines()[-1]
        assert message["uuid"].encode() in line


def test_pages_going_back_meet_without_gap_or_double(world: World, chat: str):
    for number in range(7):
        world.finish(chat, f"ask {number}", f"say {number}")
    write(world, chat, "t9", *tool("c1"), *tool("c2"), ("assistant", {"text": "end", "block": "1"}))
    whole, total, _ = messages.page(world.project, chat, limit=500)
    assert total == len(whole) == 17

    for size in (1, 2, 3, 5, 16, 17):
        pages: list[messages.TranscriptLine] = []
        before: int | None = None
        while True:
            page, _, before = messages.page(world.project, chat, limit=size, before=before)
            pages = page + pages
            if before is None:
                break
        assert pages == whole, size


@pytest.mark.parametrize("before", [-5, 0, 1, 77, 10**12])
def test_a_page_before_any_number_is_an_answer(world: World, chat: str, before: int):
    world.finish(chat, "One", "Two")

    page, _, _ = messages.page(world.project, chat, before=before)

    assert [m["content"] for m in page] in ([], ["One", "Two"])


def test_read_chat_leaves_notices_and_thinking_out_and_tells_a_failure(world: World, chat: str):
    write(
        world, chat, "t1",
        ("user", {"text": "Do", "sender": {"kind": "user"}}),
        ("thinking", {"text": "hm", "block": "1"}),
        ("notice", {"level": "warn", "code": "x", "text": "beware"}),
        ("assistant", {"text": "Done", "block": "2"}),
        ("turn_end", {"status": "error", "reason": "step_failed", "text": "Bash x failed: 1"}),
    )  # fmt: skip

    found = said.read_chat(world.project, chat, limit=30)

    assert [(line["role"], line["text"]) for line in found.shown] == [
        ("user", "Do"),
        ("assistant", "Done"),
        ("assistant", "[turn failed: Bash x failed: 1]"),
    ]
    assert found.total == 3


def test_read_chat_pages_back_to_the_beginning_and_on_to_what_came_since(world: World, chat: str):
    for number in range(5):
        world.finish(chat, f"ask {number}", f"say {number}")
    whole = [f"{word} {number}" for number in range(5) for word in ("ask", "say")]

    last = said.read_chat(world.project, chat, limit=3)
    assert [line["text"] for line in last.shown] == whole[-3:]
    assert last.total == 10
    back, before = whole[-3:], last.next
    while before is not None:
        page = said.read_chat(world.project, chat, limit=2, before=before)
        back, before = [line["text"] for line in page.shown] + back, page.next
    assert back == whole

    read, after = [], 0
    while (later := said.read_chat(world.project, chat, limit=4, after=after)).shown:
        read += [line["text"] for line in later.shown]
        after = later.end
    assert read == whole
    assert (after, last.end) == (last.end, after)
    write(world, chat, "t9", *tool("c1"))
    since = said.read_chat(world.project, chat, limit=9, after=after)
    assert [line["text"][:13] for line in since.shown] == ["Bash npm test"]


def test_a_result_whose_use_lies_before_the_page_still_names_its_tool(world: World, chat: str):
    uses = [record for call in ("c1", "c2", "c3") for record in tool(call)[:1]]
    results = [record for call in ("c1", "c2", "c3") for record in tool(call)[1:]]
    write(world, chat, "t1", *uses, *results)

    page, _, _ = messages.page(world.project, chat, limit=1)
    lines = said.read_chat(world.project, chat, limit=1).shown

    assert page[0]["toolCall"]["name"] == "Bash"
    assert lines[0]["text"].startswith("Bash npm test")


def test_a_result_without_a_use_is_shown_as_it_is(world: World, chat: str):
    write(world, chat, "t1", tool("c1")[1])

    page, _, _ = messages.page(world.project, chat)

    assert page[0]["content"] == "tool — ok"
