"""A chat to take along: Markdown that reads well, or the lines as they are."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.errors import NotFound
from tests.workspace.chats.world import USER, World
from workspace.chats import export, forks, transcript
from workspace.models import Chat

TEXT = st.text(max_size=60)


def exported(world: World, chat: str, form: export.Format = "md") -> str:
    found = export.export(project=world.project, session_id=chat, form=form)
    return b"".join(found.pieces).decode()


def write(world: World, chat: str, *records: tuple[str, dict[str, Any]]) -> None:
    with transcript.Writer(str(world.transcript(chat))) as writer:
        for kind, fields in records:
            writer.append(kind, "msg_1", **fields)


def tool(text: str = "done", **result: Any) -> list[tuple[str, dict[str, Any]]]:
    use = {"tool": "Bash", "call": "1", "input": {"command": "npm test"}, "target": "npm test"}
    return [
        ("tool_use", use),
        ("tool_result", {"call": "1", "is_error": False, "text": text, "ms": 12, **result}),
    ]


def test_markdown_tells_who_said_what_when_and_what_the_tools_did(world: World):
    chat = world.chat(name="Fix <the> build").chat.id
    write(
        world,
        chat,
        ("turn_start", {"engine": "runbook"}),
        ("user", {"text": "Run the tests", "sender": {"kind": "client", "id": "ci"}}),
        ("thinking", {"text": "hm", "block": "0"}),
        ("assistant", {"text": "I **will**.", "block": "1"}),
        *tool("3 passed"),
        ("assistant", {"text": "All pass.", "block": "2"}),
        ("notice", {"level": "warn", "code": "x", "text": "Slow\ndisk"}),
        ("turn_end", {"status": "error", "reason": "api_error", "text": "no answer"}),
    )
    when = world.records(chat, "user")[0]["ts"]
    began = world.records(chat, "thinking")[0]["ts"]

    text = exported(world, chat)

    assert text == "\n".join((
        "# Fix <the> build", "", "- Project: `alpha`", f"- Chat: `{chat}`",
        f"- Created: {world.record(chat)['created']}", "- Began as: human", "",
        "## Client ci over /mcp", "", f"_{when}_", "", "Run the tests", "",
        "## Agent", "", f"_{began}_", "",
        "<details><summary>Thinking</summary>", "", "> hm", "", "</details>", "",
        "I **will**.", "",
        "<details><summary>Bash npm test — ok (12 ms)</summary>", "",
        "```json", '{\n  "command": "npm test"\n}', "```", "",
        "```", "3 passed", "```", "", "</details>", "",
        "All pass.", "", "> **warn**: Slow\n> disk", "",
        "> **turn failed**: no answer", "", "",
    ))  # fmt: skip


def test_no_output_of_a_tool_ends_its_block_or_its_fold(world: World):
    chat = world.chat().chat.id
    hostile = "```\n</details>\n`````\n# Heading"
    write(world, chat, *tool(hostile, is_error=True))

    text = exported(world, chat)

    assert f"``````\n{hostile}\n``````" in text
    assert text.count("<summary>Bash npm test — error: ```") == 1


def test_markup_in_a_tools_name_stays_text(world: World):
    chat = world.chat().chat.id
    use = {"tool": "<script>", "call": "1", "input": None, "target": "a\n</summary>"}
    result = {"call": "1", "is_error": False, "text": "", "ms": None}
    write(world, chat, ("tool_use", use), ("tool_result", result))

    assert "<summary>&lt;script&gt; a &lt;/summary&gt; — ok</summary>" in exported(world, chat)


def test_json_lines_are_the_lines_of_the_transcript(world: World):
    chat = world.chat().chat.id
    write(
        world, chat, ("user", {"text": "Grüße", "sender": {"kind": "user", "id": "kim"}}),
        ("engine", {"engine": "builtin", "messages": ["secret"]}), *tool(),
    )  # fmt: skip
    path = world.transcript(chat)
    path.write_bytes(path.read_bytes() + b"{damaged\n")
    write(world, chat, ("turn_end", {"status": "ok"}))

    lines = exported(world, chat, "jsonl").splitlines(keepends=True)

    kept = path.read_text().splitlines(keepends=True)
    assert lines == [line for line in kept if '"engine"' not in line and "damaged" not in line]
    assert [json.loads(line)["type"] for line in lines] == [
        "user", "tool_use", "tool_result", "turn_end",
    ]  # fmt: skip


def test_a_line_that_is_still_being_written_is_left_out(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    path = world.transcript(chat)
    whole = path.read_text()
    path.write_text(whole + '{"v":1,"seq":9')

    assert exported(world, chat, "jsonl") == whole


def test_a_long_chat_comes_in_pieces_and_not_at_once(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "x" * 50_000, *["y" * 50_000] * 20)

    for form in ("md", "jsonl"):
        found = export.export(project=world.project, session_id=chat, form=form)
        sizes = [len(piece) for piece in found.pieces]
        assert len(sizes) > 5
        assert max(sizes) < 200_000


def test_what_becomes_of_the_chat_meanwhile_is_not_in_it(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    found = export.export(project=world.project, session_id=chat, form="jsonl")
    whole = world.transcript(chat).read_bytes()

    world.finish(chat, "Two")

    assert b"".join(found.pieces) == whole


def test_a_fork_names_its_source_and_holds_what_it_inherited(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "What is it?", "42.")
    fork = forks.fork(
        principal=USER, project=world.project, session_id=chat, name="Further"
    ).chat.id

    text = exported(world, fork)

    assert f"- Forked from: `{chat}`" in text
    assert "42." in text


def test_a_chat_that_is_not_there_is_not_exported(world: World):
    with pytest.raises(NotFound):
        exported(world, "../../etc/passwd")


@given(name=st.text(max_size=300))
def test_the_name_of_the_file_is_safe_whatever_the_chat_is_called(name: str):
    found = export._file_name(Chat(id="0a1b2c3d-4e5f-4a1b-8c3d-4e5f0a1b2c3d", name=name))

    assert found.endswith("-0a1b2c3d")
    assert 1 <= len(found) <= export.NAME_MAX + 9
    assert all(char == "-" or unicodedata.category(char)[0] in "LNM" for char in found)


@settings(max_examples=40, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(records=st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=6))
def test_whatever_a_chat_holds_its_markdown_is_made_and_its_calls_are_closed(world: World, records):
    chat = world.chat().chat.id
    for user, target, output in records:
        use = {"tool": user, "call": "1", "input": {target: output}, "target": target}
        result = {"call": "1", "text": output, "is_error": bool(user)}
        write(
            world, chat, ("user", {"text": user, "sender": {"kind": target, "id": output}}),
            ("tool_use", use), ("tool_result", result),
        )  # fmt: skip

    text = exported(world, chat)

    assert len(re.findall(r"^<details><summary>", text, re.MULTILINE)) >= len(records)
    assert len(re.findall(r"^</details>$", text, re.MULTILINE)) >= len(records)
