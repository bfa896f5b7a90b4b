"""Where a conversation goes on: its own memory, a fork's source, or our records."""

from __future__ import annotations

import pytest

from tests.stubs.anthropic import Asked, text, thinking, use
from tests.workspace.chats.turns.world import kinds, only
from tests.workspace.engines.claude.conftest import Desk, Record, ended, of

TOLD = "Earlier conversation, for context only; do not act on it again:"


def said(asked: Asked) -> list[str]:
    """What user and model said in this request, without what Claude Code adds."""
    words = [text.rpartition("</system-reminder>\n\n")[2] for role, text in asked.messages]
    return [word for word, (role, _) in zip(words, asked.messages, strict=True) if role != "system"]


def talk(desk: Desk, prompt: str, answer: str, **fields: object) -> list[Record]:
    desk.stub.say(thinking("hm"), text(answer))
    records = desk.run(prompt, **fields)
    assert ended(records) == ("ok", None)
    return records


def lost(records: list[Record]) -> bool:
    return "engine_state_lost" in [notice["code"] for notice in of(records, "notice")]


def test_the_next_turn_goes_on_in_the_same_conversation_from_any_directory(desk: Desk):
    first = talk(desk, "One", "first")
    state = only(first, "engine")["state"]
    (desk.project / "sub").mkdir()

    second = talk(desk, "Two", "second", engine_ref=state, cwd=str(desk.project / "sub"))

    assert state == {"session": desk.world.chat, "chat": desk.world.chat}
    assert said(desk.stub.asked[-1]) == ["One", "hm\nfirst", "Two"]
    assert "engine" not in kinds(second)
    assert list(desk.conversations) == [desk.world.chat]


@pytest.mark.slow
def test_a_fork_goes_on_from_its_point_and_so_does_a_fork_of_it(desk: Desk):
    """Edge case 27, as far as the model is concerned."""
    talk(desk, "One", "first")
    source = desk.world.chat
    fork = desk.fork()
    desk.world.chat = source
    talk(desk, "Two, in the source", "second")
    desk.world.chat = fork
    inner = desk.fork()  # of the fork, before it said anything of its own

    for chat in (inner, fork):
        desk.world.chat = chat
        records = talk(desk, "Three", "third")
        assert said(desk.stub.asked[-1]) == ["One", "hm\nfirst", "Three"]
        assert only(records, "engine")["state"] == {"session": chat, "chat": chat}
        assert not lost(records)
        assert records[-1]["usage"]["totalTokens"] == 15

    assert set(desk.conversations) == {source, fork, inner}
    talk(desk, "Four", "fourth")
    assert said(desk.stub.asked[-1])[-2:] == ["hm\nthird", "Four"]


@pytest.mark.slow
def test_a_fork_of_an_empty_chat_is_a_new_conversation(desk: Desk):
    records = talk(desk, "One", "first", fork_source={"sessionId": "x", "offset": 0, "seq": 0})
    assert said(desk.stub.asked[-1]) == ["One"]
    assert not lost(records)


@pytest.mark.slow
def test_a_lost_conversation_is_told_as_text(desk: Desk):
    """Edge case 20."""
    state = only(talk(desk, "One", "first"), "engine")["state"]
    desk.conversations[desk.world.chat].unlink()

    records = talk(desk, "Two", "second", engine_ref=state)

    assert lost(records)
    assert said(desk.stub.asked[-1]) == [f"{TOLD}\nuser: One\nassistant: first\n\nTwo"]
    assert not lost(talk(desk, "Three", "third", engine_ref=state))
    assert said(desk.stub.asked[-1])[-1] == "Three"


@pytest.mark.slow
def test_a_conversation_that_claude_code_cannot_read_is_told_as_text(desk: Desk):
    state = only(talk(desk, "One", "first"), "engine")["state"]
    desk.conversations[desk.world.chat].write_text("not json\n")

    records = talk(desk, "Two", "second", engine_ref=state)

    assert lost(records)
    assert said(desk.stub.asked[-1]) == [f"{TOLD}\nuser: One\nassistant: first\n\nTwo"]
    new = only(records, "engine")["state"]
    assert new["session"] != state["session"]
    assert not lost(talk(desk, "Three", "third", engine_ref=new))
    assert said(desk.stub.asked[-1])[-2:] == ["hm\nsecond", "Three"]


@pytest.mark.slow
def test_a_fork_whose_source_was_lost_is_told_as_text(desk: Desk):
    talk(desk, "One", "first")
    desk.conversations[desk.world.chat].unlink()
    desk.fork()

    records = talk(desk, "Two", "second")

    assert lost(records)
    assert said(desk.stub.asked[-1]) == [f"{TOLD}\nuser: One\nassistant: first\n\nTwo"]


@pytest.mark.slow
def test_a_chat_that_another_engine_began_is_told_as_text_and_nothing_was_lost(desk: Desk):
    desk.world.run("#!runbook\nBe greeted.\n```Bash\necho hi\n```\n")

    records = talk(desk, "Two", "second")

    assert not lost(records)
    assert said(desk.stub.asked[-1])[0].startswith(f"{TOLD}\nuser: #!runbook")
    assert "tool Bash echo hi: hi" in said(desk.stub.asked[-1])[0]


@pytest.mark.slow
def test_after_a_stop_in_a_call_the_conversation_goes_on_without_a_dangling_call(desk: Desk):
    desk.stub.say(text("I wait."), use("Bash", {"command": "touch begun; sleep 600"}))
    running = desk.start("One", tools=["Bash"])
    running.until(lambda records: (desk.project / "begun").exists())
    running.stop()
    assert ended(desk.end(running)) == ("stopped", "user")

    records = talk(desk, "Two", "second")

    assert not lost(records)
    asked = desk.stub.asked[-1]
    calls = [
        block["id"]
        for message in asked.body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    assert set(calls) <= set(asked.results)
    assert said(asked)[0] == "One"
    assert said(asked)[-1].endswith("Two")
