"""What an ACP agent asks permission for goes through the gate; what it cannot hold is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.promises.rings import few
from tests.workspace.chats.turns.world import kinds, only
from tests.workspace.engines.acp.conftest import BWRAP
from workspace.engines.network import Network

EDIT = {"kind": "edit", "title": "Edit a.txt"}


def edit(path: Path, **more: Any) -> dict[str, Any]:
    return {
        "tool": EDIT | {"path": str(path)}, "ask": True, "then": {"write": [str(path), "x"]},
    } | more  # fmt: skip


def test_plan_mode_without_a_sandbox_is_refused(world):
    end = world.play({"say": "x"}, mode="plan")[-1]

    assert (end["status"], end["reason"]) == ("error", "refused")
    assert end["text"] == 'the engine "acp" cannot hold plan mode without a sandbox'
    assert world.log("initialize") == []


def test_no_network_is_refused_without_a_sandbox(world):
    end = world.play({"say": "x"}, network=Network("off"))[-1]

    assert end["text"] == "network off needs a sandbox (bubblewrap), and there is none here"


@pytest.mark.slow
def test_bypass_allows_this_once_what_is_asked(world):
    target = world.project / "a.txt"
    records = world.play(edit(target), mode="bypassPermissions")

    assert target.read_text() == "x"
    assert [entry["option"] for entry in world.log("permission")] == ["allow_once"]
    assert only(records, "tool_result")["is_error"] is False


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan"])
def test_below_bypass_no_agent_is_started_that_nobody_attends(world, mode):
    """It never asks, so nothing but the refusal keeps it from writing."""
    target = world.project / "a.txt"
    step = {"write": [str(target), "x"]}
    end = world.play(step, mode=mode, attended=False, sandbox=BWRAP)[-1]

    text = (
        "an ACP agent may act without asking and no one attends this turn: "
        "it needs bypassPermissions, or another engine"
    )
    assert (end["status"], end["reason"], end["text"]) == ("error", "refused", text)
    assert world.log("initialize") == []
    assert not target.exists()


@pytest.mark.slow
def test_what_is_not_permitted_is_denied_and_recorded(world):
    target = world.project / "a.txt"
    steps = (edit(target), {"say": "Then not."})
    records = world.play(*steps, mode="default", ask_seconds=0)

    text = "nobody answered within 0 s"
    permissions = [one for one in records if one["type"] == "permission"]
    asked, result = permissions[-1], only(records, "tool_result")
    assert (asked["state"], asked["by"], asked["reason"]) == ("denied", "timeout", text)
    assert asked["call"] == result["call"] == only(records, "tool_use")["call"]
    assert (result["is_error"], result["text"]) == (True, text)
    assert [entry["option"] for entry in world.log("permission")] == ["reject_once"]
    assert not target.exists()
    assert records[-1]["status"] == "ok"


@pytest.mark.parametrize("allow", few([False, True], 1))
def test_a_person_is_asked_and_the_answer_holds(world, allow):
    target = world.project / "a.txt"
    turn = world.begin(edit(target), mode="default", attended=True)
    records = turn.until(lambda found: "permission" in kinds(found))
    asked = only(records, "permission")
    assert (asked["state"], asked["input"]["file_path"]) == ("asked", str(target))

    turn.send({"type": "answer", "call": asked["call"], "allow": allow})
    turn.end()

    records = world.records()
    assert target.exists() is allow
    assert only(records, "tool_result")["is_error"] is not allow
    assert [one["state"] for one in records if one["type"] == "permission"][1:] == [
        "allowed" if allow else "denied"
    ]


@pytest.mark.slow
def test_a_question_nobody_answers_is_denied_in_time(world):
    target = world.project / "a.txt"
    records = world.play(edit(target), mode="default", attended=True, ask_seconds=1)

    assert only(records, "tool_result")["text"] == "nobody answered within 1 s"
    assert not target.exists()
    assert records[-1]["status"] == "ok"


@pytest.mark.slow
def test_accept_edits_lets_files_be_edited_and_nothing_be_run(world):
    target = world.project / "a.txt"
    run = {"tool": {"kind": "execute", "title": "touch b"}, "ask": True, "then": {"run": "touch b"}}
    removal = edit(target, tool={"kind": "delete", "title": "rm a.txt", "path": str(target)})
    records = world.play(edit(target), run, removal, mode="acceptEdits", ask_seconds=0)

    results = [record for record in records if record["type"] == "tool_result"]
    assert [result["is_error"] for result in results] == [False, True, True]


@pytest.mark.parametrize(
    ("tool", "text"),
    few([
        ({"kind": "edit", "title": "Edit", "path": "/etc/motd"}, "path is outside the project"),
        ({"kind": "delete", "title": "rm", "path": "/etc/motd"}, "path is outside the project"),
        ({"kind": "read", "title": "Read", "path": "../../secret"}, "path is outside the project"),
        ({"kind": "search", "title": "Grep", "path": "/etc"}, "path is outside the project"),
        ({"kind": "edit", "title": "E", "path": ".git/hooks/pre-commit"}, "protected path"),
        ({"kind": "edit", "title": "E", "input": {"path": "project.yaml"}}, "protected path"),
        ({"kind": "edit", "title": "E", "path": ".chats/x.jsonl"}, "protected path"),
    ], 1),
)  # fmt: skip
def test_paths_are_judged_whatever_the_mode_approves(world, tool, text):
    records = world.play({"tool": tool, "ask": True}, mode="acceptEdits")

    assert only(records, "tool_result")["text"].startswith(text)


@pytest.mark.slow
def test_transcripts_are_protected_in_bypass_too(world):
    steps = [
        {"tool": {"kind": kind, "title": kind, "path": ".chats/x.jsonl"}, "ask": True}
        for kind in ("edit", "delete", "move")
    ]
    records = world.play(*steps, mode="bypassPermissions")

    results = [record for record in records if record["type"] == "tool_result"]
    assert [result["text"] for result in results] == ["protected path: .chats/x.jsonl"] * 3


@pytest.mark.slow
def test_an_agent_that_goes_on_all_the_same_is_told_of(world):
    target = world.project / "a.txt"
    records = world.play(edit(target, stubborn=True), mode="default", ask_seconds=0)

    assert only(records, "tool_result")["is_error"] is True
    notice = next(one for one in records if one.get("code") == "agent_ignored_denial")
    assert notice["level"] == "warn"


@pytest.mark.slow
def test_an_agent_that_never_asks_is_not_held_and_the_flags_say_so(world):
    target = world.project / "a.txt"
    records = world.play({"write": [str(target), "x"]}, mode="default")

    assert target.exists()  # the protocol holds nothing: hence the refusals and allowListEnforced
    notice = next(one for one in records if one.get("code") == "agent_decides")
    assert notice["text"] == (
        "The agent stub decides by itself what it asks about: it may edit files and run commands "
        "in this project without a question."
    )


@pytest.mark.slow
def test_a_permission_check_that_fails_denies(world):
    """A path that no system call takes makes the gate raise."""
    target = world.project / "a.txt"
    records = world.play(
        {"tool": EDIT | {"path": "a\0b"}, "ask": True, "then": {"write": [str(target), "x"]}},
        mode="bypassPermissions",
    )

    assert only(records, "tool_result")["text"] == "Edit was denied: the permission check failed"
    assert only(records, "permission")["state"] == "denied"
    assert not target.exists()
