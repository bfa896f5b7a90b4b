"""The tool list is a wall for a model too: what is offered, what is denied, who is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import cycle, product
from typing import Any

import pytest

from tests.promises.rings import WHOLE
from tests.promises.test_t7_tools_are_limited import (
    ACTS,
    CLASSES,
    LISTS,
    MODES,
    NOTEBOOK,
    REVIEW,
    SVC,
    allowed_to_model,
    effects,
)
from tests.promises.tool_list import PARTS
from tests.stubs import openai
from tests.stubs.openai import Reply, text, use
from tests.workspace.chats.turns.world import BASE, Running, only, until
from tests.workspace.engines.builtin.talk import end, notices, of, result
from tests.workspace.engines.manage import manage
from workspace.engines import catalogue

TEAMS = [["Read", "Bash", "Task"], ["Write", "WebFetch", f"{SVC}create_chat"], ["TodoWrite"]]
EVERY = list(product([*LISTS, *TEAMS], MODES))
# Each list in one mode, each mode with one list; the whole ring takes every cell.
FEW = [*zip([None, [], *TEAMS], cycle(MODES), strict=False)]
OURS = sorted(catalogue.TOOLS)
TASK = use("Task", {"description": "Look", "prompt": "taskling"})


def in_task(asked: openai.Asked) -> bool:
    return asked.says("taskling")


@pytest.mark.slow
def test_an_empty_list_offers_nothing_and_a_forced_call_is_denied_and_recorded(talk, stub, world):
    stub.say(use("Bash", {"command": "touch ran"}), use("Write", {"file_path": "a", "content": ""}))
    stub.say(text("I cannot."))

    records = talk.run(tools=[])

    assert "tools" not in stub.asked[0].body
    asked = [(r["tool"], r["state"], r["by"], r["reason"]) for r in of(records, "permission")]
    assert asked == [
        (tool, "denied", "policy", f"No such tool available: {tool}") for tool in ("Bash", "Write")
    ]
    assert [record["is_error"] for record in of(records, "tool_result")] == [True, True]
    assert "No such tool available: Bash" in next(iter(stub.asked[1].results.values()))[1]
    assert [path.name for path in world.project.iterdir()] == [".chats"]
    assert end(records) == ("ok", None)


@pytest.mark.slow
def test_a_list_offers_exactly_its_tools(talk, stub):
    stub.say(use("Glob", {"pattern": "*"}), use("Bash", {"command": "touch ran"}))
    stub.say(text("ok"))
    records = talk.run(tools=["Glob", "Read", "Monitor"])
    assert stub.asked[0].tools == ["Glob", "Read"]
    assert [record["is_error"] for record in of(records, "tool_result")] == [False, True]
    assert notices(records).count("tool_unavailable") == 1


@pytest.mark.slow
def test_every_tool_is_offered_by_no_list_and_tasks_where_a_turn_may_spawn(talk, stub):
    stub.say(text("ok"))
    stub.say(text("ok"))
    talk.run()
    talk.run(may_spawn=False)
    assert stub.asked[0].tools == OURS
    assert stub.asked[1].tools == [tool for tool in OURS if tool != "Task"]


@pytest.mark.slow
def test_schemas_name_what_a_tool_takes(talk, stub):
    stub.say(text("ok"))
    talk.run()
    schemas = stub.asked[0].schemas
    assert schemas["Bash"]["required"] == ["command"]
    assert "run_in_background" not in schemas["Bash"]["properties"]
    assert schemas["Bash"]["properties"]["timeout"]["maximum"] == 600_000
    modes = schemas["Grep"]["properties"]["output_mode"]["enum"]
    assert modes == ["files_with_matches", "content", "count"]
    assert schemas["TodoWrite"]["properties"]["todos"]["items"]["required"] == ["content"]


@pytest.mark.slow
def test_a_model_that_insists_on_an_unlisted_tool_is_denied_every_time(talk, stub):
    """The library alone would end the turn at the third."""
    for _ in range(5):
        stub.say(use("Bash", {"command": "true"}))
    stub.say(text("I give up."))
    records = talk.run(tools=["Read"])
    assert len(of(records, "permission")) == 5
    assert end(records) == ("ok", None)


@pytest.mark.slow
def test_plan_mode_offers_what_changes_nothing_and_denies_the_rest(talk, stub, world):
    stub.say(use("Write", {"file_path": "a", "content": ""}), use("Glob", {"pattern": "*"}))
    stub.say(text("ok"))
    records = talk.run(mode="plan", attended=True)
    assert stub.asked[0].tools == ["Glob", "Grep", "Read", "TodoWrite", "WebFetch", "WebSearch"]
    first, second = of(records, "tool_result")
    assert first["text"] == "Write is not permitted in plan mode"
    assert not second["is_error"]
    assert not (world.project / "a").exists()


@pytest.mark.slow
def test_a_question_is_put_to_the_user_and_the_answer_counts(talk, stub, world):
    stub.say(use("Bash", {"command": "touch yes"}))
    stub.say(use("Bash", {"command": "touch no"}))
    stub.say(text("ok"))
    running = talk.start(mode="default", attended=True)
    for number, allow in ((1, True), (2, False)):
        asked = running.until(lambda found, n=number: len(questions(found)) == n)
        running.send({"type": "answer", "call": questions(asked)[-1]["call"], "allow": allow})
    assert running.end()[0] == 0

    assert (world.project / "yes").exists()
    assert not (world.project / "no").exists()
    assert of(world.records(), "tool_result")[1]["text"] == "Bash was denied by the user"
    calls = [record["call"] for record in of(world.records(), "tool_use")]
    assert [record["call"] for record in questions(world.records())] == calls


def questions(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in of(records, "permission") if record["state"] == "asked"]


@pytest.mark.slow
def test_a_gate_that_raises_denies(talk, stub, world):
    stub.say(use("Bash", {"command": "touch ran"}))
    stub.say(text("ok"))
    broken = world.root / "broken.py"
    broken.write_text(
        "import sys\n"
        "from workspace.chats.turns import process\n"
        "from workspace.engines import policy\n"
        "def decide(self, tool, args): raise KeyError('gate')\n"
        "policy.Gate.decide = decide\n"
        "sys.exit(process.main(sys.argv))\n"
    )
    job = world.job("Go on", **talk.fields())
    child = subprocess.Popen(
        [sys.executable, str(broken), job.chat, job.turn],
        env=world.environ(job) | {"PYTHONPATH": str(BASE)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    running = Running(world, job, child)
    running.send(job.to_json())
    assert running.end()[0] == 0
    assert result(world.records()) == (True, "Bash was denied: the permission check failed")
    assert not (world.project / "ran").exists()


def test_a_task_is_a_second_agent_behind_the_same_gate_and_budget(talk, stub, world):
    (world.project / "a.txt").write_text("one\n")
    stub.when(
        in_task,
        Reply([
            text("Looking."), use("Read", {"file_path": "a.txt"}), use("Bash", {"command": "id"}),
            use("Read", {"file_path": "/etc/passwd"}), TASK,
        ]),
        Reply([text("It says one.")]),
    )  # fmt: skip
    stub.say(TASK)
    stub.say(text("So it is."))

    records = talk.run(tools=["Task", "Read"], mode="default")

    outer, *inner = of(records, "tool_use")
    assert (outer["tool"], "task" in outer) == ("Task", False)
    assert {record["task"] for record in inner} == {outer["call"]}
    answers = {record["call"]: record["text"] for record in of(records, "tool_result")}
    assert [answers[record["call"]] for record in inner] == [
        "1\tone",
        "No such tool available: Bash",
        "path is outside the project: /etc/passwd",
        "No such tool available: Task",
    ]
    assert answers[outer["call"]] == "It says one."
    assert [(r["text"], "task" in r) for r in of(records, "assistant")] == [
        ("Looking.", True), ("It says one.", True), ("So it is.", False),
    ]  # fmt: skip
    assert [asked.tools for asked in stub.asked] == [
        ["Read", "Task"], ["Read"], ["Read"], ["Read", "Task"],
    ]  # fmt: skip
    assert (records[-1]["turns"], records[-1]["usage"]["inputTokens"]) == (4, 40)


@pytest.mark.slow
def test_a_task_spends_the_turns_own_budget(talk, stub):
    stub.when(in_task, *(Reply([use("Glob", {"pattern": "*"})]) for _ in range(2)))
    stub.say(TASK)
    records = talk.run(max_turns=3)
    assert (end(records), records[-1]["turns"]) == (("max_turns", "max_turns"), 3)
    outer = of(records, "tool_use")[0]
    closed = [record for record in of(records, "tool_result") if record["call"] == outer["call"]]
    assert [record["is_error"] for record in closed] == [True]


@pytest.mark.slow
def test_a_stop_inside_a_task_does_not_show_its_text_as_an_answer(talk, stub, world):
    stub.when(in_task, Reply([text("inner words, and more")], hold=2, piece=4))
    stub.say(TASK)
    running = talk.start()
    until(lambda: any(map(in_task, stub.asked)), bool)
    running.stop()
    assert running.end()[0] == 0
    assert of(world.records(), "assistant") == []
    assert [record["text"] for record in of(world.records(), "tool_result")] == ["stopped"]


@pytest.mark.slow
def test_operations_of_the_service_are_offered_and_called(talk, stub):
    stub.say(use(f"{SVC}read_chat", {"session_id": "x"}), use(f"{SVC}create_chat", {"prompt": "p"}))
    stub.say(text("ok"))
    with manage({"read_chat": "twelve", "create_chat": "Error: no", "run_trigger": ""}) as (
        svc,
        calls,
    ):
        records = talk.run(svc=svc, tools=[f"{SVC}read_chat", f"{SVC}create_chat"])

    assert stub.asked[0].tools == [f"{SVC}create_chat", f"{SVC}read_chat"]
    assert stub.asked[0].schemas[f"{SVC}read_chat"]["properties"] == {"given": {"type": "string"}}
    assert calls == [("read_chat", {"session_id": "x"}), ("create_chat", {"prompt": "p"})]
    told = [(record["is_error"], record["text"]) for record in of(records, "tool_result")]
    assert told == [(False, "twelve"), (True, "Error: no")]


@pytest.mark.slow
def test_a_service_that_cannot_be_reached_is_told_and_the_turn_goes_on(talk, stub):
    svc = {"url": "http://127.0.0.1:1/_svc/mcp", "token": "svct_x", "ops": {"list_chats": {}}}
    stub.say(text("ok"))
    records = talk.run(svc=svc)
    assert "svc_manage_unavailable" in notices(records)
    assert stub.asked[0].tools == OURS
    assert end(records) == ("ok", None)


def calls_of_all(url: str) -> list[dict[str, Any]]:
    """One call of every tool, in one reply."""
    calls: dict[str, dict[str, Any]] = {
        "Read": {"file_path": "known.txt"},
        "Glob": {"pattern": "known*"},
        "Grep": {"pattern": "secret"},
        "Edit": {"file_path": "edited.txt", "old_string": "old", "new_string": "new"},
        "Write": {"file_path": "written.txt", "content": "x"},
        "NotebookEdit": {"notebook_path": "n.ipynb", "edit_mode": "insert", "new_source": "x"},
        "Bash": {"command": "touch commanded"},
        "WebFetch": {"url": f"{url}/page"},
        "WebSearch": {"query": "x"},
        "Task": {"description": "d", "prompt": "taskling"},
        "TodoWrite": {"todos": []},
        f"{SVC}read_chat": {"session_id": "x"},
        f"{SVC}create_chat": {"prompt": "x"},
        f"{REVIEW}list_threads": {},
        f"{REVIEW}reply": {"thread": "t", "body": "x"},
        f"{ACTS}app_logs": {"app": "x"},
        f"{ACTS}restart_app": {"app": "x"},
    }
    return [use(tool, args) for tool, args in calls.items()]


@pytest.mark.promise("T7")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("tools", "mode"), EVERY if WHOLE else FEW, ids=str)
def test_only_what_list_and_mode_allow_has_an_effect(talk, stub, world, tools, mode):
    (world.project / "known.txt").write_text("secret\n")
    (world.project / "edited.txt").write_text("old")
    (world.project / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    stub.when(in_task, Reply([text("done")]))
    ops = ("read_chat", "create_chat", "list_threads", "reply", "app_logs", "restart_app")
    with manage(dict.fromkeys(ops, "{}")) as (svc, calls):
        svc |= {"parts": PARTS, "ops": {"read_chat": {}, "create_chat": {}}}
        url = svc["url"].removesuffix("/_svc/mcp")
        stub.say(*calls_of_all(url))
        stub.say(text("ok"))
        fields = talk.fields(tools=tools, mode=mode, svc=svc, sender={"kind": "trigger"})
        web = {"allowPrivate": True, "searchUrl": f"{url}/search"}
        fields["engine_cfg"] |= {"tools": {"web": web}}
        records = world.run("Go on", **fields)

    expected = {tool for tool in CLASSES if allowed_to_model(tool, mode, tools)}
    uses = {record["call"]: record["tool"] for record in of(records, "tool_use")}
    results = {uses[record["call"]]: record["text"] for record in of(records, "tool_result")}
    traced = effects(world, calls, results) | ({"Task"} if any(map(in_task, stub.asked)) else set())
    assert set(results) == set(CLASSES)
    assert traced == expected
    assert {record["tool"] for record in of(records, "permission")} == set(CLASSES) - expected
    assert expected <= set(stub.asked[0].tools)
    assert set(stub.asked[0].tools) <= set(CLASSES if tools is None else tools)
    assert only(records, "turn_end")["status"] == "ok"
