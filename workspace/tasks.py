"""Entry points of the two queues (design 9): at most five lines each, never raising by plan."""

from __future__ import annotations

from workspace.chats import recovery, worker


def run_turn(turn_id: str) -> None:
    """Run one turn to its end, in the `turns` cluster."""
    worker.run(turn_id)


def sweep() -> None:
    """Recover what a crash left behind; every 60 s."""
    recovery.sweep()
