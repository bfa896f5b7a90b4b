"""What a turn of Claude Code leaves: its records, what the model was told, what was streamed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from config.process import table
from tests.stubs.anthropic import text, thinking, use
from tests.workspace.chats.turns.world import Running, kinds, only
from tests.workspace.engines.claude.conftest import KEY, Desk, ended, of
from tests.workspace.engines.manage import TOKEN, manage

ASK: dict[str, Any] = {"mode": "default", "attended": True, "tools": None}


@pytest.mark.slow
def test_thoughts_text_and_calls_become_records_with_usage_and_cost(desk: Desk):
    (desk.project / "a.txt").write_text("hello\n")
    desk.stub.say(thinking("Where?"), text("I look."), use("Read", {"file_path": "a.txt"}))
    desk.stub.say(text("It says hello."), output_tokens=7)

    records = desk.run("Read it", model="claude-opus-5-5")

    assert kinds(records) == [
        "turn_start", "user", "engine", "thinking", "assistant", "tool_use", "tool_result",
        "assistant", "turn_end",
    ]  # fmt: skip
    said = of(records, "assistant")
    assert [record["text"] for record in said] == ["I look.", "It says hello."]
    assert len({record["block"] for record in records if "block" in record}) == 3
    assert all(record["ref"] for record in said)
    assert "hello" in only(records, "tool_result")["text"]
    end = records[-1]
    assert (end["status"], end["turns"]) == ("ok", 2)
    assert end["usage"] == {
        "inputTokens": 20, "outputTokens": 12, "cacheReadTokens": 0, "cacheWriteTokens": 0,
        "totalTokens": 32,
    }  # fmt: skip
    assert end["cost"] > 0
    assert end["model"] == "claude-opus-5-5"
    assert end["context"] == {"used": 17, "limit": 1_000_000, "engine": "claude"}
    assert desk.stub.asked[0].body["model"] == "claude-opus-5-5"


@pytest.mark.slow
def test_usage_and_cost_are_the_turns_own_and_an_unknown_price_is_none(desk: Desk):
    for _ in range(2):
        desk.stub.say(text("ok"), input_tokens=1000)
    first, second = (desk.run(model="claude-opus-5-5")[-1] for _ in range(2))
    assert first["usage"]["totalTokens"] == second["usage"]["totalTokens"] == 1005
    assert first["cost"] == second["cost"]

    desk.stub.say(text("ok"))
    end = desk.run(model="claude-nobody-knows-9")[-1]
    assert end["cost"] is None
    assert end["context"]["limit"] is None


@pytest.mark.slow
def test_a_turn_that_names_no_model_tells_the_one_that_answered_also_when_it_is_stopped(desk: Desk):
    desk.stub.say(text("I wait."), use("Bash", {"command": "touch begun; sleep 600"}))
    running = desk.start(tools=["Bash"])
    running.until(lambda records: (desk.project / "begun").exists())
    running.stop()
    records = desk.end(running)

    assert ended(records) == ("stopped", "user")
    assert records[0]["model"] is None
    assert records[-1]["model"] == desk.stub.asked[-1].body["model"]


@pytest.mark.slow
def test_text_is_shown_while_it_is_streamed(desk: Desk):
    desk.stub.say(text("Half of it, then the rest."), piece=8, hold=1)
    running = desk.start()
    running.until(lambda records: desk.live() == "Half of ")

    desk.stub.release()

    records = desk.end(running)
    assert only(records, "assistant")["text"] == "Half of it, then the rest."


@pytest.mark.slow
def test_a_stream_that_breaks_is_asked_for_again_and_told_once(desk: Desk):
    desk.stub.say(text("abcdefgh" * 20), cut=2)
    desk.stub.say(text("second attempt"))

    records = desk.run()

    assert [record["text"] for record in of(records, "assistant")] == ["second attempt"]
    assert ended(records) == ("ok", None)


@pytest.mark.slow
def test_the_message_goes_to_the_model_as_it_was_written(desk: Desk, tmp_path: Path):
    (tmp_path / "secret").write_text("MARK of a file")
    prompt = f"/clear !ls #note @{tmp_path}/secret <b>"
    desk.stub.say(text("ok"))

    desk.run(prompt, instructions="You work in the project alpha.")

    asked = desk.stub.asked[0]
    assert asked.says(prompt)
    assert "MARK" not in str(asked.body)
    assert "You work in the project alpha." in asked.system
    assert "# Memory" not in asked.system  # notes outside the project


def test_nothing_that_lies_in_the_project_is_run_or_believed(desk: Desk):
    """Edge case 22."""
    (desk.project / ".claude").mkdir()
    hook = '{"hooks": [{"type": "command", "command": "touch hooked"}]}'
    hooks = f'{{"hooks": {{"SessionStart": [{hook}], "PreToolUse": [{hook}]}}}}'
    (desk.project / ".claude/settings.json").write_text(hooks)
    servers = '{"mcpServers": {"x": {"command": "touch", "args": ["served"]}}}'
    (desk.project / ".mcp.json").write_text(servers)
    for name in ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md"):
        (desk.project / name).write_text("MARK of the project")
    for name in ("json.py", "asyncio.py", "claude_agent_sdk.py", "workspace/__init__.py"):
        (desk.project / name).parent.mkdir(exist_ok=True)
        (desk.project / name).write_text("open('imported', 'w').close()")
    desk.stub.say(text("I look"), use("Read", {"file_path": "json.py"}))
    desk.stub.say(text("ok"))

    records = desk.run()

    assert ended(records) == ("ok", None)
    made = {"hooked", "served", "imported"} & {path.name for path in desk.project.rglob("*")}
    assert made == set()
    assert "MARK" not in str([asked.body for asked in desk.stub.asked])

    desk.stub.say(text("ok"))
    desk.new_chat()
    desk.run(settings={"projectSettings": True})
    assert "MARK" in str(desk.stub.asked[-1].body)


def test_only_granted_tools_are_offered_and_lacking_ones_are_told(desk: Desk):
    granted = ["Read", "Skill", "TodoWrite", "ScheduleWakeup", "CronCreate", "mcp__other__x"]
    desk.stub.say(text("ok"))

    records = desk.run(tools=granted)

    assert desk.stub.asked[0].tools == ["Read", "Skill"]
    lacking = [r["text"] for r in of(records, "notice") if r["code"] == "tool_unavailable"]
    assert lacking == [f"The claude engine has no tool {name}." for name in granted[2:]]


@pytest.mark.slow
def test_all_tools_are_a_list_of_their_own_and_none_are_none(desk: Desk):
    lists: list[list[str] | None] = [None, []]
    for tools in lists:
        desk.stub.say(text("ok"))
        desk.new_chat()
        records = desk.run(tools=tools)
        assert "notice" not in kinds(records)

    everything, nothing = (asked.tools for asked in desk.stub.asked)
    assert everything == [
        "Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write",
    ]  # fmt: skip
    assert nothing == []


def test_operations_of_the_service_are_tools_and_the_bearer_is_in_no_command_line(desk: Desk):
    """Edge case 21."""
    desk.stub.say(use("mcp__svc_manage__read_chat", {"session_id": "x"}))
    desk.stub.say(text("I have read it."), piece=4, hold=1)
    with manage({"read_chat": "what was said"}) as (svc, calls):
        running = desk.start(tools=["mcp__svc_manage__read_chat"], svc=svc)
        running.until(lambda records: "tool_result" in kinds(records))
        lines = _command_lines()
        servers = Path(running.job.run_dir) / "mcp.json"
        mode = servers.stat().st_mode & 0o777
        desk.stub.release()
        records = desk.end(running)

    assert any("stream-json" in line for line in lines)
    assert not any(TOKEN in line or KEY in line for line in lines)
    assert (mode, TOKEN in servers.read_text()) == (0o600, True)
    assert ("read_chat", {"session_id": "x"}) in calls
    assert only(records, "tool_result")["text"] == "what was said"
    assert desk.stub.asked[0].tools == ["mcp__svc_manage__read_chat"]


def _command_lines() -> list[str]:
    found = []
    for pid in table.scan():
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
    return found


@pytest.mark.slow
def test_the_key_is_passed_unless_a_gateway_adds_it(desk: Desk):
    desk.stub.say(text("ok"))
    desk.run()
    assert desk.stub.asked[-1].key == KEY

    desk.stub.say(text("ok"))
    desk.run(settings={"passKey": False})
    assert desk.stub.asked[-1].key == "added-by-the-gateway"
    assert KEY not in str(desk.stub.asked[-1])


def _asked(running: Running) -> str:
    records = running.until(lambda records: "permission" in kinds(records))
    question = only(records, "permission")
    assert (question["state"], question["tool"]) == ("asked", "Bash")
    assert kinds(records).index("tool_use") < kinds(records).index("permission")
    return str(question["call"])


@pytest.mark.slow
def test_a_person_is_asked_and_the_answer_holds(desk: Desk):
    for allow in (True, False):
        desk.stub.say(use("Bash", {"command": f"touch ran-{allow}"}))
        desk.stub.say(text("ok"))
        desk.new_chat()
        running = desk.start(**ASK)
        running.send({"type": "answer", "call": _asked(running), "allow": allow})
        records = desk.end(running)

        last = of(records, "permission")[-1]
        assert (last["state"], last["by"]) == ("allowed" if allow else "denied", "user")
        assert (desk.project / f"ran-{allow}").exists() == allow
        assert only(records, "tool_result")["is_error"] != allow
    assert only(records, "tool_result")["text"] == "Bash was denied by the user"


@pytest.mark.slow
def test_a_question_that_nobody_answers_is_a_denial_and_the_turn_goes_on(desk: Desk):
    """Edge case 10."""
    desk.stub.say(use("Bash", {"command": "touch ran"}))
    desk.stub.say(text("I go on."))

    records = desk.run(**ASK, ask_seconds=1)

    assert only(records, "tool_result")["text"] == "nobody answered within 1 s"
    assert ended(records) == ("ok", None)
    assert not (desk.project / "ran").exists()
