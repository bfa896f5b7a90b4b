"""Claude Code inside the sandbox: it works, and sees and changes no more than it may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.stubs.anthropic import text, use
from tests.workspace.chats.turns.world import only
from tests.workspace.engines.claude.conftest import Desk, ended, of, results
from tests.workspace.engines.manage import manage
from tests.workspace.engines.test_sandbox import failing_once, inside
from workspace.engines.sandbox import Sandbox

LOOK = (
    "touch made; for path in .chats/x project.yaml .svc/x /usr/outside; "
    "do touch $path 2>/dev/null && echo wrote $path; done; "
    "cat {root}/data/secret {other}/secret {conversation} 2>/dev/null; "
    "ls {servers} >/dev/null && echo sees; echo end"
)


def confined(desk: Desk) -> dict[str, Any]:
    root = desk.world.root
    (root / "user").mkdir(exist_ok=True)
    hide = (str(root / "user"), str(root / "data"), str(root / "projects"))
    return {"sandbox": Sandbox("bwrap", "auto", None, hide)}


@inside
def test_in_the_sandbox_a_turn_works_and_touches_only_its_own(desk: Desk):
    """Edge cases 14 and 16; other projects' conversations are hidden too."""
    root = desk.world.root
    other = root / "projects/beta"
    conversation = desk.store / "beta/x/y.jsonl"
    for path in (root / "data/secret", other / "secret", conversation):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("MARK")
    (desk.project / ".svc").mkdir()
    (desk.project / "project.yaml").write_text("name: alpha\n")
    with manage({"read_chat": "what was said"}) as (svc, _):
        job = desk.job(tools=["Bash", "mcp__svc_manage__read_chat"], svc=svc, **confined(desk))
        look = LOOK.format(
            root=root, other=other, conversation=conversation, servers=f"{job.run_dir}/mcp.json"
        )
        call = use("mcp__svc_manage__read_chat", {"session_id": "x"})
        desk.stub.say(use("Bash", {"command": look}), call)
        desk.stub.say(text("ok"))
        records = desk.end(desk.world.start(job))

    assert ended(records) == ("ok", None)
    assert records[0]["sandbox"] == "bwrap"
    told = results(records)
    assert told["Bash"] == (False, "sees\nend")
    assert told["mcp__svc_manage__read_chat"] == (False, "what was said")
    assert (desk.project / "made").exists()
    assert list(desk.conversations) == [desk.world.chat]

    desk.stub.say(text("still known"))
    desk.run("Two", **confined(desk))
    assert [role for role, _ in desk.stub.asked[-1].messages].count("assistant") == 2


@pytest.mark.slow
@inside
def test_bypass_is_told_of_root_only_without_the_sandbox_and_is_never_the_mode_inside(desk: Desk):
    """Edge case 16."""
    for sandboxed in (False, True):
        desk.new_chat()
        desk.stub.say(use("Bash", {"command": "true"}))
        desk.stub.say(text("ok"))
        around = confined(desk) if sandboxed else {}
        records = desk.run(mode="bypassPermissions", tools=None, **around)

        assert ended(records) == ("ok", None)
        codes = [notice["code"] for notice in of(records, "notice")]
        assert codes == ([] if sandboxed or not _root() else ["root_unsandboxed"])
        held = desk.conversations[desk.world.chat].read_text()
        assert '"permissionMode":"default"' in held
        assert '"permissionMode":"bypass' not in held


def _root() -> bool:
    return Path("/proc/self").stat().st_uid == 0


@pytest.mark.slow
@inside
def test_in_plan_mode_the_sandbox_keeps_the_project_as_it_is(desk: Desk):
    (desk.project / "a.txt").write_text("hello\n")
    desk.stub.say(use("Read", {"file_path": "a.txt"}))
    desk.stub.say(text("ok"))

    records = desk.run(mode="plan", tools=None, **confined(desk))

    assert "hello" in only(records, "tool_result")["text"]


@inside
def test_a_socket_that_goes_away_while_the_sandbox_starts_costs_no_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("PATH", failing_once(tmp_path))
    desk.stub.say(text("ok"))

    records = desk.run(**confined(desk))

    assert ended(records) == ("ok", None)
    assert (tmp_path / "tried").exists()


@inside
def test_a_sandbox_that_fails_later_fails_the_turn(desk: Desk):
    desk.world.home.rmdir()  # what is to be bound is gone

    records = desk.run(**confined(desk))

    assert ended(records) == ("error", "sandbox_unavailable")
    assert desk.stub.asked == []


@pytest.mark.parametrize("status", ["unavailable"])
def test_a_forced_sandbox_that_is_missing_starts_nothing(desk: Desk, status):
    records = desk.run(sandbox=Sandbox(status, "bwrap", "bubblewrap is not installed"))

    assert ended(records) == ("error", "sandbox_unavailable")
    assert desk.stub.asked == []
