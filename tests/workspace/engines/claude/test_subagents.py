"""Subagents of Claude Code: the same wall, records of their own, one end of the turn."""

from __future__ import annotations

import pytest

from tests.promises.rings import few
from tests.stubs.anthropic import Reply, text, use
from tests.workspace.chats.turns.world import only
from tests.workspace.engines.claude.conftest import Desk, ended, of

SECRET = "MARK that is nobody's business"


def delegate(desk: Desk, *calls: dict[str, object], **how: object) -> None:
    """The model gives a task away; the subagent makes these calls and reports."""
    desk.stub.when(
        lambda asked: asked.says("SUB"), Reply([text("I look."), *calls]), Reply([text("Found.")])
    )
    task = {"description": "look", "prompt": "SUB", **how}
    desk.stub.say(text("I delegate."), use("Agent", task, call="toolu_task"))
    desk.stub.say(text("Done."))


@pytest.mark.parametrize("mode", few(["bypassPermissions", "default"], 1))
def test_an_unlisted_tool_and_a_path_outside_are_denied_in_a_subagent_too(desk: Desk, mode):
    """Edge case 15."""
    (desk.world.root / "outside").write_text(SECRET)
    outside = {"file_path": str(desk.world.root / "outside")}
    delegate(
        desk,
        use("Read", outside),
        use("Bash", {"command": "touch ran"}),
        use("Read", {"file_path": "/etc/hostname"}),
        run_in_background=False,
    )

    records = desk.run(tools=["Read", "Task"], mode=mode, may_spawn=True)

    assert ended(records) == ("ok", None)
    inside = [record for record in records if record.get("task") == "toolu_task"]
    assert [r["tool"] for r in inside if r["type"] == "tool_use"] == ["Read", "Bash", "Read"]
    assert [r["text"] for r in inside if r["type"] == "assistant"] == ["I look.", "Found."]
    denied = {record["tool"]: record["reason"] for record in of(records, "permission")}
    assert denied["Bash"] == "No such tool available: Bash"
    assert not (desk.project / "ran").exists()
    if mode == "default":
        assert denied["Read"].startswith("path is outside the project")
        assert SECRET not in str([asked.body for asked in desk.stub.asked])


@pytest.mark.slow
def test_a_subagent_in_the_background_ends_within_the_turn_and_is_counted(desk: Desk):
    """Edge case 19: two results inside, one end."""
    delegate(desk, use("Read", {"file_path": "x"}), run_in_background=True)
    desk.stub.say(text("All is done."))

    records = desk.run(tools=["Read", "Task"], may_spawn=True)

    assert ended(records) == ("ok", None)
    assert len(of(records, "turn_end")) == 1
    own = [r["text"] for r in of(records, "assistant") if "task" not in r]
    assert own == ["I delegate.", "Done.", "All is done."]
    assert records[-1]["turns"] == 3
    assert records[-1]["usage"]["totalTokens"] == 15 * len(desk.stub.asked)


@pytest.mark.slow
def test_a_subagent_gets_no_worktree(desk: Desk):
    delegate(desk, isolation="worktree")

    records = desk.run(tools=["Task"], may_spawn=True)

    result = only(records, "tool_result")
    assert (result["is_error"], result["text"]) == (
        True,
        "isolation is not available; leave it out",
    )


@pytest.mark.slow
def test_a_turn_that_may_not_spawn_is_offered_no_task(desk: Desk):
    desk.stub.say(use("Agent", {"description": "d", "prompt": "SUB"}))
    desk.stub.say(text("ok"))

    records = desk.run(tools=["Read", "Task"], may_spawn=False)

    assert desk.stub.asked[0].tools == ["Read"]
    assert only(records, "permission")["reason"] == "No such tool available: Task"
    assert only(records, "tool_result")["is_error"]
