"""Hand the ids of queued turns to the `turns` cluster (engine.md 3.2).

At least once: whoever runs a delivered id claims the row first, so a second delivery is nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from django_q.tasks import async_task

from workspace.models import Turn

OnChange = Callable[[Turn], None]


def ignore(turn: Turn) -> None:
    """The callback of whoever does not follow turns."""


def deliver(chat: str) -> None:
    """Hand over the chat's first queued row, unless a turn of it runs."""
    rows = Turn.objects.filter(chat=chat)
    if rows.filter(state="running").exists():
        return
    turn_id = rows.filter(state="queued").order_by("id").values_list("id", flat=True).first()
    if turn_id is not None:
        hand_over(turn_id)


def hand_over(turn_id: str) -> None:
    Turn.objects.filter(id=turn_id).update(delivered=datetime.now(UTC))
    async_task("workspace.tasks.run_turn", turn_id, cluster="turns", task_name=turn_id, save=False)
