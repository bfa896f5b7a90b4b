"""The Chat shape: one row of the index with its current queue and the firing that made it.

A whole page of chats takes three queries and reads no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Any, NotRequired, TypedDict, cast

from django.db.models import OuterRef, Q, Subquery

from config.logs import timestamp
from config.storage import database
from workspace import models
from workspace.chats import spent
from workspace.chats.hosts import Host
from workspace.chats.spent import Context, Usage
from workspace.chats.turns import questions, retries
from workspace.chats.turns.endings import SENTENCES
from workspace.chats.turns.instructions import InstructionSource
from workspace.chats.turns.questions import Question
from workspace.chats.turns.states import BUSY, WAITING
from workspace.triggers.entries.schema import agent_name
from workspace.worktrees import place

LIVE = Q(state__in=(*BUSY, *WAITING))
STATES = (*BUSY, *WAITING, "failed")  # of LIVE and UNWRITTEN
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


class RunningTurn(TypedDict):
    id: str
    startedAt: str | None
    runId: str | None


class LastTurn(TypedDict):
    status: str
    reason: str | None
    finishedAt: str | None
    model: Annotated[str | None, "that answered, as far as it said so"]


class Worktree(TypedDict):
    branch: str
    directory: str


class Provenance(TypedDict):
    origin: str
    depth: int
    parentSessionId: NotRequired[str]
    parentProject: NotRequired[str]


class FiredBy(TypedDict):
    name: str | None
    type: str | None
    cause: str | None
    agentName: str | None
    tools: list[str] | None
    permissionMode: str | None
    network: Annotated[str | None, "as its run.network says"]
    model: str | None
    maxTurns: int | None
    runId: str | None


class Chat(TypedDict):
    sessionId: str
    project: str
    name: str
    preview: str
    createdAt: str
    updatedAt: str
    archived: bool
    running: bool
    queued: int
    held: int
    unread: bool
    turn: RunningTurn | None
    waiting: Annotated[retries.Waiting | None, "for the provider of its model; `running` then too"]
    asked: Annotated[Question | None, "the oldest question that waits for a person's answer"]
    lastTurn: LastTurn | None
    provenance: Provenance
    client: str | None
    trigger: FiredBy | None
    worktree: Annotated[Worktree | None, "where its turns work instead of the project's directory"]
    engine: str | None
    model: str | None
    usage: Usage | None
    cost: Annotated[float | None, "USD, of the turns that reported one"]
    context: Annotated[Context | None, "after the last turn, if its engine reported it"]
    messages: int
    permissionMode: Annotated[str | None, "its own; null = the project's"]
    allow: NotRequired[Annotated[list[str], "what is not asked for any more in this chat"]]
    hosts: NotRequired[list[Host]]
    instructions: NotRequired[list[InstructionSource]]
    error: NotRequired[str]
    damagedLines: NotRequired[int]


def views(rows: Sequence[models.Chat]) -> list[Chat]:
    """These chats, in this order; while the database is gone, only with what their rows hold."""
    turns, firings = database.unless_gone(lambda: _of_turns(rows), lambda: ({}, {}))
    return [_view(row, turns.get((row.project, row.id), []), firings.get(row.id)) for row in rows]


def _of_turns(
    rows: Sequence[models.Chat],
) -> tuple[dict[tuple[str, str], list[models.Turn]], dict[str, models.Turn]]:
    """Two maps: by project and chat its live turns and those whose end could not be written, and by
    chat the newest turn that a trigger fired."""
    turns: dict[tuple[str, str], list[models.Turn]] = {}
    ids = [row.id for row in rows]
    # No ORDER BY: the database would walk an index for it, past every turn that ended well.
    found = models.Turn.objects.filter(LIVE | UNWRITTEN, chat__in=ids, state__in=STATES).order_by()
    for turn in sorted(found, key=attrgetter("id")):
        turns.setdefault((turn.project, turn.chat), []).append(turn)
    fired = {row.id for row in rows if row.trigger}
    return turns, {turn.chat: turn for turn in _firings(fired)}


def view(row: models.Chat) -> Chat:
    """One chat, with what its turns reached and were instructed, which is too long for lists."""
    shown = views([row])[0]
    shown["allow"] = row.record.get("allow") or []
    shown["hosts"] = row.hosts or []
    shown["instructions"] = row.instructions or []
    return shown


def _firings(ids: set[str]) -> list[models.Turn]:
    """The newest fired turn of each of these chats; an old chat may have thousands."""
    if not ids:
        return []
    fired = models.Turn.objects.filter(chat=OuterRef("pk"), run__isnull=False).order_by("-id")
    first = Subquery(fired.values("id")[:1])
    newest = models.Chat.objects.filter(pk__in=ids).annotate(fired=first)
    found = models.Turn.objects.filter(id__in=newest.order_by().values("fired"))
    return list(found.select_related("run").only(*FIRED))


def _view(row: models.Chat, turns: list[models.Turn], firing: models.Turn | None) -> Chat:
    states = [turn.state for turn in turns]
    running = next((turn for turn in turns if turn.state in BUSY), None)
    record = row.record
    shown: Chat = {
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
        "waiting": retries.of(turns),
        "asked": questions.first(turns),
        "lastTurn": _last_turn(row, turns),
        "provenance": _provenance(record),
        "client": row.client or None,
        "trigger": _fired_by(row, firing) if row.trigger else None,
        "worktree": _worktree(row),
        "engine": record.get("engine"),
        "model": record.get("model"),
        "usage": spent.render_usage(row.usage),
        "cost": row.cost,
        "context": _context(row),
        "messages": row.messages,
        "permissionMode": record.get("permissionMode") or None,
    }
    if row.error:
        shown["error"] = row.error
    if row.damaged:
        shown["damagedLines"] = row.damaged
    return shown


def _worktree(row: models.Chat) -> Worktree | None:
    tree = place.of_file(row.id, row.record)
    return {"branch": tree.branch, "directory": str(tree.dir)} if tree else None


def _context(row: models.Chat) -> Context | None:
    """The chat's context; None if the chat now uses another engine, which has its own."""
    told = row.context or {}
    gone_on = row.record.get("engine") not in (None, told.get("engine"))
    return None if gone_on else spent.context({"context": told})


def _last_turn(row: models.Chat, turns: list[models.Turn]) -> LastTurn | None:
    """The last turn by the transcript, or by its row if its end could not be written there."""
    lost = next((turn for turn in turns[::-1] if turn.state == "failed" and turn.finished), None)
    told = _turn_summary(row.last_turn)
    if lost is None or lost.finished is None:
        return told
    finished = timestamp(lost.finished)
    if told and (told["finishedAt"] or "") > finished:
        return told
    return {"status": "failed", "reason": lost.reason, "finishedAt": finished, "model": None}


def _turn_summary(last: dict[str, Any] | None) -> LastTurn | None:
    keys = ("status", "reason", "finishedAt", "model")
    return cast("LastTurn", {key: last.get(key) for key in keys}) if last else None


def _turn(turn: models.Turn) -> RunningTurn:
    started = timestamp(turn.started) if turn.started else None
    return {"id": turn.id, "startedAt": started, "runId": turn.run_id}


def _provenance(record: dict[str, Any]) -> Provenance:
    parent = record.get("parent") or {}
    shown: Provenance = {
        "origin": record.get("origin", "human"),
        "depth": record.get("depth", 0),
    }
    if parent.get("sessionId"):
        shown["parentSessionId"] = parent["sessionId"]
        shown["parentProject"] = parent.get("project") or ""
    return shown


def _fired_by(row: models.Chat, turn: models.Turn | None) -> FiredBy:
    """The trigger that fired the chat; what is only in the ledger is null if that was lost."""
    run: models.Run | None = turn.run if turn else None
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
