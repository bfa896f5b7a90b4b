"""Entry points of the two task queues: at most five lines each, not meant to raise."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime

from workspace.chats.turns import recovery, worker
from workspace.mcp.catalogue import REGISTRY
from workspace.notify import delivery, folding
from workspace.projects import store
from workspace.trees import checkpoints
from workspace.triggers import firing, following, retention
from workspace.triggers.curator import passes

HISTORY = (
    retention.prune,
    retention.prune_audit,
    checkpoints.prune,
    recovery.remove_logs,
    store.clear_staging,
    folding.prune,
)


def run_turn(turn_id: str) -> None:
    """Run one turn to its end; in the `turns` cluster."""
    worker.run(turn_id, registry=REGISTRY, on_change=following.follow)


def sweep() -> None:
    """Recover from crashes, and curate projects whose interval has passed; every 60 s."""
    recovery.sweep(on_change=following.follow)
    passes.consider_all(datetime.now(UTC))


def start_run(run_id: str) -> None:
    """Start a firing: its checks, its chat, its turn; in the default cluster."""
    firing.start(run_id)


def notify() -> None:
    """Send the notifications that are due to their channels; in the default cluster."""
    delivery.drain()


def prune() -> None:
    """Drop history past its retention; once a day. A kind that fails fails the task, after all."""
    with ExitStack() as kinds:  # it calls each of them, whatever the others raise
        for kind in HISTORY:
            kinds.callback(kind)
