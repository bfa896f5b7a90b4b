"""The agent's session of a chat: found again, told of again, put into its mode (engine.md 4.6)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.engines.acp.conftest import Agents
from tests.workspace.engines.manage import TOKEN, manage
from tests.workspace.turns import only


def ref(world: Agents, **more: Any) -> dict[str, Any]:
    return {"agent": "stub", "session": world.session(), "cost": 0.0} | more


def codes(records: list[dict[str, Any]]) -> list[str]:
    return [record["code"] for record in records if record["type"] == "notice"]


def test_a_new_session_is_told_where_it_is_and_then_the_message(world):
    records = world.play({"echo": True}, instructions="You work in alpha.", prompt="Hello there")

    assert only(records, "assistant")["text"] == "You work in alpha.\nHello there"
    assert world.log("new_session")[0]["cwd"] == str(world.project)


@pytest.mark.parametrize(
    ("can", "request_"), [("resume", "resume_session"), ("load", "load_session")]
)
def test_the_next_turn_goes_on_in_the_same_session(world, can, request_):
    world.script([{"say": "One."}], [{"echo": True}], **{can: True})
    world.play(prompt="first")

    records = world.play(prompt="second", engine_ref=ref(world))

    assert only(records, "assistant")["text"] == "second"  # no replay, no preamble
    assert len(world.log(request_)) == len(world.log("new_session")) == 1


def test_an_agent_without_either_is_told_of_the_earlier_conversation(world):
    world.script([{"say": "Blue."}], [{"echo": True}])
    world.play(prompt="My favourite colour?")

    world.script([{"echo": True}])
    records = world.play(prompt="Again?", engine_ref=ref(world))

    told = only(records, "assistant")["text"]
    assert told.startswith("Earlier conversation, for context only; do not act on it again:")
    assert "user: My favourite colour?\nassistant: Blue.\nAgain?" in told
    assert "engine_state_lost" not in codes(records)


def test_a_session_the_agent_forgot_is_begun_again_and_said(world):
    world.script([{"say": "One."}], [{"say": "Two."}], resume=True)
    world.play(prompt="first")

    world.script([{"echo": True}], resume=True)
    records = world.play(prompt="second", engine_ref=ref(world, session="gone"))

    assert codes(records) == ["root_unsandboxed", "engine_state_lost"]
    assert "user: first\nassistant: One.\nsecond" in only(records, "assistant")["text"]
    assert records[-1]["status"] == "ok"


def test_the_session_of_another_agent_is_not_asked_for(world):
    world.script([{"say": "One."}], [{"say": "Two."}], resume=True)
    world.play()

    world.play(engine_ref=ref(world, agent="other"))

    assert world.log("resume_session") == []


def test_a_stopped_turn_can_be_gone_on_with(world):
    turn = world.begin({"say": "So"}, {"hang": True}, can={"resume": True})
    turn.until(lambda records: any(one["type"] == "engine" for one in records))
    turn.stop()
    turn.end()

    world.script([{"say": "On."}], resume=True)
    records = world.play(engine_ref=ref(world))

    assert records[-1]["status"] == "ok"
    assert len(world.log("resume_session")) == 1


def test_the_agent_is_put_into_the_mode_of_the_settings(world):
    done = world.play({"say": "x"}, can={"modes": ["ask", "code"]}, agent={"mode": "code"})[-1]
    refused = world.play({"say": "x"}, can={"modes": ["ask"]}, agent={"mode": "yolo"})[-1]

    assert [entry["mode"] for entry in world.log("set_session_mode")] == ["code"]
    assert done["status"] == "ok"
    assert (refused["status"], refused["reason"]) == ("error", "refused")
    assert refused["text"] == 'The agent stub has no mode "yolo"; it has ask.'


def test_a_model_is_given_to_the_agent_and_never_replaced_by_another(world):
    can = {"models": ["small", "large"]}
    done = world.play({"say": "x"}, can=can, model="stub:large")[-1]
    refused = world.play({"say": "x"}, can=can, model="stub:huge")[-1]
    none = world.play({"say": "x"}, model="stub:large")[-1]

    assert [entry["value"] for entry in world.log("set_config_option")] == ["large"]
    assert done["status"] == "ok"
    assert refused["text"] == 'The agent stub has no model "huge"; it has small, large.'
    assert none["text"] == 'The agent stub has no model "large"; it has no choice of models.'


def test_the_service_is_called_with_the_bearer_of_the_turn(world):
    with manage({"list_chats": "two chats"}) as (svc, calls):
        records = world.play(
            {"manage": ["list_chats", {"limit": 2}]},
            can={"http": True}, svc=svc, secrets=(TOKEN,),
        )  # fmt: skip

    assert ("list_chats", {"limit": 2}) in calls
    assert "two chats" in only(records, "assistant")["text"]
    assert world.log("new_session")[0]["servers"] == ["svc_manage"]


def test_an_agent_that_takes_no_http_server_has_none_and_the_chat_says_so(world):
    with manage({"list_chats": "x"}) as (svc, _):
        records = world.play({"say": "x"}, svc=svc)

    assert codes(records) == ["root_unsandboxed", "svc_manage_unavailable"]
    assert world.log("new_session")[0]["servers"] == []
