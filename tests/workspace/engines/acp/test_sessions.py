"""The agent's session of a chat: found again, begun again, put into its mode."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.chats.turns.world import only
from tests.workspace.engines.acp.conftest import Agents
from tests.workspace.engines.manage import TOKEN, manage
from workspace.engines.acp import ENGINE, agents, offers


def ref(world: Agents, **more: Any) -> dict[str, Any]:
    return {"agent": "stub", "session": world.session(), "cost": 0.0} | more


def codes(records: list[dict[str, Any]]) -> list[str]:
    return [record["code"] for record in records if record["type"] == "notice"]


def test_a_new_session_is_told_where_it_is_and_then_the_message(world):
    records = world.play({"echo": True}, instructions="You work in alpha.", prompt="Hello there")

    assert only(records, "assistant")["text"] == "You work in alpha.\nHello there"
    assert world.log("new_session")[0]["cwd"] == str(world.project)


@pytest.mark.slow
def test_a_session_that_goes_on_is_told_instructions_again_only_when_they_changed(world):
    world.script([{"say": "One."}], [{"echo": True}], resume=True)
    texts, state = [], None
    for words in ("Be brief.", "Be brief.", "Be long.", "Be long."):
        records = world.play(prompt="go", instructions=words, engine_ref=state)
        states = [one["state"] for one in records if one["type"] == "engine"]
        state = states[-1] if states else state
        texts.append(only(records, "assistant")["text"])

    assert texts == ["One.", "go", "Be long.\ngo", "go"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("can", "request_"), [("resume", "resume_session"), ("load", "load_session")]
)
def test_the_next_turn_goes_on_in_the_same_session(world, can, request_):
    world.script([{"say": "One."}], [{"echo": True}], **{can: True})
    world.play(prompt="first")

    records = world.play(prompt="second", engine_ref=ref(world))

    assert only(records, "assistant")["text"] == "second"  # no replay, no preamble
    assert len(world.log(request_)) == len(world.log("new_session")) == 1


@pytest.mark.slow
def test_an_agent_without_either_is_told_of_the_earlier_conversation(world):
    world.script([{"say": "Blue."}], [{"echo": True}])
    world.play(prompt="My favourite colour?")

    world.script([{"echo": True}])
    records = world.play(prompt="Again?", engine_ref=ref(world))

    told = only(records, "assistant")["text"]
    assert told.startswith("Earlier conversation, for context only; do not act on it again:")
    assert "user: My favourite colour?\nassistant: Blue.\nAgain?" in told
    assert "engine_state_lost" not in codes(records)


@pytest.mark.slow
def test_a_session_the_agent_forgot_is_begun_again_and_said(world):
    world.script([{"say": "One."}], [{"say": "Two."}], resume=True)
    world.play(prompt="first")

    world.script([{"echo": True}], resume=True)
    records = world.play(prompt="second", engine_ref=ref(world, session="gone"))

    assert codes(records) == ["root_unsandboxed", "engine_state_lost"]
    assert "user: first\nassistant: One.\nsecond" in only(records, "assistant")["text"]
    assert records[-1]["status"] == "ok"


@pytest.mark.slow
def test_the_session_of_another_agent_is_not_asked_for(world):
    world.script([{"say": "One."}], [{"say": "Two."}], resume=True)
    world.play()

    world.play(engine_ref=ref(world, agent="other"))

    assert world.log("resume_session") == []


@pytest.mark.slow
def test_a_stopped_turn_can_be_gone_on_with(world):
    turn = world.begin({"say": "So"}, {"hang": True}, can={"resume": True})
    turn.until(lambda records: any(one["type"] == "engine" for one in records))
    turn.stop()
    turn.end()

    world.script([{"say": "On."}], resume=True)
    records = world.play(engine_ref=ref(world))

    assert records[-1]["status"] == "ok"
    assert len(world.log("resume_session")) == 1


@pytest.mark.slow
def test_the_agent_is_put_into_the_mode_of_the_settings(world):
    done = world.play({"say": "x"}, can={"modes": ["ask", "code"]}, agent={"mode": "code"})[-1]
    refused = world.play({"say": "x"}, can={"modes": ["ask"]}, agent={"mode": "yolo"})[-1]

    assert [entry["mode"] for entry in world.log("set_session_mode")] == ["code"]
    assert done["status"] == "ok"
    assert (refused["status"], refused["reason"]) == ("error", "refused")
    assert refused["text"] == 'The agent stub has no mode "yolo"; it has ask.'


CLAUDE = ["auto", "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
CODEX = ["full-access", "auto", "read-only"]
GEMINI = ["yolo", "default", "autoEdit", "plan"]
OPENCODE = ["plan", "build"]


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (CLAUDE, ["default", "default", "plan", "bypassPermissions"]),
        (CODEX, ["read-only", "read-only", "read-only", None]),
        (GEMINI, ["default", "default", "plan", None]),
        (OPENCODE, ["build", "build", None, "build"]),
        (["ask", "code"], [None] * 4),
    ],
)
def test_a_mode_of_the_service_is_the_agents_word_for_it(offered, expected):
    """None: it is left in the first one, which is the one it is in."""
    found = [offers.counterpart(mode, tuple(offered)) for mode in offers.NAMES]

    assert [None if word in ("", offered[0]) else word for word in found] == expected


@pytest.mark.slow
@pytest.mark.parametrize("options", [False, True])
def test_an_agent_is_put_into_its_word_for_the_mode_of_the_turn(world, options):
    can = {"modes": ["yolo", "default"], "options": options}
    world.play({"say": "x"}, can=can, mode="default")

    if options:
        (chosen,) = world.log("set_config_option")
        assert (chosen["option"], chosen["value"]) == ("how", "default")
    else:
        assert [entry["mode"] for entry in world.log("set_session_mode")] == ["default"]


@pytest.mark.slow
def test_an_agent_that_refuses_to_ask_nothing_asks_and_is_allowed(world):
    target = world.project / "a.txt"
    edit = {"kind": "edit", "title": "Edit", "path": str(target)}
    can = {"modes": ["plan", "default", "yolo"], "wary": "yolo"}
    step = {"tool": edit, "ask": True, "then": {"write": [str(target), "x"]}}
    end = world.play(step, can=can, mode="bypassPermissions")[-1]

    assert [entry["mode"] for entry in world.log("set_session_mode")] == ["yolo", "default"]
    assert (end["status"], target.read_text()) == ("ok", "x")


@pytest.mark.slow
def test_an_agent_that_refuses_to_ask_is_not_prompted(world):
    target = world.project / "a.txt"
    can = {"modes": ["yolo", "default"], "wary": "default"}
    end = world.play({"write": [str(target), "x"]}, can=can, mode="default")[-1]

    assert (end["status"], target.exists()) == ("error", False)


@pytest.mark.slow
def test_the_mode_of_the_settings_comes_before_that_word(world):
    can = {"modes": ["default", "code"]}
    world.play({"say": "x"}, can=can, mode="default", agent={"mode": "code"})

    assert [entry["mode"] for entry in world.log("set_session_mode")] == ["code"]


@pytest.mark.slow
def test_a_model_of_the_sessions_own_list_is_given_by_its_own_request(world):
    can = {"models": ["small", "large"], "listed": True}
    done = world.play({"say": "x"}, can=can, model="stub:large")[-1]
    refused = world.play({"say": "x"}, can=can, model="stub:huge")[-1]

    assert [entry["model"] for entry in world.log("set_session_model")] == ["large"]
    assert done["status"] == "ok"
    assert refused["text"] == 'The agent stub has no model "huge"; it has small, large.'


@pytest.mark.slow
@pytest.mark.parametrize("listed", [False, True])
def test_what_an_agent_offers_is_known_from_its_last_session(world, listed):
    assert offers.recall("stub", str(world.offers)) == {"modes": None, "models": None}

    world.play({"say": "x"}, can={"models": ["a", "b"], "modes": ["ask"], "listed": listed})

    known = {"modes": ["ask"], "models": ["a", "b"]}
    assert offers.recall("stub", str(world.offers)) == known
    cfg = world.fields()["engine_cfg"]
    assert ENGINE.agents(cfg) == [{"name": "stub", "reason": None, **known}]


@pytest.mark.slow
def test_a_chat_says_once_that_the_agent_decides_what_it_asks(world):
    world.script([{"say": "One."}], resume=True)
    first = world.play(mode="default")
    kept = [one["state"] for one in first if one["type"] == "engine"][-1]
    second = world.play(mode="default", engine_ref=kept)
    bypassing = world.play(mode="bypassPermissions", engine_ref=ref(world, agent="other"))

    assert "agent_decides" in codes(first)
    assert "agent_decides" not in codes(second) + codes(bypassing)


@pytest.mark.slow
def test_it_says_so_too_when_a_chat_leaves_bypass(world):
    world.script([{"say": "One."}], resume=True)
    world.play(mode="bypassPermissions")
    records = world.play(mode="default", engine_ref=ref(world))
    kept = [one["state"] for one in records if one["type"] == "engine"][-1]

    assert "agent_decides" in codes(records)
    assert kept["told"] is True


@pytest.mark.slow
def test_an_agent_that_does_not_start_in_time_is_given_up_with_the_setting_to_raise(world):
    end = world.play({"say": "x"}, can={"mute": True}, agent={"startSeconds": 1})[-1]

    assert (end["status"], end["reason"]) == ("error", "engine_crashed")
    assert end["text"] == (
        "The agent stub did not answer initialize within 1 s "
        "(engines.acp.agents.stub.startSeconds)."
    )


@pytest.mark.slow
def test_an_agent_is_told_what_its_makers_let_a_client_say(world):
    world.play({"say": "x"}, agent={"meta": {"maker": {"settings": []}}})

    assert world.log("new_session")[0]["meta"] == {"maker": {"settings": []}}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"startSeconds": 0}, ".startSeconds must be a whole number from 1 to 3600, e.g. 120"),
        ({"startSeconds": True}, ".startSeconds must be a whole number from 1 to 3600, e.g. 120"),
        ({"meta": "x"}, ".meta must be a mapping"),
        ({"modes": "x"}, ".modes is not known; use command, env, reads, urls, mode, login, "
                         "startSeconds, meta or ownInstructions"),
    ],
)  # fmt: skip
def test_a_setting_that_is_none_is_named(given, problem):
    _, problems = agents.read({"agents": {"x": {"command": ["/bin/true"], **given}}})

    assert problems == {"x": f"engines.acp.agents.x{problem}"}


@pytest.mark.slow
def test_a_model_is_given_to_the_agent_and_never_replaced_by_another(world):
    can = {"models": ["small", "large"]}
    done = world.play({"say": "x"}, can=can, model="stub:large")[-1]
    refused = world.play({"say": "x"}, can=can, model="stub:huge")[-1]
    none = world.play({"say": "x"}, model="stub:large")[-1]

    assert [entry["value"] for entry in world.log("set_config_option")] == ["large"]
    assert done["status"] == "ok"
    assert refused["text"] == 'The agent stub has no model "huge"; it has small, large.'
    assert none["text"] == 'The agent stub has no model "large"; it has no choice of models.'


@pytest.mark.slow
def test_the_service_is_called_with_the_bearer_of_the_turn(world):
    with manage({"list_chats": "two chats"}) as (svc, calls):
        records = world.play(
            {"manage": ["list_chats", {"limit": 2}]},
            can={"http": True}, svc=svc, secrets=(TOKEN,),
        )  # fmt: skip

    assert ("list_chats", {"limit": 2}) in calls
    assert "two chats" in only(records, "assistant")["text"]
    assert world.log("new_session")[0]["servers"] == ["svc_manage"]


@pytest.mark.slow
def test_an_agent_that_takes_no_http_server_has_none_and_the_chat_says_so(world):
    with manage({"list_chats": "x"}) as (svc, _):
        records = world.play({"say": "x"}, svc=svc)

    assert codes(records) == ["root_unsandboxed", "svc_manage_unavailable"]
    assert world.log("new_session")[0]["servers"] == []
