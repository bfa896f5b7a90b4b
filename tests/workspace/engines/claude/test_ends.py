"""How turns of Claude Code end: every failure is named as what it is, none as completed."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from config.process import table
from tests.stubs.anthropic import Reply, text, use
from tests.workspace.chats.turns.world import kinds, only
from tests.workspace.engines.claude.conftest import KEY, Desk, Record, ended, of
from workspace.engines.network import Network

WIDE = """
from workspace.engines.claude import setup
narrow = setup.options
def options(*given, **more):
    made = narrow(*given, **more)
    made.tools = None
    return made
setup.options = options
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "auth_failed"),
        (403, "auth_failed"),
        (429, "rate_limited"),
        (529, "rate_limited"),
        (500, "api_error"),
    ],
)
def test_an_error_of_the_model_server_fails_the_turn_for_its_reason(desk: Desk, status, reason):
    desk.stub.fail(status, times=9, message=f"no, {KEY}")

    records = desk.run()

    assert ended(records) == ("error", reason)
    notice = only(records, "notice")
    assert (notice["level"], notice["code"]) == ("error", reason)
    assert "API Error" in notice["text"]
    assert KEY not in str(records)
    assert of(records, "assistant") == []


@pytest.mark.slow
def test_a_stream_that_breaks_each_time_is_told_once_and_in_words(desk: Desk):
    broken = [Reply([text("This stream breaks")], piece=6, hold=2, cut=2) for _ in range(3)]
    nothing = [Reply([text("x")], cut=0) for _ in range(3)]
    desk.stub.when(lambda asked: not asked.body.get("stream"), Reply([]), Reply([]))
    desk.stub.when(lambda asked: True, *broken, *nothing)

    def streamed(words: str, records: list[Record]) -> bool:
        return desk.live() == words

    running = desk.start()
    for number, reply in enumerate(broken, 1):
        running.until(partial(streamed, "This stream " * number))
        reply.go.set()
    records = desk.end(running)

    said = only(records, "assistant")
    assert (said["text"], said["partial"]) == ("This stream ", True)
    assert ended(records) == ("error", "api_error")
    assert only(records, "notice")["text"].startswith("The model's answer broke off, also when")


@pytest.mark.slow
def test_an_empty_answer_is_no_success(desk: Desk):
    desk.stub.when(lambda asked: True, *[Reply([]) for _ in range(2)])

    records = desk.run()

    assert ended(records) == ("error", "api_error")
    assert only(records, "notice")["text"] == "The model gave an empty answer."


@pytest.mark.slow
def test_without_a_key_the_login_failed_and_nothing_is_completed(desk: Desk):
    """Edge case 17."""
    records = desk.run(keys={})

    assert ended(records) == ("error", "auth_failed")
    assert "Not logged in" in records[-1]["text"]
    assert desk.stub.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("bound", [1, 2])
def test_the_bound_of_a_turn_is_no_error_besides(desk: Desk, bound):
    """Edge case 18."""
    for _ in range(bound):
        desk.stub.say(
            text("again"), use("Read", {"file_path": "x"}), use("Read", {"file_path": "y"})
        )

    records = desk.run(max_turns=bound)

    assert ended(records) == ("max_turns", "max_turns")
    assert records[-1]["turns"] == bound
    assert records[-1]["usage"]["totalTokens"] == bound * 15
    assert [notice["code"] for notice in of(records, "notice")] == ["max_turns"]


@pytest.mark.slow
def test_a_bound_that_is_not_reached_is_not_met(desk: Desk):
    desk.stub.say(use("Read", {"file_path": "x"}))
    desk.stub.say(text("done"))

    records = desk.run(max_turns=2)

    assert (*ended(records), records[-1]["turns"]) == ("ok", None, 2)


@pytest.mark.slow
def test_a_tool_that_was_not_asked_for_ends_the_turn_before_it_can_be_used(desk: Desk):
    desk.stub.say(use("Bash", {"command": "touch ran"}))

    records = desk.run(mode="bypassPermissions", patch=WIDE)

    assert ended(records) == ("error", "engine_crashed")
    assert records[-1]["text"].startswith("unexpected tools: Bash, Cron")
    assert "tool_use" not in kinds(records)
    assert not (desk.project / "ran").exists()


def test_claude_code_killed_in_the_middle_is_a_crash_that_keeps_what_was_said(desk: Desk):
    desk.stub.say(text("Half of it, then more"), piece=8, hold=1)
    running = desk.start()
    running.until(lambda records: desk.live() == "Half of ")

    children = [p.pid for p in table.scan().values() if p.parent == running.child.pid]
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    records = desk.end(running)

    assert ended(records) == ("error", "engine_crashed")
    said = only(records, "assistant")
    assert (said["text"], said["partial"]) == ("Half of ", True)


def test_a_model_name_that_is_an_option_is_refused(desk: Desk):
    records = desk.run(model="--dangerously-skip-permissions")

    assert ended(records) == ("error", "refused")
    assert desk.stub.asked == []


def test_network_off_is_refused_without_a_sandbox(desk: Desk):
    records = desk.run(network=Network("off"))

    assert ended(records) == ("error", "refused")
    assert records[-1]["text"].startswith("network off needs a sandbox")


@pytest.mark.slow
def test_the_last_of_two_results_counts(desk: Desk):
    """A subagent in the background whose end wakes a turn inside that fails."""
    desk.stub.when(lambda asked: asked.says("SUB"), Reply([text("found")]))
    task = use("Agent", {"description": "d", "prompt": "SUB"})
    desk.stub.say(task)
    desk.stub.say(text("I wait."))
    desk.stub.fail(401, times=9)

    records = desk.run(tools=["Task"], may_spawn=True)

    assert ended(records) == ("error", "auth_failed")
    assert len(of(records, "turn_end")) == 1
