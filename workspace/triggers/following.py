"""What follows every change of a turn's row: the change of its run, and perhaps a curator pass."""

from __future__ import annotations

from workspace.models import Turn
from workspace.triggers import runs
from workspace.triggers.curator import passes
from workspace.triggers.curator.briefing import PEOPLE


def follow(turn: Turn) -> None:
    """Update the run of a turn. The answer of a curator pass is written before its run completes,
    and the end of a person's turn may begin a pass."""
    problem = ""
    if turn.state == "done" and turn.run is not None and turn.run.kind == passes.KIND:
        waits = turn.run.status in runs.ACTIVE or turn.unclosed
        problem = passes.apply(turn) if waits else ""
    runs.follow(turn, problem=problem)
    if turn.state == "done" and turn.run_id is None and turn.sender.get("kind") in PEOPLE:
        passes.consider(turn.project)
