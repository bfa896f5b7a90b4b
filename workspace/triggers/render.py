# ruff: noqa: N815 - the names are the JSON keys of the API
"""Triggers, their runs and what holds them, as clients read them: over REST and as tool results."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast, get_args

from config.logs import timestamp
from workspace import models
from workspace.chats.spent import Usage
from workspace.projects.project import Project
from workspace.triggers import board, pausing
from workspace.triggers.board import Board
from workspace.triggers.commands import KnownTrigger
from workspace.triggers.entries.files import TriggerSet
from workspace.triggers.entries.schema import TriggerBody, agent_name, record

Kind = Literal["trigger", "legacy", "curation"]
Cause = Literal["cron", "interval", "event", "catch-up", "manual", "api"]
Status = Literal[
    "queued", "running", "completed", "failed", "cancelled", "interrupted", "skipped"
]  # fmt: skip
CAUSES, STATUSES = get_args(Cause), get_args(Status)


class Run(TypedDict):
    id: str
    project: str
    trigger: str | None
    triggerType: str | None
    kind: Kind
    cause: Cause
    actor: dict[str, Any]
    client: str | None
    event: dict[str, Any] | None
    scheduledFor: str | None
    queuedAt: str
    startedAt: str | None
    finishedAt: str | None
    durationSeconds: float | None
    status: Status
    reason: str | None
    sessionId: str | None
    chatDeleted: NotRequired[bool]
    agentName: str | None
    engine: str | None
    model: str | None
    turns: int | None
    tools: list[dict[str, Any]] | None
    usage: Usage | None
    costUsd: float | None
    summary: str | None
    missed: int | None
    skips: int | None
    lastScheduledFor: str | None


class Pause(TypedDict):
    """What holds triggers back; `since` is null if no time was written."""

    by: Literal["project", "instance", "status", "folder", "file"]
    since: str | None
    status: NotRequired[str]


class Runtime(TypedDict):
    name: str
    type: str
    enabled: bool
    running: bool
    queued: int
    nextRunAt: str | None
    nextRuns: list[str]
    timezone: Annotated[str | None, "in which a schedule is read"]
    scheduleStatus: str | None
    lastError: str | None
    lastRun: Run | None
    paused: Pause | None
    legacy: NotRequired[bool]


class Trigger(TriggerBody):
    name: str
    agentName: str
    legacy: NotRequired[bool]
    warnings: NotRequired[list[str]]
    runtime: Runtime


class InvalidEntry(TypedDict):
    """A hand-written entry that cannot be used."""

    name: str
    error: str
    line: int


def run(row: models.Run) -> Run:
    return {
        "id": row.id,
        "project": row.project,
        "trigger": row.trigger or None,
        "triggerType": row.trigger_type,
        "kind": cast("Kind", row.kind),
        "cause": cast("Cause", row.cause),
        "actor": row.actor,
        "client": row.client or None,
        "event": _event(row),
        "scheduledFor": _stamp(row.scheduled_for),
        "queuedAt": timestamp(row.queued_at),
        "startedAt": _stamp(row.started_at),
        "finishedAt": _stamp(row.finished_at),
        "durationSeconds": _duration(row),
        "status": cast("Status", row.status),
        "reason": row.reason or None,
        "sessionId": row.session_id or None,
        "agentName": row.agent_name or None,
        "engine": row.engine or None,
        "model": row.model or None,
        "turns": row.turns,
        "tools": row.tools,
        "usage": row.usage,
        "costUsd": row.cost_usd,
        "summary": row.summary or None,
        "missed": row.missed,
        "skips": row.skips,
        "lastScheduledFor": _stamp(row.last_scheduled_for),
    }


def _stamp(moment: datetime | None) -> str | None:
    return timestamp(moment) if moment else None


def _event(row: models.Run) -> dict[str, Any] | None:
    """What happened to which chat, or what was gathered; without the chat's name, which is kept
    only for the first message."""
    shown = ("type", "sessionId", "happenings", "more")
    return {key: row.event[key] for key in shown if key in row.event} if row.event else None


def _duration(row: models.Run) -> float | None:
    if row.started_at is None or row.finished_at is None:
        return None
    return round(max(0.0, (row.finished_at - row.started_at).total_seconds()), 3)


def pause(found: pausing.Pause | None) -> Pause | None:
    if found is None:
        return None
    shown = Pause(by=found.by, since=found.since)
    if found.status:
        shown["status"] = found.status
    return shown


def runtimes(project: Project, paused: pausing.Pause | None) -> list[Runtime]:
    """Every usable trigger of the project, legacy schedules last."""
    rows = board.read(project.slug, paused, str(project.effective("timezone")))
    invalid = models.InvalidEntry.objects.filter(project=project.slug)
    unusable = set(invalid.values_list("name", flat=True))
    return [
        _runtime(rows, state.name, state.type, legacy=state.legacy)
        for state in sorted(rows.states.values(), key=lambda one: (one.legacy, one.name))
        if state.name not in unusable or state.enabled
    ]


def _runtime(rows: Board, name: str, type_: str, *, legacy: bool) -> Runtime:
    """One trigger; one without a row is shown as never armed."""
    state = rows.states.get(name) or models.TriggerState(name=name, type=type_)
    last, scheduled = rows.last.get(name), type_ == "schedule"
    entry: Runtime = {
        "name": name,
        "type": type_,
        "enabled": state.enabled,
        "running": name in rows.running,
        "queued": rows.queued.get(name, 0),
        "nextRunAt": None if rows.paused else _stamp(state.next_at),
        "nextRuns": [] if rows.paused else board.next_runs(state),
        "timezone": rows.zone_of(state) if scheduled else None,
        "scheduleStatus": rows.status(name, type_) if scheduled else None,
        "lastError": state.last_error or None,
        "lastRun": run(last) if last else None,
        "paused": pause(rows.paused),
    }
    if legacy:
        entry["legacy"] = True
    return entry


def trigger(seen: KnownTrigger) -> Trigger:
    """The record with its defaults filled in, and the state of the trigger."""
    found, warnings = seen.trigger, seen.warnings
    whole = record(found)
    shown: Trigger = {
        "name": found.name,
        "agentName": agent_name(seen.project.slug, found.name),
        "trigger": whole["trigger"],
        "run": whole["run"],
        "enabled": found.enabled,
        "runtime": _runtime(seen.board, found.name, found.type, legacy=found.legacy),
    }
    if found.clients:
        shown["clients"] = [*found.clients]
    if found.legacy:
        shown["legacy"] = True
    if warnings:
        shown["warnings"] = warnings
    return shown


def flat(seen: KnownTrigger) -> dict[str, Any]:
    """The trigger in the flat form of the MCP tools, with nulls."""
    shown, found = trigger(seen), seen.trigger
    when, what, entry = shown["trigger"], shown["run"], shown["runtime"]
    last = entry["lastRun"]
    return {
        "name": found.name,
        "agentName": shown["agentName"],
        "type": found.type,
        "cron": when.get("cron"),
        "interval": when.get("interval"),
        "event": when.get("on"),
        "path": when.get("path"),
        "prompt": what.get("prompt"),
        "promptFile": what.get("promptFile"),
        "session": what["session"],
        "tools": what["tools"],
        "maxSpawnDepth": what.get("maxSpawnDepth"),
        "permissionMode": what.get("permissionMode"),
        "model": what.get("model"),
        "maxTurns": what.get("maxTurns"),
        "enabled": found.enabled,
        "status": seen.board.status(found.name, found.type),
        "lastRunAt": (last["startedAt"] or last["queuedAt"]) if last else None,
        "nextRunAt": entry["nextRunAt"],
        "lastError": entry["lastError"],
        "overlap": what.get("overlap"),
        "catchUp": when.get("catchUp"),
        "onAsk": what.get("onAsk"),
        "network": what.get("network"),
        "debounce": what.get("debounce"),
        "match": what.get("match"),
        "timezone": when.get("timezone"),
        "nextRuns": entry["nextRuns"],
        "nextRunsTimezone": entry["timezone"],
        "lastRun": last,
        "warnings": shown.get("warnings", []),
        **({"paused": entry["paused"]} if entry["paused"] else {}),
        **({"legacy": True} if found.legacy else {}),
    }


def invalid(entries: TriggerSet) -> list[InvalidEntry]:
    """Hand-written entries that cannot be used, with their lines."""
    return [{"name": one.name, "error": one.error, "line": one.line} for one in entries.invalid]
