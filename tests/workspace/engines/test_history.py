"""What a model gets of a conversation that it does not know."""

from __future__ import annotations

from typing import Any

from workspace.engines import history


def say(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "text": text, **more}


def use(call: str, tool: str, target: str) -> dict[str, Any]:
    return {"type": "tool_use", "call": call, "tool": tool, "target": target}


def told(*records: dict[str, Any]) -> list[str]:
    """The lines made of records in the order they were written."""
    return history.preamble(reversed(records)).splitlines()


def test_a_chat_in_which_nothing_was_said_has_no_preamble():
    assert told() == []
    assert told({"type": "turn_start"}, {"type": "turn_end"}) == []


def test_messages_and_tools_are_lines_in_their_order():
    assert told(
        say("user", "Look at a.txt"),
        say("thinking", "secretly"),
        use("1", "Read", "a.txt"),
        say("tool_result", "1\tone", call="1"),
        say("assistant", "It says one."),
    ) == [
        "Earlier conversation, for context only; do not act on it again:",
        "user: Look at a.txt",
        "tool Read a.txt: 1\tone",
        "assistant: It says one.",
    ]


def test_a_call_that_never_ended_was_interrupted():
    assert told(use("1", "Bash", "make"))[1] == "tool Bash make: interrupted"


def test_what_a_subagent_did_inside_its_task_is_left_out():
    assert told(say("assistant", "inner", task="1"), say("assistant", "outer")) == [
        history.HEAD,
        "assistant: outer",
    ]


def test_long_tool_output_is_cut():
    line = told(use("1", "Bash", "x"), say("tool_result", "y" * 9000, call="1"))[1]
    assert line == f"tool Bash x: {'y' * 2000}"


def test_the_newest_part_of_a_long_conversation_is_kept():
    lines = told(*(say("user", f"{number} {'x' * 50_000}") for number in range(5)))
    assert lines[1] == "[3 earlier records left out]"
    assert [line[:8] for line in lines[2:]] == ["user: 3 ", "user: 4 "]


def test_a_message_longer_than_all_that_fits_is_cut():
    lines = told(say("user", "old"), say("user", "x" * 500_000))
    assert lines[1] == "[1 earlier records left out]"
    assert len(lines[2]) == history.CHARACTERS
