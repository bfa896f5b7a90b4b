"""Hand the ids of queued turns to the `turns` cluster.

At least once: a worker claims the row of a delivered id before it runs it, so a second delivery
does nothing.
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
CHANGES = "changes"  # the bell of the threads that tell clients that a queue changed
TICKER = "ticker"  # the bell of what knows the next time at which something is due
OnChange = Callable[[Turn], None]


def ignore(turn: Turn) -> None:
    """The callback of a caller that does not follow turns."""


def announce() -> None:
    """A queue has changed."""
    wakeup.wake(CHANGES)


def deliver(chat: str, *, again: bool = False) -> None:
    """Hand over the chat's first queued row, unless a turn of it runs or waits for its provider.

    A row on its way is handed over only `again` by an end: its delivery may have met the turn
    that just ended, and was spent on it.
    """
    rows = Turn.objects.filter(chat=chat)
    if rows.filter(state__in=BUSY).exists():
        return
    first = rows.filter(state="queued").order_by("id").only("id", "home", "delivered").first()
    if first is not None and (again or first.delivered is None):
        hand_over(first)


def hand_over(turn: Turn) -> None:
    """To the workers of the turn's home."""
    Turn.objects.filter(id=turn.id).update(delivered=datetime.now(UTC))
    cluster = homes.queue_for(QUEUE, turn.home)
    async_task("workspace.tasks.run_turn", turn.id, cluster=cluster, task_name=turn.id, save=False)
