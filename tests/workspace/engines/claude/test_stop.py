"""Stop, and what is left of a turn of Claude Code: nothing that runs, everything that was said."""

from __future__ import annotations

import pytest

from tests.promises.rings import few, ring, seeded
from tests.promises.test_t8_no_process_left import KINDS, UNTAGGED, WAIT, alive
from tests.stubs.anthropic import text, use
from tests.workspace.chats.turns.world import only
from tests.workspace.engines.claude.conftest import Desk, ended, of
from workspace.engines import procs

ROUNDS = ring(fast=len(KINDS) + 1, slow=200)


@pytest.mark.slow
@pytest.mark.promise("T8")
@pytest.mark.timeout(120 + 30 * ROUNDS)
def test_a_stopped_turn_leaves_no_process(desk: Desk):
    dice = seeded()
    pids = desk.project / "pids"
    pids.mkdir()
    for number in range(ROUNDS):
        command = [*KINDS, UNTAGGED][number % (len(KINDS) + 1)].format(wait=WAIT)
        desk.stub.say(text("I begin."), use("Bash", {"command": command}))
        desk.new_chat()
        running = desk.start(tools=["Bash"])
        running.until(lambda records: any(pids.iterdir()))
        reason, status = dice.choice(
            [("user", "stopped"), ("timeout", "timeout"), ("shutdown", "interrupted")]
        )
        running.stop(reason)
        records = desk.end(running)

        assert ended(records) == (status, reason)
        assert [(r["is_error"], r["text"]) for r in of(records, "tool_result")] == [
            (True, "stopped")
        ]
        assert alive(desk.world) == []
        assert procs.pids_by_turn(str(desk.world.root)) == {}
        for path in pids.iterdir():
            path.unlink()


@pytest.mark.parametrize("hold", few([1, 0], 1))
def test_a_stop_before_or_in_the_answer_keeps_what_was_streamed(desk: Desk, hold):
    desk.stub.say(text("Half of it, then the rest."), piece=8, hold=hold)
    running = desk.start()
    running.until(lambda records: len(desk.stub.asked) == 1 and desk.live() == "Half of " * hold)

    running.stop()
    records = desk.end(running)

    assert ended(records) == ("stopped", "user")
    kept = [(record["text"], record["partial"]) for record in of(records, "assistant")]
    assert kept == [("Half of ", True)] * hold
    assert procs.pids_by_turn(str(desk.world.root)) == {}


@pytest.mark.slow
def test_a_turn_that_runs_too_long_is_timed_out_even_while_it_asks(desk: Desk):
    """Edge case 9."""
    desk.stub.say(use("Bash", {"command": "touch ran"}))
    running = desk.start(attended=True, tools=None, turn_seconds=8)
    asked = running.until(lambda records: bool(of(records, "permission")))

    records = desk.end(running)

    assert ended(records) == ("timeout", "timeout")
    assert only(records, "tool_result")["call"] == only(asked, "permission")["call"]
    assert not (desk.project / "ran").exists()
