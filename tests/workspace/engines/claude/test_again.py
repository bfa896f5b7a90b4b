"""A further try of a turn that Anthropic refused: Claude Code goes on in its own conversation."""

from __future__ import annotations

import shutil

import pytest

from tests.stubs.anthropic import Asked, text, use
from tests.workspace.chats.turns.world import only
from tests.workspace.engines.claude.conftest import Desk, Record, ended, of
from workspace import ids
from workspace.engines.message import again

RETRY = {"times": 3, "seconds": 600}
REFUSALS = 3  # requests that Claude Code makes by itself before it gives up


def said(asked: Asked) -> list[str]:
    words = [text.rpartition("</system-reminder>\n\n")[2] for role, text in asked.messages]
    return [word for word, (role, _) in zip(words, asked.messages, strict=True) if role != "system"]


def tries(desk: Desk) -> tuple[list[Record], list[Record]]:
    turn = ids.turn_id()
    first = desk.run("Which word?", turn=turn, retry=RETRY)
    state = only(first, "engine")["state"]
    shutil.rmtree(desk.world.root / "data/run/turns" / turn)
    second = desk.run("Which word?", turn=turn, engine_ref=state, retry=RETRY | {"try": 2})
    return first, second[len(first) :]


@pytest.mark.slow
def test_what_was_done_is_not_done_again(desk: Desk):
    (desk.project / "a.txt").write_text("one\n")
    desk.stub.say(text("I look."), use("Read", {"file_path": str(desk.project / "a.txt")}))
    desk.stub.fail(429, times=REFUSALS)
    desk.stub.say(text("One."))

    first, second = tries(desk)

    assert (first[-1]["type"], first[-1]["reason"]) == ("turn_wait", "rate_limited")
    assert ended(second) == ("ok", None)
    asked = desk.stub.asked[-1]
    assert said(asked)[0] == "Which word?"
    assert said(asked)[-1].endswith(again.GO_ON)
    assert len(asked.results) == 1
    assert of(second, "user") == []


@pytest.mark.slow
def test_a_turn_that_had_not_begun_is_given_its_message(desk: Desk):
    desk.stub.fail(429, times=REFUSALS)
    desk.stub.say(text("Plum."))

    _, second = tries(desk)

    assert ended(second) == ("ok", None)
    assert said(desk.stub.asked[-1])[-1].endswith("Which word?")
