"""The older top-level `schedules` map: read as triggers, with its own field names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.errors import Problem
from config.storage import yamlio
from workspace.triggers.entries import validate
from workspace.triggers.entries.schema import Trigger

KEYS = (
    "type", "cron", "interval", "timezone", "prompt", "promptFile", "resume_session", "enabled",
)  # fmt: skip
KEPT = "kept without effect"
EXAMPLES = {"cron": "0 9 * * 1-5", "interval": "30m"}


def read(name: str, body: Any) -> tuple[Trigger | None, list[Problem]]:
    """A schedule as the trigger that acts like it; without `enabled` it is off, with a warning."""
    if not isinstance(body, Mapping):
        return None, [Problem("schedule", "must be a mapping with a type", 'type "cron"')]
    found = [*_problems(body)]
    trigger, findings = validate.read(name, _record(body), kept=KEPT)
    found += [
        replace(problem, field=problem.field.rpartition(".")[2])
        for problem in findings.problems
        if problem.field != "trigger"  # _problems says it better
    ]
    if trigger is None or found:
        return None, found
    warnings = [f"{key}: unknown key, {KEPT}" for key in body if key not in KEYS]
    if "enabled" not in body:
        warnings.append("enabled: absent, so the schedule is off")
    return replace(trigger, legacy=True, warnings=(*warnings, *trigger.warnings)), []


def _problems(body: Mapping[str, Any]) -> list[Problem]:
    if yamlio.MERGE in body:
        return [Problem(yamlio.MERGE, "must name a mapping, or a list of them, to mix in")]
    kind, other = body.get("type"), {"cron": "interval", "interval": "cron"}
    if kind not in other:
        return [Problem("type", f"{validate.describe_value(kind)} is not one of cron, interval")]
    found = []
    if body.get(kind) is None or body.get(other[kind]) is not None:
        needed = f"type {kind} needs {kind} and no {other[kind]}"
        found.append(Problem(kind, needed, f'{kind} "{EXAMPLES[kind]}"'))
    if not isinstance(body.get("resume_session", False), bool):
        found.append(Problem("resume_session", "must be true or false"))
    return found


def _record(body: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a trigger that is equal to the schedule."""
    when = {key: body[key] for key in ("cron", "interval", "timezone") if key in body}
    run = {key: body[key] for key in ("prompt", "promptFile") if key in body}
    if body.get("resume_session") is True:
        run["session"] = "resume"
    record: dict[str, Any] = {"trigger": {"type": "schedule", **when}, "run": run}
    return record | {key: body[key] for key in ("enabled",) if key in body}
