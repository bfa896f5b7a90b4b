"""set_trigger: a partial edit in flat words becomes a full record.

Pure: takes the entry as it is now and the words given, returns the record to validate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config.errors import Invalid, Problem
from workspace.triggers.entries.schema import Trigger, record

_WHEN = {"cron": "cron", "interval": "interval", "event": "on", "path": "path"}
_OWNER = {"cron": "schedule", "interval": "schedule", "event": "event", "path": "webhook"}
_CLEARABLE = {
    "model": "model",
    "permission_mode": "permissionMode",
    "network": "network",
    "max_turns": "maxTurns",
    "max_spawn_depth": "maxSpawnDepth",
    "overlap": "overlap",
    "on_ask": "onAsk",
}
_KEPT = {
    "prompt": "prompt",
    "prompt_file": "promptFile",
    "session": "session",
    "tools": "tools",
    "debounce": "debounce",
    "match": "match",
}
_ARGUMENTS = {
    "trigger.on": "event",
    "trigger.catchUp": "catch_up",
    "run.promptFile": "prompt_file",
    "run.permissionMode": "permission_mode",
    "run.maxTurns": "max_turns",
    "run.onAsk": "on_ask",
    "run.maxSpawnDepth": "max_spawn_depth",
    "trigger": "cron",
    "run": "prompt",
}


def apply(name: str, existing: Trigger | None, words: Mapping[str, Any]) -> dict[str, Any]:
    """The full record after the edit. Words that are absent change nothing; null clears."""
    before: dict[str, Any] = {"trigger": {}, "run": {}, "enabled": False}
    before |= {**record(existing)} if existing else {}
    enabled = words.get("enabled")
    return {
        "trigger": _when(name, existing, before["trigger"], words),
        "run": _run(before["run"], words),
        "enabled": before["enabled"] if enabled is None else enabled,
    }


def _when(
    name: str, existing: Trigger | None, before: dict[str, Any], words: Mapping[str, Any]
) -> dict[str, Any]:
    given = [word for word in _WHEN if words.get(word) is not None]
    kind = words.get("type") or (existing.type if existing else None)
    if existing and words.get("type") is None:
        _refuse_other_type(name, existing, given)
    if kind is None and given:
        kind = _OWNER[given[0]]
    same = existing is not None and kind == existing.type
    when = dict(before) if same else {"type": kind}
    if {"cron", "interval"} & set(given):
        when.pop("cron", None)
        when.pop("interval", None)
    if words.get("interval") is not None:
        when.pop("timezone", None)
    when |= {_WHEN[word]: words[word] for word in given}
    if "catch_up" in words:
        when["catchUp"] = words["catch_up"]
    if "timezone" in words:
        when["timezone"] = words["timezone"]
    return {key: value for key, value in when.items() if value is not None or key == "type"}


def _refuse_other_type(name: str, existing: Trigger, given: list[str]) -> None:
    for word in given:
        if _OWNER[word] != existing.type:
            kind = f"{'an' if existing.type == 'event' else 'a'} {existing.type}"
            raise Invalid(
                f'`{word}` given, but "{name}" is {kind} trigger; '
                f'pass type "{_OWNER[word]}" to change it.'
            )


def _run(before: dict[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    run = dict(before)
    if words.get("prompt") is not None:
        run.pop("promptFile", None)
    if words.get("prompt_file") is not None:
        run.pop("prompt", None)
    given = {key: words[word] for word, key in _KEPT.items() if words.get(word) is not None}
    cleared = {key: words[word] for word, key in _CLEARABLE.items() if word in words}
    run |= given | cleared
    return {key: value for key, value in run.items() if value is not None}


def as_arguments(problems: list[Problem]) -> list[Problem]:
    """The same problems, worded with the tool's arguments instead of the file's keys."""
    return [_as_argument(problem) for problem in problems]


def _as_argument(problem: Problem) -> Problem:
    word = _ARGUMENTS.get(problem.field, problem.field.rpartition(".")[2])
    reason = problem.reason.replace("promptFile", "prompt_file").replace("run.session", "session")
    example = problem.example and problem.example.replace("promptFile", "prompt_file")
    return replace(problem, field=word, reason=reason, example=example)
