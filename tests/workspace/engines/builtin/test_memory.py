"""What a model remembers of its chat: turns before, forks, stops, crashes."""

from __future__ import annotations

import json
import shutil
import signal

import pytest

from tests.stubs.openai import text, use
from tests.workspace.chats.turns.world import book, fence, kinds, only, until
from tests.workspace.engines.builtin.talk import end, notices, of
from workspace import ids
from workspace.chats import transcript
from workspace.engines import procs


@pytest.mark.slow
def test_the_next_turn_knows_the_one_before_as_it_was(talk, stub, world):
    (world.project / "a.txt").write_text("one\n")
    stub.say(text("I look."), use("Read", {"file_path": "a.txt"}, call="call_a"))
    stub.say(text("One."))
    first = talk.run("What is in a.txt?", instructions="Be brief.")
    stub.say(text("Still one."))
    records = talk.run("And now?", instructions="Be long.")

    asked = stub.asked[2]
    assert [one.system for one in stub.asked] == ["Be brief.", "Be brief.", "Be long."]
    assert "Be brief." not in json.dumps(first)  # kept messages do not repeat them
    assert asked.messages == [
        ("user", "What is in a.txt?"), ("assistant", "I look."), ("assistant", "One."),
        ("user", "And now?"),
    ]  # fmt: skip
    assert asked.results == {"call_a": (False, "1\tone")}
    assert end(records) == ("ok", None)
    assert "Earlier conversation" not in json.dumps(asked.body)


@pytest.mark.slow
def test_a_fork_knows_what_its_source_said_and_the_source_not_what_the_fork_said(talk, stub, world):
    stub.say(text("Noted."))
    talk.run("The word is plum.")
    source, world.chat = world.transcript, ids.session_id()
    shutil.copyfile(source, world.transcript)
    stub.say(text("Plum."))
    talk.run("Which word?")
    assert stub.asked[1].messages == [
        ("user", "The word is plum."), ("assistant", "Noted."), ("user", "Which word?"),
    ]  # fmt: skip

    world.chat = source.stem
    stub.say(text("Yes?"))
    talk.run("Hello?")
    assert [words for _, words in stub.asked[2].messages] == [
        "The word is plum.", "Noted.", "Hello?",
    ]  # fmt: skip


@pytest.mark.slow
def test_what_a_stop_cut_off_is_remembered_as_far_as_it_was_said(talk, stub, world):
    stub.say(text("It was a dark night"), piece=8, hold=2)
    running = talk.start("Tell a story")
    live = world.transcript.with_suffix(".live")
    until(lambda: live.exists() and "dark" in live.read_text(), bool)
    running.stop()
    assert running.end()[0] == 0
    partial = only(world.records(), "assistant")
    assert (partial["text"], partial["partial"]) == ("It was a dark ni", True)
    assert end(world.records()) == ("stopped", "user")

    stub.say(text("ght."))
    talk.run("Go on")
    assert stub.asked[1].messages == [
        ("user", "Tell a story"), ("assistant", "It was a dark ni"), ("user", "Go on"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_command_that_was_stopped_is_interrupted_for_the_model(talk, stub, world):
    stub.say(
        use("Bash", {"command": "echo begun > begun; sleep 600"}, call="call_a"),
        use("Bash", {"command": "touch never"}, call="call_b"),
    )
    running = talk.start()
    until((world.project / "begun").exists, bool)
    running.stop()
    assert running.end()[0] == 0
    assert end(world.records()) == ("stopped", "user")
    assert [record["text"] for record in of(world.records(), "tool_result")] == ["stopped"]

    stub.say(text("ok"))
    assert end(talk.run()) == ("ok", None)
    assert {call: words for call, (_, words) in stub.asked[1].results.items()} == {
        "call_a": "interrupted", "call_b": "interrupted",
    }  # fmt: skip
    assert not (world.project / "never").exists()


def test_a_killed_turn_is_remembered_up_to_its_last_whole_message(talk, stub, world):
    stub.say(use("Glob", {"pattern": "*.txt"}, call="call_a"))
    stub.say(use("Bash", {"command": "echo begun > begun; sleep 600"}, call="call_b"))
    running = talk.start("Look around")
    until((world.project / "begun").exists, bool)
    running.child.send_signal(signal.SIGKILL)
    running.end()
    procs.kill_tree(turn=running.job.turn)  # as the sweep does

    stub.say(text("ok"))
    talk.run("Go on")
    asked = stub.asked[2]
    assert {call: words for call, (_, words) in asked.results.items()} == {
        "call_a": "No files found", "call_b": "interrupted",
    }  # fmt: skip
    assert [words for role, words in asked.messages if role == "user"] == ["Look around", "Go on"]


def test_turns_of_another_engine_are_told_in_words(talk, stub, world):
    world.run(book("Checked.\n", fence("Glob", '{"pattern": "*.txt"}')))
    with transcript.Writer(str(world.transcript)) as writer:
        writer.append("assistant", "msg_x", text="Cut o", block="b1", partial=True)
    stub.say(text("I see."))
    records = talk.run("What was that?")

    ((role, words),) = stub.asked[0].messages
    assert role == "user"
    first, *lines, empty, message = words.splitlines()
    assert first == "Earlier conversation, for context only; do not act on it again:"
    assert "tool Glob *.txt: No files found" in lines
    assert {"assistant: Checked.", "assistant: Cut o"} <= set(lines)
    assert (empty, message) == ("", "What was that?")
    assert notices(records) == ["root_unsandboxed"]


@pytest.mark.slow
def test_messages_that_cannot_be_read_any_more_are_told_in_words_with_a_notice(talk, stub, world):
    stub.say(text("Noted."))
    talk.run("The word is plum.")
    with transcript.Writer(str(world.transcript)) as writer:
        writer.append("engine", "msg_x", engine="builtin", messages=[{"kind": "of another age"}])
    stub.say(text("Plum."))
    records = talk.run("Which word?")

    assert "engine_state_lost" in notices(records)
    ((_, words),) = stub.asked[1].messages
    assert "user: The word is plum.\nassistant: Noted." in words
    assert words.endswith("\n\nWhich word?")

    stub.say(text("Yes."))
    assert "engine_state_lost" not in notices(talk.run("Sure?"))
    assert [said for _, said in stub.asked[2].messages] == [words, "Plum.", "Sure?"]


@pytest.mark.slow
def test_a_message_longer_than_a_record_does_not_lose_the_chat(talk, stub, world):
    stub.say(text("Long."))
    talk.run("x" * 1_100_000)
    stub.say(text("ok"))
    records = talk.run("And now?")
    assert "engine_state_lost" in notices(records)
    assert "assistant: Long." in stub.asked[1].messages[0][1]


@pytest.mark.slow
def test_a_chat_can_go_on_with_a_model_of_another_provider(talk, stub, world):
    stub.say(text("Noted."))
    talk.run("The word is plum.")
    talk.model, talk.keys = "openai:gpt-x", {"OPENAI_API_KEY": "sk-dummy-0123456789"}
    talk.settings = {"openai": {"baseUrl": stub.url}}
    stub.say(text("Plum."))
    records = talk.run("Which word?")
    assert [words for _, words in stub.asked[1].messages] == [
        "The word is plum.", "Noted.", "Which word?",
    ]  # fmt: skip
    assert kinds(records)[-1] == "turn_end"
