"""The Chat shape: one row of the index, with its queue and the firing that made it as they are now.

A whole page of chats costs three queries and no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from config.kernel.logs import timestamp
from config.kernel.storage import database
from workspace.chats.turns.endings import SENTENCES
from workspace.models import Chat, Run, Turn
from workspace.triggers.entries.schema import agent_name

LIVE = Q(state__in=("running", "queued", "held"))
STATES = ("running", "queued", "held", "failed")  # of both
UNWRITTEN = Q(state="failed", reason=SENTENCES["storage_full"])
FIRED = (
    "chat",
    "tools",
    "mode",
    "network",
    "model",
    "max_turns",
    "run__trigger_type",
    "run__cause",
)
USAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "totalTokens")


def views(rows: Sequence[Chat]) -> list[dict[str, Any]]:
    """These chats, in this order; while the database is gone, as their files alone tell."""
    turns, firings = database.unless_gone(lambda: _of_turns(rows), lambda: ({}, {}))
    return [_view(row, turns.get(row.id, []), firings.get(row.id)) for row in rows]


def _of_turns(rows: Sequence[Chat]) -> tuple[dict[str, list[Turn]], dict[str, Turn]]:
    """By chat: its turns that have not ended well, and the newest that a trigger fired."""
    turns: dict[str, list[Turn]] = {}
    ids = [row.id for row in rows]
    # No order is asked for: an index would be walked for it, past every turn that ended well.
    found = Turn.objects.filter(LIVE | UNWRITTEN, chat__in=ids, state__in=STATES).order_by()
    for turn in sorted(found, key=attrgetter("id")):
        turns.setdefault(turn.chat, []).append(turn)
    fired = {row.id for row in rows if row.trigger}
    return turns, {turn.chat: turn for turn in _firings(fired)}


def view(row: Chat) -> dict[str, Any]:
    """One chat alone, with what its turns reached: too long for lists."""
    return views([row])[0] | {"hosts": row.hosts or []}


def _firings(ids: set[str]) -> list[Turn]:
    """The newest fired turn of each of these chats; one that goes on for years has thousands."""
    fired = Turn.objects.filter(chat=OuterRef("pk"), run__isnull=False).order_by("-id")
    newest = Chat.objects.filter(pk__in=ids).annotate(fired=Subquery(fired.values("id")[:1]))
    found = Turn.objects.filter(id__in=newest.order_by().values("fired"))
    return list(found.select_related("run").only(*FIRED)) if ids else []


def _view(row: Chat, turns: list[Turn], firing: Turn | None) -> dict[str, Any]:
    states = [turn.state for turn in turns]
    running = next((turn for turn in turns if turn.state == "running"), None)
    record = row.record
    shown = {
        "sessionId": row.id,
        "project": row.project,
        "name": row.name,
        "preview": row.preview,
        "createdAt": timestamp(row.created),
        "updatedAt": timestamp(row.updated),
        "archived": row.archived,
        "running": running is not None,
        "queued": states.count("queued"),
        "held": states.count("held"),
        "unread": row.unread,
        "turn": _turn(running) if running else None,
        "lastTurn": _last_turn(row, turns),
        "provenance": _provenance(record),
        "client": row.client or None,
        "trigger": _fired_by(row, firing) if row.trigger else None,
        "engine": record.get("engine"),
        "model": record.get("model"),
        "usage": {key: row.usage.get(key) for key in USAGE} if row.usage else None,
        "messages": row.messages,
    }
    if row.error:
        shown["error"] = row.error
    return shown | ({"damagedLines": row.damaged} if row.damaged else {})


def _last_turn(row: Chat, turns: list[Turn]) -> dict[str, Any] | None:
    """As the transcript tells it; of one that could not be written there only the row knows."""
    lost = next((turn for turn in turns[::-1] if turn.state == "failed" and turn.finished), None)
    told: dict[str, Any] | None = row.last_turn
    if lost is None or lost.finished is None:
        return told
    finished = timestamp(lost.finished)
    if told and told["finishedAt"] > finished:
        return told
    return {"status": "failed", "reason": lost.reason, "finishedAt": finished}


def _turn(turn: Turn) -> dict[str, Any]:
    started = timestamp(turn.started) if turn.started else None
    return {"id": turn.id, "startedAt": started, "runId": turn.run_id}


def _provenance(record: dict[str, Any]) -> dict[str, Any]:
    parent = record.get("parent") or {}
    shown = {"origin": record.get("origin", "human"), "depth": record.get("depth", 0)}
    if parent.get("sessionId"):
        shown |= {
            "parentSessionId": parent["sessionId"],
            "parentProject": parent.get("project") or "",
        }
    return shown


def _fired_by(row: Chat, turn: Turn | None) -> dict[str, Any]:
    """The trigger a chat was fired by; what only the ledger knew is null once that is gone."""
    run: Run | None = turn.run if turn else None
    return {
        "name": row.trigger,
        "type": run.trigger_type if run else None,
        "cause": run.cause if run else None,
        "agentName": agent_name(row.project, row.trigger),
        "tools": turn.tools if turn else None,
        "permissionMode": turn.mode if turn else None,
        "network": (turn.network or None) if turn else None,
        "model": (turn.model or None) if turn else None,
        "maxTurns": turn.max_turns if turn else None,
        "runId": run.id if run else None,
    }
