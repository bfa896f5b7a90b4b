"""Tool results of the chat operations (workspace.md 7.2): short keys, cut texts, no empty ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from config.kernel.logs import timestamp
from config.kernel.mcp.arguments import truncate
from workspace.chats.chats import Started
from workspace.chats.forks import Failed
from workspace.models import Chat, Turn
from workspace.operations.chats import Archived, Batch, ChatList, Forked, Sent, Transcript

_stamp = lru_cache(maxsize=4096)(timestamp)  # a list shows the same times again and again


def present(result: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """The result without those optional keys that have no value."""
    return {key: value for key, value in result.items() if value or key not in optional}


def chats_listed(result: ChatList) -> dict[str, Any]:
    found = result.found
    # The live turns of the instance are few; naming hundreds of chats would cost more (S3).
    live = Turn.objects.filter(state__in=("running", "queued", "held"))
    states = list(live.order_by().values_list("chat", "state"))
    running = {chat for chat, state in states if state == "running"}
    waiting = Counter(chat for chat, state in states if state != "running")
    return {
        "count": found.matching,
        "returned": len(found.rows),
        "omittedArchived": found.omitted,
        "project": result.project,
        "chats": [_chat(row, row.id in running, waiting[row.id]) for row in found.rows],
    }


def _chat(row: Chat, running: bool, queued: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "project": row.project,
        "sessionId": row.id,
        "name": row.name,
        "updatedAt": _stamp(row.updated),
        "running": running,
        "archived": row.archived,
    }
    if queued:
        shown["queued"] = queued
    shown["origin"] = row.origin
    if row.trigger:
        shown["trigger"] = row.trigger
    if row.client:
        shown["client"] = row.client
    return shown


def chat_read(result: Transcript) -> dict[str, Any]:
    row = result.chat
    return {
        "project": row.project,
        "sessionId": row.id,
        "total": result.total,
        "returned": len(result.lines),
        "running": Turn.objects.filter(chat=row.id, state="running").exists(),
        "messages": [line | {"text": truncate(line["text"])} for line in result.lines],
    }


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
    }
    return present(shown, "name", "model", "prompt", "messageId", "state")


def message_sent(result: Sent) -> dict[str, Any]:
    queued = result.queued
    return {
        "sent": True,
        "project": result.project,
        "sessionId": result.session_id,
        "messageId": queued.turn.id,
        "state": queued.state,
        "position": queued.position,
        "prompt": truncate(queued.turn.prompt),
    }


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
    shown = {key: started.get(key) for key in ("sessionId", "name", "prompt", "state")}
    return present(shown, "name")
