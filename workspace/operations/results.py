"""Tool results of the chat operations (workspace.md 7.2): short keys, cut texts, no empty ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from config.kernel.logs import timestamp
from config.kernel.mcp import brief
from config.kernel.mcp.arguments import truncate
from workspace.chats.chats import Started
from workspace.chats.forks import Failed
from workspace.chats.turns import jobs
from workspace.models import Chat, Turn
from workspace.operations.chats import (
    LIVE,
    Archived,
    Batch,
    ChatList,
    Forked,
    Sent,
    Transcript,
)

_BRIEF = ("project", "sessionId", "name", "updatedAt", "running", "queued", "archived", "trigger")
_stamp = lru_cache(maxsize=4096)(timestamp)  # a list shows the same times again and again


def present(result: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """The result without those optional keys that have no value."""
    return {key: value for key, value in result.items() if value or key not in optional}


def chats_listed(result: ChatList) -> dict[str, Any]:
    found, waiting = result.found, result.waiting
    rows = [_chat(row, row.id in result.running, waiting.get(row.id, 0)) for row in found.rows]
    usual = _BRIEF if result.project is None else _BRIEF[1:]
    shown = {
        "count": found.matching,
        "returned": len(rows),
        "omittedArchived": found.omitted,
        "project": result.project,
        "chats": brief.picked(rows, result.fields, usual, telling=("running",)),
        "next": found.next,
    }
    return present(shown, "next")


def _chat(row: Chat, running: bool, queued: int) -> dict[str, Any]:
    return {
        "project": row.project,
        "sessionId": row.id,
        "name": row.name,
        "updatedAt": _stamp(row.updated),
        "running": running,
        "queued": queued,
        "archived": row.archived,
        "origin": row.origin,
        "trigger": row.trigger,
        "client": row.client,
    }


def chat_read(result: Transcript) -> dict[str, Any]:
    row, lines = result.chat, result.lines
    states = Turn.objects.filter(chat=row.id, state__in=LIVE).order_by()
    live = list(states.values_list("state", flat=True))
    cut = (lambda text: text) if result.full else truncate
    shown = {
        "project": row.project,
        "sessionId": row.id,
        "total": lines.total,
        "returned": len(lines.shown),
        "running": "running" in live,
        "queued": len([state for state in live if state != "running"]),
        "messages": [line | {"text": cut(line["text"])} for line in lines.shown],
        "next": lines.next,
        "after": lines.end,
    }
    return present(shown, "queued", "next")


def chat_created(result: Started) -> dict[str, Any]:
    return {"created": True, "project": result.chat.project, **_started(result)}


def chat_forked(result: Forked) -> dict[str, Any]:
    started = _started(result.started)
    project = result.started.chat.project
    session_id = started.pop("sessionId")
    head = {"forked": True, "project": project, "sessionId": session_id, "from": result.source}
    return head | started


def _started(result: Started) -> dict[str, Any]:
    turn = result.turn
    shown = {
        "sessionId": result.chat.id,
        "name": result.chat.name,
        "model": turn.model if turn else "",
        "prompt": truncate(turn.prompt) if turn else "",
        "messageId": turn.id if turn else "",
        "state": result.state,
        "warnings": _warnings(turn) if turn else [],
    }
    return present(shown, "name", "model", "prompt", "messageId", "state", "warnings")


def _warnings(turn: Turn) -> list[str]:
    """Why what was queued cannot run: told now, else the caller learns it by asking again."""
    refusal = jobs.refusal(turn)
    return [refusal] if refusal else []


def message_sent(result: Sent) -> dict[str, Any]:
    queued = result.queued
    shown = {
        "sent": True,
        "project": result.project,
        "sessionId": result.session_id,
        "messageId": queued.turn.id,
        "state": queued.state,
        "position": queued.position,
        "prompt": truncate(queued.turn.prompt),
        "warnings": _warnings(queued.turn),
    }
    return present(shown, "warnings")


def archived(result: Archived) -> dict[str, Any]:
    return {
        "archived": result.archived,
        "project": result.chat.project,
        "sessionId": result.chat.id,
        "changed": result.changed,
    }


def batch_forked(result: Batch) -> dict[str, Any]:
    failed = sum(isinstance(outcome, Failed) for outcome in result.outcomes)
    shown = {
        "count": len(result.outcomes) - failed,
        "failed": failed,
        "source": result.source,
        "model": result.model,
        "forks": [_outcome(outcome) for outcome in result.outcomes],
    }
    return present(shown, "model")


def _outcome(outcome: Started | Failed) -> dict[str, Any]:
    if isinstance(outcome, Failed):
        return {"prompt": truncate(outcome.prompt), "error": outcome.error}
    started = _started(outcome)
    shown = {key: started.get(key) for key in ("sessionId", "name", "prompt", "state", "warnings")}
    return present(shown, "name", "warnings")
