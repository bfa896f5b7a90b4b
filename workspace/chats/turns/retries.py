"""Turns that wait for their model's provider: put aside, and back into the queue when it is time.

A waiting turn keeps its place: nothing else of its chat runs before it. One conditional update
makes it wait and one releases it, so that each try runs once, however many processes look. See
docs/design/engines.md#waiting-for-a-provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

from django.conf import settings
from django.db.models import Min, Q, QuerySet

from config.logs import timestamp
from config.process import wakeup
from config.storage import homes
from workspace.chats import files
from workspace.chats.turns.delivery import TICKER, OnChange, announce, deliver, ignore
from workspace.models import Turn
from workspace.projects.project import Project

KEPT = ("try", "of", "since", "turns", "usage", "cost", "ms")
FREE: dict[str, Any] = {
    "claim": "",
    "token_hash": "",
    "lease_until": None,
    "answers": [],
    "asks": [],
}


class Waiting(TypedDict):
    """A turn that its model's provider refused for now, and when its next try is due."""

    turn: str
    until: str
    tries: int  # made so far
    of: int
    reason: str


def put_aside(turn_id: str, wait: Mapping[str, Any]) -> Turn | None:
    """Make the turn wait as its record `turn_wait` says. None if a person stopped it, or another
    process moved it first."""
    until = datetime.fromisoformat(str(wait["until"]))
    retry = {key: wait.get(key) for key in KEPT}
    retry |= {"reason": str(wait.get("text") or "")[:500], "at": timestamp(datetime.now(UTC))}
    moved = Turn.objects.filter(id=turn_id, state="running").exclude(stop="user")
    if not moved.update(state="waiting", stop="", retry_at=until, retry=retry, **FREE):
        return None
    wakeup.wake(TICKER)
    return Turn.objects.get(id=turn_id)


def aside_since(turn: Turn) -> datetime | None:
    """When the turn was put aside; None if it does not wait, or an older version put it aside."""
    at = (turn.retry or {}).get("at") if turn.state == "waiting" else None
    return datetime.fromisoformat(at) if at else None


def due(now: datetime) -> QuerySet[Turn]:
    """Waiting turns of this home whose time has come. A time further ahead than any wait can be was
    written before the clock was set back, and counts as due."""
    furthest = now + timedelta(seconds=settings.SVC.retry.seconds + 60)
    mine = Turn.objects.filter(homes.mine(), state="waiting")
    return mine.filter(Q(retry_at__lte=now) | Q(retry_at__gt=furthest))


def next_at() -> datetime | None:
    """When the first of the waiting turns is due, or None."""
    waiting = Turn.objects.filter(homes.mine(), state="waiting", retry_at__isnull=False)
    found: datetime | None = waiting.aggregate(first=Min("retry_at"))["first"]
    return found


def release_due(now: datetime) -> int:
    """Release the turns that are due. Return how many this process released."""
    return sum(_release(turn) for turn in due(now).only("id", "project", "chat"))


def try_now(*, project: Project, chat: str, on_change: OnChange = ignore) -> bool:
    """End the waiting of the chat's turn now. False if no turn of the chat waits."""
    files.read(project, chat)
    turn = Turn.of(project.slug, chat).filter(state="waiting").first()
    return turn is not None and _release(turn)


def _release(turn: Turn) -> bool:
    released = Turn.objects.filter(id=turn.id, state="waiting")
    if not released.update(state="queued", retry_at=None, delivered=None):
        return False
    deliver(turn.project, turn.chat)
    announce()
    return True


def of(rows: Iterable[Turn]) -> Waiting | None:
    """The waiting turn among these rows, of which a chat has at most one."""
    return next((view(turn) for turn in rows if turn.state == "waiting"), None)


def view(turn: Turn) -> Waiting:
    retry, until = turn.retry or {}, turn.retry_at or datetime.now(UTC)
    return {
        "turn": turn.id,
        "until": timestamp(until),
        "tries": int(retry.get("try") or 2) - 1,
        "of": int(retry.get("of") or 1),
        "reason": str(retry.get("reason") or ""),
    }


def describe_wait(turn: Turn) -> str:
    """For the ledger: what the run of a waiting turn waits for."""
    shown = view(turn)
    until = f"{shown['until'][:19]}Z"
    next_try = f"try {shown['tries'] + 1} of {shown['of']}"
    return f"waits until {until} for {next_try}: {shown['reason']}"[:500]
