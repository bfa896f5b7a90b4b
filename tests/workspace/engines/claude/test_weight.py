"""What a turn of Claude Code costs in memory."""

from __future__ import annotations

from config.process import table, tree
from tests.stubs.anthropic import text, use
from tests.workspace.chats.turns.world import pss_mb
from tests.workspace.engines.claude.conftest import Desk, of

TURN_MB, PROGRAM_MB = 90, 260


def test_a_turn_keeps_within_its_memory(desk: Desk):
    desk.stub.say(use("Bash", {"command": "seq 1 4000"}), use("Grep", {"pattern": "x"}))
    desk.stub.say(text("All done."), piece=4, hold=1)
    running = desk.start(tools=["Bash", "Grep"])
    running.until(lambda records: len(of(records, "tool_result")) == 2 and bool(desk.live()))

    parents = {pid: process.parent for pid, process in table.scan().items()}
    below = tree.descendants(parents, {running.child.pid}) - {running.child.pid}
    turn, program = pss_mb(running.child.pid), sum(map(pss_mb, below))
    desk.stub.release()
    desk.end(running)

    print(f"turn process {turn:.0f} MB, Claude Code {program:.0f} MB")
    assert turn <= TURN_MB
    assert program <= PROGRAM_MB
