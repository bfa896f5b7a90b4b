"""A conversation that grows beyond its model is made shorter, and goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.stubs import openai
from tests.stubs.openai import Asked, Reply, text, use
from tests.workspace.chats.turns.world import only
from tests.workspace.engines.builtin.talk import Talk, end, notices, of
from workspace import ids
from workspace.chats import transcript
from workspace.engines import history
from workspace.engines.builtin import servers

LIMIT = 8000
REFUSED = "This model's maximum context length is 8000 tokens. Please shorten the messages."
SUMMARISE = "Summarise this conversation"


def tokens(asked: Asked) -> int:
    return len(json.dumps([asked.body["messages"], asked.body.get("tools", [])])) // 4


def small(stub: Any, times: int = 40) -> None:
    """A model that takes 8,000 tokens and says no to more."""
    refusals = [Reply(status=400, message=REFUSED) for _ in range(times)]
    stub.when(lambda asked: tokens(asked) > LIMIT, *refusals)


def summary(stub: Any, words: str, times: int = 8) -> None:
    replies = [Reply([text(words)]) for _ in range(times)]
    stub.when(lambda asked: SUMMARISE in asked.messages[-1][1], *replies)


def fill(talk: Talk, pairs: int, words: int = 40) -> None:
    """Turns of the past, as the engine keeps them: a question and an answer each."""
    with transcript.Writer(str(talk.world.transcript)) as writer:
        for number in range(pairs):
            turn = ids.turn_id()
            asked = f"Question {number}. " + ("The first word is plum. " if number == 0 else "")
            said = f"Answer {number}. " + "so " * words
            writer.append("turn_start", turn, engine="builtin")
            writer.append("user", turn, text=asked, sender={"kind": "user"})
            writer.append("engine", turn, engine="builtin", messages=[_request(asked)])
            writer.append("assistant", turn, text=said, block="b")
            writer.append("engine", turn, engine="builtin", messages=[_response(said)])
            writer.append("turn_end", turn, status="ok")


def _request(words: str) -> dict[str, Any]:
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": words}]}


def _response(words: str) -> dict[str, Any]:
    parts = [{"part_kind": "text", "content": words}]
    return {"kind": "response", "parts": parts, "usage": {"input_tokens": 0, "output_tokens": 0}}


def shown(records: list[dict[str, Any]]) -> str:
    return str(next(one["text"] for one in of(records, "notice") if one["code"] == "compacted"))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"contextTokens": {"local:m": LIMIT}}])
def test_a_chat_of_200_messages_goes_on_and_knows_what_was_said_first(talk, stub, settings):
    talk.settings = settings
    fill(talk, 100, words=150)
    small(stub)
    summary(stub, "The first word is plum.")
    stub.say(text("Plum."))

    records = talk.run("Which word?")

    assert end(records) == ("ok", None)
    last = stub.asked[-1]
    assert tokens(last) <= LIMIT
    assert "Summary of the conversation so far:\nThe first word is plum." in last.messages[0][1]
    assert last.messages[-1] == ("user", "Which word?")
    assert "Answer 99." in json.dumps(last.body)
    assert "were folded into a summary. This chat shows all of them." in shown(records)
    refused = [asked for asked in stub.asked if tokens(asked) > LIMIT]
    assert len(refused) == (0 if settings else 1)
    asking = [asked for asked in stub.asked if SUMMARISE in asked.messages[-1][1]]
    assert asking
    assert all(asked.tools == [] for asked in asking)
    assert len(of(talk.world.records(), "user")) == 101


@pytest.mark.slow
def test_a_size_that_failed_is_never_tried_again_and_the_next_turn_knows(talk, stub):
    fill(talk, 100, words=150)
    small(stub)
    summary(stub, "The first word is plum.")
    stub.say(text("Plum."))
    state = of(talk.run("Which word?"), "engine")
    known = next(one["state"] for one in state if "state" in one)
    assert 0 < known["limits"]["local:m"] <= LIMIT
    before = len(stub.asked)

    stub.say(text("Yes."))
    records = talk.run("Sure?", engine_ref=known)

    assert "compacted" not in notices(records)
    assert len(stub.asked) == before + 1
    assert "The first word is plum." in stub.asked[-1].messages[0][1]
    assert stub.asked[-1].messages[-1] == ("user", "Sure?")


@pytest.mark.slow
def test_without_a_summary_the_older_part_is_left_out_and_that_is_said(talk, stub):
    talk.settings = {"contextTokens": LIMIT}
    fill(talk, 100, words=150)
    small(stub)
    refusals = [Reply(status=500, message="no") for _ in range(3)]
    stub.when(lambda asked: SUMMARISE in asked.messages[-1][1], *refusals)
    stub.say(text("I do not know."))

    records = talk.run("Which word?")

    assert end(records) == ("ok", None)
    assert "messages were left out: it gave no summary of them" in shown(records)
    assert "was left out: it is longer than the model can take" in stub.asked[-1].messages[0][1]


@pytest.mark.slow
def test_calls_stay_with_their_answers_within_a_long_turn(talk, stub, world):
    talk.settings = {"contextTokens": LIMIT}
    small(stub)
    summary(stub, "I read several parts.")
    for number in range(12):
        (world.project / f"{number}.txt").write_text("word " * 700)
        stub.say(use("Read", {"file_path": f"{number}.txt"}, call=f"call_{number}"))
    stub.say(text("Read."))

    records = talk.run("Read all the files and count the words")

    assert end(records) == ("ok", None)
    assert "compacted" in notices(records)
    last = stub.asked[-1]
    assert "Read all the files and count the words" in last.messages[0][1]
    calls = [
        call["id"] for message in last.body["messages"] for call in message.get("tool_calls") or []
    ]
    assert calls == list(last.results)
    assert "call_11" in calls
    assert "call_0" not in calls


@pytest.mark.slow
def test_the_message_that_is_worked_on_stays_whole_and_without_what_was_told_before_it(
    talk, stub, world
):
    talk.settings = {"contextTokens": LIMIT}
    small(stub)
    summary(stub, "I read several parts.")
    with transcript.Writer(str(world.transcript)) as writer:
        for number in range(20):
            turn = ids.turn_id()
            writer.append("assistant", turn, text=f"Said {number}. " + "so " * 100, block="b")
    for number in range(12):
        (world.project / f"{number}.txt").write_text("word " * 700)
        stub.say(use("Read", {"file_path": f"{number}.txt"}, call=f"call_{number}"))
    stub.say(text("Read."))
    wanted = "\n".join(f"Requirement {number}: count them." for number in range(200))

    records = talk.run(f"{wanted}\nAnd never touch the last file.")

    assert end(records) == ("ok", None)
    assert "compacted" in notices(records)
    opening = stub.asked[-1].messages[0][1]
    assert opening.endswith(f"{wanted}\nAnd never touch the last file.")
    assert "Said" not in opening


@pytest.mark.slow
def test_an_answer_of_a_tool_that_is_larger_than_the_model_is_cut(talk, stub, world):
    small(stub)
    (world.project / "long.txt").write_text(f"{'x' * 1500}\n" * 60)
    stub.say(use("Read", {"file_path": "long.txt"}))
    summary(stub, "A long file was read.")
    stub.say(text("Long."))

    records = talk.run("What is in it?")

    assert end(records) == ("ok", None)
    assert tokens(stub.asked[-1]) <= LIMIT
    ((_, told),) = stub.asked[-1].results.values()
    assert told.endswith("it is more than the model can take]")
    assert len(only(records, "tool_result")["text"]) > 10_000


@pytest.mark.slow
def test_a_message_larger_than_the_model_gets_a_clear_sentence(talk, stub):
    small(stub)
    summary(stub, "Nothing yet.")

    records = talk.run("word " * 10_000)

    assert end(records) == ("error", "api_error")
    assert records[-1]["text"].startswith("This message alone is longer than local:m can take")
    assert len(stub.asked) == 1

    stub.say(text("Here."))
    assert end(talk.run("Still there?")) == ("ok", None)


@pytest.mark.slow
def test_a_fold_that_a_rate_limit_meets_waits_with_its_turn(talk, stub):
    talk.settings = {"contextTokens": LIMIT}
    fill(talk, 100, words=150)
    limited = Reply(status=429, message="slow down", headers={"Retry-After": "60"})
    stub.when(lambda asked: SUMMARISE in asked.messages[-1][1], limited)

    records = talk.run("Which word?")

    assert end(records) == ("error", "rate_limited")


@pytest.mark.slow
def test_a_summary_that_breaks_off_is_asked_for_again_and_no_half_of_it_is_kept(world):
    with openai.serve() as stub:
        talk = Talk(world, stub, "openai:gpt-x")
        talk.settings |= {"contextTokens": LIMIT}
        fill(talk, 100, words=150)
        half = Reply([text("WRONG-HALF of it")], piece=5, cut=2, ends=True)
        whole = [Reply([text("The first word is plum.")]) for _ in range(8)]
        stub.when(lambda asked: SUMMARISE in asked.messages[-1][1], half, *whole)
        stub.say(text("Plum."))

        records = talk.run("Which word?")

    assert end(records) == ("ok", None)
    assert "The first word is plum." in stub.asked[-1].messages[0][1]
    assert all("WRONG" not in json.dumps(asked.body) for asked in stub.asked)


@pytest.mark.slow
def test_a_fold_that_finds_no_server_forgets_nothing(talk, stub):
    talk.settings = {"contextTokens": LIMIT}
    fill(talk, 100, words=150)
    fields = talk.fields()
    fields["engine_cfg"] |= {"local_url": "http://127.0.0.1:9/v1"}

    records = talk.world.run("Which word?", **fields)

    assert end(records) == ("error", "api_error")
    assert "cannot be reached" in records[-1]["text"]
    assert "compacted" not in notices(records)


@pytest.mark.slow
def test_a_task_is_folded_by_itself_and_the_chat_is_not(talk, stub, world):
    talk.settings = {"contextTokens": LIMIT}
    small(stub)
    summary(stub, "Parts were read.")
    stub.say(use("Task", {"description": "read", "prompt": "Read them"}))
    for number in range(8):
        (world.project / f"{number}.txt").write_text("word " * 900)
        stub.say(use("Read", {"file_path": f"{number}.txt"}))
    stub.say(text("All read."))
    stub.say(text("Done."))

    records = talk.run("Have them read")

    assert end(records) == ("ok", None)
    assert "compacted" not in notices(records)
    assert stub.asked[-1].messages == [("user", "Have them read"), ("assistant", "")]


@pytest.mark.slow
def test_what_another_engine_did_is_told_as_far_as_the_model_takes_it(talk, stub, world):
    with transcript.Writer(str(world.transcript)) as writer:
        for number in range(200):
            writer.append(
                "assistant", ids.turn_id(), text=f"Said {number}. " + "so " * 100, block="b"
            )
    small(stub)
    stub.say(text("I see."))

    records = talk.run("What was that?")

    assert end(records) == ("ok", None)
    ((_, told),) = stub.asked[-1].messages
    assert told.startswith(history.HEAD)
    assert "Said 199." in told
    assert "Said 0." not in told
    assert told.endswith("\n\nWhat was that?")
    assert "Its longest parts were cut for it" in shown(records)


@pytest.mark.slow
def test_a_server_that_refuses_every_length_ends_the_turn_with_the_reason(talk, stub):
    stub.say(text("Noted."))
    talk.run("The word is plum.")
    stub.fail(400, times=2, message="This model's maximum context length is 12 tokens.")

    records = talk.run("Which word?")

    assert end(records) == ("error", "api_error")
    assert records[-1]["text"].startswith("This chat is longer than the model can take: This model")
    assert "fork an earlier turn" in records[-1]["text"]


@pytest.mark.parametrize(
    ("said", "tried", "learned"),
    [
        ("maximum context length is 8192 tokens. However, you requested 9010", 9100, 8190),
        ("request (9000 tokens) exceeds the available context size (8192 tokens)", 9000, 8100),
        ("prompt is too long: 210000 tokens > 200000 maximum", 100_000, 90_000),
        ("maximum context length is 8192 tokens (request id: 2026112812345678)", 9000, 8100),
        ("context_length_exceeded", 5000, 4500),
        ("the context window is 12 tokens", 5000, 4500),
    ],
)
def test_a_refusal_teaches_a_size_below_the_one_that_failed(talk, said, tried, learned):
    from pydantic_ai import exceptions
    from pydantic_ai.usage import RunUsage

    from workspace.engines.builtin.arrival import Arrival
    from workspace.engines.builtin.fitting import Fitting, overflows

    job = talk.world.job("x", **talk.fields())
    fitting = Fitting(job, "local:m", {}, RunUsage(), Arrival())
    error = exceptions.ModelHTTPError(400, "m", {"message": said})

    assert overflows(error) == (tried != 5000 or "context" in said)
    fitting.learn(error, tried)

    assert fitting.limit == learned
    fitting.learn(error, tried)
    assert fitting.limit <= learned


def test_a_limit_that_no_model_has_is_not_remembered(talk):
    from pydantic_ai.usage import RunUsage

    from workspace.engines.builtin.arrival import Arrival
    from workspace.engines.builtin.fitting import Fitting

    job = talk.world.job("x", **talk.fields(engine_ref={"limits": {"local:m": 1}}))

    assert Fitting(job, "local:m", {}, RunUsage(), Arrival()).limit is None


@pytest.mark.parametrize(
    ("value", "limit"),
    [(9000, 9000), ({"local:m": 9000, "local": 5000}, 9000), ({"local": 5000}, 5000), ({}, None)],
)
def test_the_limit_is_set_for_all_a_server_or_a_model(value, limit):
    assert servers.context_tokens({"settings": {"contextTokens": value}}, "local", "m") == limit


@pytest.mark.parametrize("value", [5, "many", True, {"local:m": 0}, [9000]])
def test_a_limit_that_is_none_makes_the_engine_unusable(value):
    wrong = servers.unusable({"settings": {"contextTokens": value}})
    assert wrong is not None
    assert wrong.startswith("engines.builtin.contextTokens has to be a whole number from 1000")
