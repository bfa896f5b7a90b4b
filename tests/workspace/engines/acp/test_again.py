"""A further try of a turn that the agent's provider refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.chats.turns.world import only
from tests.workspace.engines.acp.conftest import Agents
from workspace import ids
from workspace.engines.message import again

RETRY = {"times": 3, "seconds": 600}


def tries(world: Agents, **can: Any) -> tuple[list[Any], list[Any]]:
    """The records of two tries of one turn, of which the first is refused."""
    turn = ids.turn_id()
    first = world.play(prompt="Which word?", turn=turn, retry=RETRY)
    before = len(first)
    ref = {"agent": "stub", "session": world.session(), "cost": 0.0}
    second = world.play(
        prompt="Which word?", turn=turn, engine_ref=ref, retry=RETRY | {"try": 2, "turns": 0}
    )
    return first, second[before:]


@pytest.mark.slow
def test_an_agent_that_had_begun_goes_on_in_its_session(world: Agents):
    world.script(
        [{"tool": {"kind": "execute", "title": "ls"}}, {"fail": [429, "slow down"]}],
        [{"tool": {"kind": "execute", "title": "pwd"}}, {"echo": True}],
        resume=True,
    )

    first, second = tries(world)

    assert (first[-1]["type"], first[-1]["reason"]) == ("turn_wait", "rate_limited")
    assert only(second, "assistant")["text"] == again.GO_ON
    assert second[-1]["status"] == "ok"
    assert len(world.log("resume_session")) == 1
    assert only(first, "tool_use")["call"] != only(second, "tool_use")["call"]


@pytest.mark.slow
def test_an_agent_that_had_done_nothing_is_given_the_message(world: Agents):
    world.script([{"fail": [429, "slow down"]}], [{"echo": True}], resume=True)
    _, second = tries(world)
    assert only(second, "assistant")["text"] == "Which word?"


@pytest.mark.slow
def test_one_that_keeps_no_session_is_told_what_was_done_and_to_go_on(world: Agents):
    world.script([{"say": "I looked. "}, {"fail": [429, "slow down"]}])
    turn = ids.turn_id()
    world.play(prompt="Which word?", turn=turn, retry=RETRY)

    world.script([{"echo": True}])
    records = world.play(prompt="Which word?", turn=turn, retry=RETRY | {"try": 2})

    told = [one["text"] for one in records if one["type"] == "assistant"][-1]
    assert "user: Which word?\nassistant: I looked. \n" in told
    assert told.endswith(again.GO_ON)


@pytest.mark.slow
def test_the_time_an_agent_names_is_kept(world: Agents):
    world.script([{"fail": [429, "slow down", {"retryAfter": 9000}]}])
    records = world.play(prompt="Which word?", retry=RETRY)
    assert records[-1]["status"] == "error"
    assert "It asks to wait 2 h" in records[-1]["text"]
