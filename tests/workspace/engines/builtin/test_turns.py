"""A turn of the builtin engine: what the model says and calls, as records."""

from __future__ import annotations

import json

import pytest

from tests.stubs.openai import text, thinking, use
from tests.workspace.chats.turns.world import kinds, only, until
from tests.workspace.engines.builtin.talk import end, notices, of, result


@pytest.mark.slow
def test_a_reply_is_recorded_with_what_was_used(talk, stub):
    stub.say(text("Hello there."), input_tokens=12, output_tokens=3)

    records = talk.run("Hi")

    assert kinds(records) == [
        "turn_start", "user", "notice", "engine", "assistant", "engine", "turn_end",
    ]  # fmt: skip
    assert only(records, "assistant")["text"] == "Hello there."
    last = records[-1]
    assert (end(records), last["turns"], last["cost"]) == (("ok", None), 1, None)
    assert last["usage"] == {
        "inputTokens": 12, "outputTokens": 3, "cacheReadTokens": 0, "cacheWriteTokens": 0,
        "totalTokens": 15,
    }  # fmt: skip


def test_the_model_is_told_the_instructions_and_the_message(talk, stub):
    stub.say(text("ok"))
    talk.run("Hi", instructions="You work in alpha.", message="Event line\n\nHi")

    (asked,) = stub.asked
    assert asked.system == "You work in alpha."
    assert asked.messages == [("user", "Event line\n\nHi")]
    assert asked.body["model"] == "m"


@pytest.mark.slow
def test_a_tool_runs_and_the_model_sees_its_answer(talk, stub, world):
    (world.project / "a.txt").write_text("one\n")
    stub.say(text("I look."), use("Read", {"file_path": "a.txt"}))
    stub.say(text("It says one."))

    records = talk.run()

    assert kinds(records)[3:] == [
        "engine", "assistant", "engine", "tool_use", "tool_result", "engine", "assistant", "engine",
        "turn_end",
    ]  # fmt: skip
    call = only(records, "tool_use")
    assert (call["tool"], call["input"], call["target"]) == (
        "Read",
        {"file_path": "a.txt"},
        "a.txt",
    )
    assert result(records) == (False, "1\tone")
    assert list(stub.asked[1].results.values()) == [(False, "1\tone")]
    assert records[-1]["turns"] == 2


@pytest.mark.slow
def test_calls_of_one_reply_run_in_their_order(talk, stub, world):
    stub.say(
        use("Write", {"file_path": "a.txt", "content": "1"}),
        use("Bash", {"command": "cat a.txt; echo 2 > a.txt"}),
        use("Read", {"file_path": "a.txt"}),
    )
    stub.say(text("done"))

    records = talk.run()

    assert [record["text"] for record in of(records, "tool_result")] == [
        "wrote 1 bytes to a.txt", "1", "1\t2",
    ]  # fmt: skip
    assert len(stub.asked[1].results) == 3
    assert len({record["call"] for record in of(records, "tool_use")}) == 3


@pytest.mark.slow
def test_what_is_thought_is_a_record_of_its_own(talk, stub):
    stub.say(thinking("hm, let me see"), text("Yes."), piece=4)
    records = talk.run()
    assert only(records, "thinking")["text"] == "hm, let me see"
    assert only(records, "assistant")["text"] == "Yes."
    blocks = [record["block"] for record in records if "block" in record]
    assert len(set(blocks)) == 2


@pytest.mark.slow
def test_text_is_live_while_it_is_said(talk, stub, world):
    stub.say(text("slowly but surely"), piece=6, hold=2)
    running = talk.start()
    live = world.chats / f"{world.chat}.live"
    lines = until(
        lambda: (
            [json.loads(line) for line in live.read_text().splitlines() if line]
            if live.exists()
            else []
        ),
        lambda found: "".join(line["s"] for line in found) == "slowly but s",
    )
    assert {line["k"] for line in lines} == {"text"}
    stub.release()
    assert running.end()[0] == 0
    said = only(world.records(), "assistant")
    assert (said["text"], said["block"]) == ("slowly but surely", lines[0]["b"])
    assert live.read_bytes() == b""


def test_a_failing_tool_is_an_error_for_the_model_and_the_turn_goes_on(talk, stub):
    stub.say(use("Read", {"file_path": "nope.txt"}))
    stub.say(text("There is none."))
    records = talk.run()
    assert result(records) == (True, "file not found: nope.txt")
    assert "file not found: nope.txt" in next(iter(stub.asked[1].results.values()))[1]
    assert end(records) == ("ok", None)


@pytest.mark.slow
def test_bash_tells_its_exit_status_and_keeps_its_time(talk, stub):
    stub.say(
        use("Bash", {"command": "echo x; exit 3"}),
        use("Bash", {"command": "sleep 60", "timeout": 50}),
    )
    stub.say(text("so"))
    records = talk.run()
    first, second = of(records, "tool_result")
    assert (first["status"], first["text"]) == (3, "x\n[exit status 3]")
    assert (second["status"], "timed out after 0.05 s" in second["text"]) == (124, True)


def test_arguments_of_the_wrong_form_are_told_to_the_model(talk, stub, world):
    stub.say(
        use("Write") | {"input": '{"file_path": '},
        use("Write") | {"input": "[1]"},
        use("Read") | {"input": '{"file_path": "a", "offset": NaN}'},
        use("Read") | {"input": '{"file_path": "a", "offset": 1e999}'},
        use("Read") | {"input": '{"file_path": ' + "[" * 100_000},
        use("Write", {"file_path": "a"}),
        use("Write", {"file_path": 1, "content": "x"}),
        use("Read", {"file_path": "b", "lines": 2}),
    )
    stub.say(text("sorry"))
    records = talk.run()
    assert [record["text"] for record in of(records, "tool_result")] == [
        *["the arguments are not a JSON object"] * 5,
        "Write needs content",
        "file_path must be text",
        'Read has no argument "lines"',
    ]
    assert all(record["is_error"] for record in of(records, "tool_result"))
    assert end(records) == ("ok", None)
    assert [path.name for path in world.project.iterdir()] == [".chats"]


@pytest.mark.slow
def test_an_argument_of_null_is_one_that_is_not_given(talk, stub, world):
    (world.project / "a.txt").write_text("one\ntwo\n")
    stub.say(use("Read", {"file_path": "a.txt", "offset": None, "limit": 1}))
    stub.say(text("ok"))
    assert result(talk.run()) == (False, "1\tone")


@pytest.mark.slow
def test_a_very_long_answer_of_a_tool_is_cut(talk, stub, world):
    (world.project / "a.txt").write_text(f"{'x' * 1900}\n" * 100)
    stub.say(use("Read", {"file_path": "a.txt"}))
    stub.say(text("long"))
    talk.run()
    ((_, told),) = stub.asked[1].results.values()
    assert 100_000 < len(told) < 100_100
    assert told.endswith("characters left out]")


@pytest.mark.slow
def test_a_model_that_says_nothing_is_asked_again_but_not_for_ever(talk, stub):
    stub.say(text(""))
    stub.say(thinking("hm"))
    stub.say(text("Now."))
    assert end(talk.run()) == ("ok", None)

    for _ in range(3):
        stub.say(text(" "))
    records = talk.run()
    assert end(records) == ("error", "api_error")
    assert records[-1]["text"] == "The model gave an empty answer."


@pytest.mark.slow
def test_an_answer_cut_by_its_length_is_no_success(talk, stub):
    stub.finish = "length"
    stub.say(text("It was a dark and"))
    records = talk.run()
    assert only(records, "assistant")["text"] == "It was a dark and"
    assert (end(records), records[-1]["turns"]) == (("error", "api_error"), 1)
    assert "cut" in records[-1]["text"]


@pytest.mark.slow
def test_the_turn_stops_at_its_bound_of_replies(talk, stub, world):
    for number in range(3):
        stub.say(use("Bash", {"command": f"echo {number} >> ran"}))
    records = talk.run(max_turns=2)
    assert (end(records), records[-1]["turns"]) == (("max_turns", "max_turns"), 2)
    assert (world.project / "ran").read_text() == "0\n1\n"
    assert "max_turns" in notices(records)
    assert records[-1]["usage"]["inputTokens"] == 20


@pytest.mark.slow
def test_a_server_that_reports_no_usage_leaves_it_unknown(talk, stub):
    stub.usage = False
    stub.say(text("ok"))
    end = talk.run()[-1]
    assert end["usage"] is None
    assert "context" not in end


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({}, None),
        ({"contextTokens": 8000}, 8000),
        ({"contextTokens": {"openai": 8000, "local": 4000}}, 4000),
        ({"contextTokens": {"local:m": 2000, "local": 4000}}, 2000),
        ({"contextTokens": {"openai": 8000}}, None),
    ],
)
def test_the_model_that_answered_and_its_context_are_kept(talk, stub, settings, limit):
    talk.settings = settings
    stub.say(text("ok"), input_tokens=100, output_tokens=20)

    end = talk.run()[-1]

    assert end["model"] == "local:m"
    assert end["context"] == {"used": 120, "limit": limit, "engine": "builtin"}


def test_a_context_that_is_no_number_of_tokens_is_refused(talk):
    talk.settings = {"contextTokens": {"local": "8k"}}

    end = talk.run()[-1]

    assert end["text"] == (
        "engines.builtin.contextTokens has to be a whole number from 1000 to 100000000, or such "
        'numbers by server or model, not "8k"'
    )
