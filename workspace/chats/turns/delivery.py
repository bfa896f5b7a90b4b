"""Deliver the ids of queued turns to the `turns` cluster.

Delivery is at least once: a worker claims the row of a delivered id before it runs the turn, so a
second delivery does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from django_q.tasks import async_task

from config.process import wakeup
from config.storage import homes
from workspace.chats.turns.states import BUSY
from workspace.models import Turn

QUEUE = "turns"
CHANGES = "changes"  # wakes the threads that tell clients that a queue changed
TICKER = "ticker"  # wakes the process that knows when something is due next
OnChange = Callable[[Turn], None]


def ignore(turn: Turn) -> None:
    """The callback for callers that do not follow turns."""


def announce() -> None:
    """Wake the threads that watch queues: a queue has changed."""
    wakeup.wake(CHANGES)


def deliver(project: str, chat: str, *, again: bool = False) -> None:
    """Deliver the chat's first queued row, unless a turn of it runs or waits for its provider.

    A row that was delivered already is delivered again only if `again`, after the end of a turn:
    its delivery may have been used up while that turn still ran.
    """
    rows = Turn.of(project, chat)
    if rows.filter(state__in=BUSY).exists():
        return
    first = rows.filter(state="queued").order_by("id").only("id", "home", "delivered").first()
    if first is not None and (again or first.delivered is None):
        hand_over(first)


def hand_over(turn: Turn) -> None:
    """Deliver the turn to the workers of its home."""
    Turn.objects.filter(id=turn.id).update(delivered=datetime.now(UTC))
    cluster = homes.queue_for(QUEUE, turn.home)
    async_task("workspace.tasks.run_turn", turn.id, cluster=cluster, task_name=turn.id, save=False)
