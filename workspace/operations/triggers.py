"""The trigger operations and their tool results (workspace.md 7.2, 7.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from config.kernel.mcp import brief
from config.kernel.mcp.arguments import truncate
from workspace import projects
from workspace.access.principals import Principal
from workspace.triggers import triggers
from workspace.triggers.entries.files import TriggerSet
from workspace.triggers.firing import Outcome
from workspace.triggers.triggers import Saved, Seen

LISTED = 100
PROMPT_SHOWN = 120
_BRIEF = (
    "name", "type", "cron", "interval", "timezone", "event", "path", "prompt", "promptFile",
    "tools", "maxSpawnDepth", "permissionMode", "network", "model", "enabled", "status", "paused",
    "lastRunAt", "nextRunAt", "lastError", "warnings",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TriggerList:
    """Every entry of one project: the usable ones as seen now, and the others."""

    project: str
    seen: list[Seen]
    entries: TriggerSet
    shown: list[Seen]  # the page of them
    fields: Sequence[str]


@dataclass(frozen=True, slots=True)
class Removed:
    project: str
    name: str
    removed: bool
    warnings: list[str]


def list_triggers(
    principal: Principal,
    *,
    project: str,
    name: str | None = None,
    fields: Sequence[str] = (),
    limit: int = LISTED,
) -> TriggerList:
    """All of a project; the one of that name is shown whole."""
    seen, entries = triggers.list_triggers(projects.get(project))
    if name is None:
        return TriggerList(project, seen, entries, seen[:limit], fields)
    named = [one for one in seen if one.trigger.name == name]
    return TriggerList(project, seen, entries, named, fields or (brief.ALL,))


def set_trigger(principal: Principal, *, project: str, name: str, **words: Any) -> Saved:
    """A partial change in flat words; `words` holds only what was given, null included."""
    return triggers.set_trigger(projects.get(project), name, words, principal=principal)


def remove_trigger(
    principal: Principal, *, project: str, name: str, if_match: str | None = None
) -> Removed:
    found = projects.get(project)
    removed = triggers.remove(found, name, if_match=if_match)
    return Removed(project, name, removed, triggers.uncovered(found, name) if removed else [])


def run_trigger(principal: Principal, *, project: str, name: str) -> Outcome:
    """Fire now; waits for the chat, at most 60 s."""
    return triggers.run(projects.get(project), name, principal=principal)


def listed(result: TriggerList) -> dict[str, Any]:
    return {
        "project": result.project,
        "count": len(result.seen),
        "triggers": _rows(result, legacy=False),
        "legacy": _rows(result, legacy=True),
        "invalid": invalid(result.entries),
    }


def _rows(result: TriggerList, *, legacy: bool) -> list[dict[str, Any]]:
    rows = [triggers.flat(seen) for seen in result.shown if seen.trigger.legacy == legacy]
    if not result.fields:
        rows = [row | {"prompt": truncate(row["prompt"] or "", PROMPT_SHOWN)} for row in rows]
    return brief.picked(rows, result.fields, _BRIEF, telling=("enabled", "maxSpawnDepth"))


def invalid(entries: TriggerSet) -> list[dict[str, Any]]:
    """Hand-written entries that cannot be used, with their lines."""
    return [
        {"name": entry.name, "error": entry.error, "line": entry.line} for entry in entries.invalid
    ]


def was_set(saved: Saved) -> dict[str, Any]:
    flat = triggers.flat(saved.seen)
    result = {
        "set": True,
        "created": saved.created,
        "project": saved.seen.project.slug,
        "trigger": flat,
    }
    return result | ({"warnings": flat["warnings"]} if flat["warnings"] else {})


def was_removed(result: Removed) -> dict[str, Any]:
    answer = {"removed": result.removed, "project": result.project, "name": result.name}
    return answer | ({"warnings": result.warnings} if result.warnings else {})


def was_run(outcome: Outcome) -> dict[str, Any]:
    return {
        "ran": True,
        "project": outcome.run.project,
        "name": outcome.run.trigger,
        "sessionId": outcome.run.session_id,
        "runId": outcome.run.id,
        "state": outcome.state,
    }
