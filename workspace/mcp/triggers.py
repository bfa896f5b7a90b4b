"""The trigger operations and their tool results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from config.mcp import brief
from config.mcp.arguments import truncate
from workspace.access.principals import Principal
from workspace.mcp.results import present
from workspace.projects import store
from workspace.triggers import commands, render

LISTED = 100
PROMPT_SHOWN = 120
_BRIEF = (
    "name", "type", "cron", "interval", "timezone", "event", "path", "prompt", "promptFile",
    "tools", "maxSpawnDepth", "permissionMode", "network", "model", "enabled", "status", "paused",
    "lastRunAt", "nextRunAt", "lastError", "warnings",
)  # fmt: skip


def list_triggers(
    principal: Principal,
    *,
    project: str,
    name: str | None = None,
    fields: Sequence[str] = (),
    limit: int = LISTED,
) -> dict[str, Any]:
    """All triggers of a project in brief, or the one called `name` with all fields."""
    seen, entries = commands.list_triggers(store.get(project))
    if name is None:
        page = seen[:limit]
    else:
        page = [one for one in seen if one.trigger.name == name]
        fields = fields or (brief.ALL,)

    def rows(*, legacy: bool) -> list[dict[str, Any]]:
        flat = [render.flat(one) for one in page if one.trigger.legacy == legacy]
        if not fields:
            flat = [row | {"prompt": truncate(row["prompt"] or "", PROMPT_SHOWN)} for row in flat]
        return brief.pick(flat, fields, _BRIEF, telling=("enabled", "maxSpawnDepth"))

    return {
        "project": project,
        "count": len(seen),
        "triggers": rows(legacy=False),
        "legacy": rows(legacy=True),
        "invalid": render.invalid(entries),
    }


def set_trigger(principal: Principal, *, project: str, name: str, **words: Any) -> dict[str, Any]:
    """Change some fields; `words` has only those that were given, null included."""
    saved = commands.set_trigger(store.get(project), name, words, principal=principal)
    flat = render.flat(saved.seen)
    result = {"set": True, "created": saved.created, "project": project, "trigger": flat}
    return present(result | {"warnings": flat["warnings"]}, "warnings")


def remove_trigger(principal: Principal, *, project: str, name: str) -> dict[str, Any]:
    found = store.get(project)
    removed = commands.remove(found, name)
    warnings = commands.removal_warnings(found, name) if removed else []
    result = {"removed": removed, "project": project, "name": name, "warnings": warnings}
    return present(result, "warnings")


def run_trigger(principal: Principal, *, project: str, name: str) -> dict[str, Any]:
    """Fire now; wait until the chat is made, at most 60 s."""
    outcome = commands.run(store.get(project), name, principal=principal)
    return {
        "ran": True,
        "project": outcome.run.project,
        "name": outcome.run.trigger,
        "sessionId": outcome.run.session_id,
        "runId": outcome.run.id,
        "state": outcome.state,
    }
