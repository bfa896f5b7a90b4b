"""What an ACP agent says and does becomes the turn's records."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.workspace.chats.turns.world import kinds, only, pss_mb, until
from workspace.engines import procs
from workspace.engines.acp import failures
from workspace.engines.acp.calls import Call


@pytest.mark.slow
def test_text_thought_and_plan_are_kept_in_order(world):
    records = world.play(
        {"say": "Let me "}, {"say": "see."}, {"think": "Hm."},
        {"plan": [["look", "completed"], ["tell", "pending"]]}, {"say": "Done."},
    )  # fmt: skip

    assert [record["text"] for record in records if record["type"] == "assistant"] == [
        "Let me see.",
        "Done.",
    ]
    assert only(records, "thinking")["text"] == "Hm."
    assert only(records, "tool_use")["input"]["todos"] == [
        {"content": "look", "status": "completed"},
        {"content": "tell", "status": "pending"},
    ]
    assert records[-1]["status"] == "ok"


@pytest.mark.slow
def test_a_tool_call_is_one_use_and_one_result(world):
    target = world.project / "a.txt"
    records = world.play(
        {"tool": {"kind": "edit", "title": "Edit a.txt", "path": str(target)},
         "then": {"write": [str(target), "new"]}},
    )  # fmt: skip

    use, result = only(records, "tool_use"), only(records, "tool_result")
    assert (use["tool"], use["target"]) == ("Edit", str(target))
    assert (result["call"], result["is_error"]) == (use["call"], False)
    assert result["text"] == f"wrote {target}"


@pytest.mark.slow
def test_a_kind_stands_for_a_tool_and_an_unknown_one_for_commands(world):
    kinds_of_calls = [
        "read",
        "search",
        "edit",
        "execute",
        "fetch",
        "delete",
        "switch_mode",
        "other",
    ]
    records = world.play(*({"tool": {"kind": kind, "title": "Do"}} for kind in kinds_of_calls))

    assert [record["tool"] for record in records if record["type"] == "tool_use"] == [
        "Read", "Grep", "Edit", "Bash", "WebFetch", "Bash", "Bash", "Bash",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_call_is_shown_by_its_own_name_and_title(world):
    calls = [
        {"kind": "edit", "title": "Write a.txt", "own": "Write", "path": "a.txt"},
        {"kind": "edit", "title": "Writing", "path": "b.txt", "diff": ["b.txt", None, "new"]},
        {"kind": "edit", "title": "Edit", "path": "b.txt", "diff": ["b.txt", "old", "new"]},
        {"kind": "think", "title": "Look around", "own": "Agent"},
        {"kind": "other", "title": "mcp__files__find"},
        {"kind": "execute", "title": "List it", "own": "Bash", "input": {"command": "ls"}},
    ]
    records = world.play(*({"tool": call} for call in calls))

    uses = [record for record in records if record["type"] == "tool_use"]
    assert [use["tool"] for use in uses] == [
        "Write", "Write", "Edit", "Task", "mcp__files__find", "Bash",
    ]  # fmt: skip
    assert uses[1]["input"]["content"] == "new"
    assert (uses[2]["input"]["old_string"], uses[2]["input"]["new_string"]) == ("old", "new")
    assert (uses[5]["input"]["command"], uses[5]["input"]["title"]) == ("ls", "List it")


@pytest.mark.slow
def test_no_name_an_agent_gives_a_call_makes_the_gate_milder(world):
    """A command called Read, or a subagent, which the gate would let pass, is asked for as Bash."""
    calls = [
        {"kind": "execute", "title": "Read", "own": "Read"},
        {"kind": "think", "title": "Task", "own": "Task"},
    ]
    steps = [{"tool": call, "ask": True} for call in calls]
    records = world.play(*steps, mode="default", ask_seconds=0)

    asked = [one for one in records if one["type"] == "permission" and one["state"] == "asked"]
    assert [one["tool"] for one in asked] == ["Bash", "Bash"]


def test_a_call_lasts_as_long_as_it_took(world):
    """Measured from when it is known, though the agent tells of it only when it has ended."""
    begun = Call("call_1")
    begun.began -= 2
    begun.merge(SimpleNamespace(title="x", kind="execute", status="completed"))
    begun.use()

    assert begun.result().ms >= 2000


@pytest.mark.slow
def test_usage_and_cost_are_those_of_the_turn_as_reported(world):
    steps = [{"usage": [10, 5]}, {"cost": 0.5}], [{"usage": [3, 1]}, {"cost": 0.75}], [{"say": "x"}]
    world.script(*steps, resume=True)

    first = world.play()[-1]
    ref = {"agent": "stub", "session": world.session(), "cost": 0.5}
    second = world.play(engine_ref=ref)[-1]
    third = world.play(engine_ref=ref)[-1]

    assert (first["usage"]["inputTokens"], first["usage"]["totalTokens"]) == (10, 15)
    assert (first["cost"], second["cost"]) == (0.5, 0.25)
    assert (third["usage"], third["cost"], third["turns"]) == (None, None, None)
    assert first["context"] == {"used": 1, "limit": 2, "engine": "acp"}
    assert "context" not in third


@pytest.mark.slow
def test_the_model_that_answered_is_the_one_the_agent_says(world):
    can = {"models": ["small", "large"]}
    chosen = world.play({"say": "x"}, can=can, model="stub:large")[-1]
    own = world.play({"say": "x"}, can=can)[-1]
    silent = world.play({"say": "x"})[-1]

    assert (chosen["model"], own["model"]) == ("stub:large", "stub:small")
    assert "model" not in silent


@pytest.mark.parametrize(
    ("reason", "status", "word"),
    [("end_turn", "ok", None), ("max_turn_requests", "max_turns", "max_turns"),
     ("cancelled", "stopped", "user"), ("max_tokens", "error", "api_error"),
     ("refusal", "error", "api_error")],
)  # fmt: skip
def test_a_stop_reason_is_never_taken_for_another(reason, status, word):
    end = failures.end_from_answer(SimpleNamespace(stop_reason=reason, usage=None), None)

    assert (end.status, end.reason) == (status, word)


@pytest.mark.slow
def test_an_answer_that_was_cut_short_is_not_shown_as_completed(world):
    end = world.play({"say": "Half"}, {"stop": "max_tokens"})[-1]

    assert (end["status"], end["reason"]) == ("error", "api_error")


@pytest.mark.parametrize(
    ("code", "message", "word"),
    [(-32000, "Authentication required", "auth_failed"), (401, "no", "auth_failed"),
     (429, "slow down", "rate_limited"), (-32603, "HTTP 529 overloaded", "rate_limited"),
     (-32603, "Invalid API key", "auth_failed"), (-32603, "boom", "api_error")],
)  # fmt: skip
def test_an_error_is_told_by_its_kind(code, message, word):
    acp = pytest.importorskip("acp", reason="agent-client-protocol is not installed")
    end = failures.end_from_error("stub", acp.RequestError(code, message))

    assert (end.status, end.reason) == ("error", word)
    assert message in (end.text or "")


@pytest.mark.slow
def test_an_error_of_the_agent_fails_the_turn(world):
    records = world.play({"say": "So "}, {"fail": [429, "slow down"]})

    assert (records[-1]["status"], records[-1]["reason"]) == ("error", "rate_limited")
    assert only(records, "assistant")["text"] == "So "


def test_a_crash_shows_the_end_of_what_the_agent_said_and_no_secret(world):
    words = "\n".join([*(f"line {n}" for n in range(200)), "fatal: key hunter2-hunter2 refused"])
    records = world.play(
        {"say": "Half of "}, {"crash": words}, secrets=("hunter2-hunter2",),
    )  # fmt: skip

    end = records[-1]
    assert (end["status"], end["reason"]) == ("error", "engine_crashed")
    assert "ended with exit status 3" in end["text"]
    assert end["text"].endswith("fatal: key *** refused")
    assert "line 3\n" not in end["text"]
    assert only(records, "assistant")["text"] == "Half of "


def test_a_command_that_is_no_agent_is_a_crash_and_not_a_wait(world):
    end = world.play({"say": "x"}, agent={"command": ["/bin/echo", "hello"]})[-1]

    assert (end["status"], end["reason"]) == ("error", "engine_crashed")


@pytest.mark.slow
def test_what_is_not_json_on_stdout_is_passed_over(world):
    records = world.play({"raw": "Welcome to agent 1.0!"}, {"say": "Hi."})

    assert only(records, "assistant")["text"] == "Hi."
    assert records[-1]["status"] == "ok"


@pytest.mark.slow
def test_an_answer_that_is_no_object_ends_the_turn_as_a_crash(world):
    end = world.play({"raw": "42"}, {"hang": True})[-1]

    assert (end["status"], end["reason"]) == ("error", "engine_crashed")


@pytest.mark.slow
def test_a_line_of_ten_megabytes_arrives_whole(world):
    records = world.play({"say": "x" * 10_000_000})

    assert only(records, "assistant")["bytes"] == 10_000_000
    assert records[-1]["status"] == "ok"


@pytest.mark.slow
def test_another_version_of_the_protocol_is_not_spoken(world):
    end = world.play({"say": "x"}, can={"version": 2})[-1]

    assert (end["status"], end["reason"]) == ("error", "engine_crashed")
    assert "speaks version 2 of the protocol, this service speaks version 1" in end["text"]


@pytest.mark.slow
def test_an_agent_that_wants_a_login_fails_the_turn_and_one_is_made_when_named(world):
    refused = world.play({"say": "in"}, can={"auth": ["key"]})[-1]
    done = world.play({"say": "in"}, can={"auth": ["key"]}, agent={"login": "key"})[-1]

    assert (refused["status"], refused["reason"]) == ("error", "auth_failed")
    assert "engines.acp.agents.stub.env or login" in refused["text"]
    assert done["status"] == "ok"


@pytest.mark.slow
def test_the_agent_sees_the_named_variables_and_no_other(world, monkeypatch):
    monkeypatch.setenv("SVC_TOKEN_OF_ALL", "secret")
    records = world.play(
        {"env": "STUB_KEY"}, {"env": "OTHER_KEY"}, {"env": "SVC_TOKEN_OF_ALL"}, {"env": "HOME"},
        agent={"env": ["STUB_KEY"]}, keys={"STUB_KEY": "k-123", "OTHER_KEY": "k-456"},
    )  # fmt: skip

    told = only(records, "assistant")["text"]
    assert told == f"STUB_KEY=k-123OTHER_KEY=NoneSVC_TOKEN_OF_ALL=NoneHOME={world.home}"


@pytest.mark.slow
def test_the_agent_has_no_files_and_no_terminal_of_ours(world):
    world.play({"say": "x"})

    client = world.log("initialize")[0]["client"]
    assert client["fs"] == {"read_text_file": False, "write_text_file": False}
    assert client["terminal"] is False


# -- stop ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_stop_is_told_to_the_agent_and_keeps_what_it_said(world):
    turn = world.begin({"say": "So far"}, {"hang": True}, can={"resume": True})
    until(world.live, lambda text: text == "So far")

    turn.stop()
    code, log = turn.end()

    records = world.records()
    assert (code, log) == (0, "")
    assert [record["type"] for record in records[-2:]] == ["assistant", "turn_end"]
    assert only(records, "assistant")["text"] == "So far"
    assert (records[-1]["status"], records[-1]["reason"]) == ("stopped", "user")
    assert len(world.log("cancel")) == 1


@pytest.mark.slow
def test_an_agent_that_does_not_listen_is_killed_with_what_it_started(world):
    pids = world.project / "pids"
    start = f"setsid sh -c 'trap \"\" TERM; echo $$ > {pids}; exec sleep 1000' >/dev/null 2>&1 &"
    turn = world.begin({"run": start}, {"say": "Now deaf"}, {"deaf": True})
    until(lambda: pids.exists() and pids.read_text().strip(), bool)
    until(world.live, lambda text: text.endswith("Now deaf"))

    turn.stop()
    turn.end()

    assert world.records()[-1]["status"] == "stopped"
    assert only(world.records(), "assistant")["partial"] is True
    assert not procs.pids_by_turn(str(world.root / "data" / "run" / "turns"))


@pytest.mark.slow
def test_an_open_call_of_a_stopped_turn_has_its_result(world):
    turn = world.begin(
        {"tool": {"kind": "execute", "title": "sleep 1000"}, "then": {"run": "sleep 1000"}}
    )
    turn.until(lambda records: "tool_use" in kinds(records))

    turn.stop()
    turn.end()

    records = world.records()
    assert only(records, "tool_result")["is_error"] is True
    assert records[-1]["status"] == "stopped"


@pytest.mark.slow
def test_memory_of_the_turn_process_stays_below_sixty_megabytes(world):
    turn = world.begin({"say": "x"}, {"hang": True})
    until(world.live, bool)
    held = pss_mb(turn.child.pid)

    turn.stop()
    turn.end()

    assert held < 60
