"""The trigger entries of project.yaml: read as they are now, changed one entry at a time.

A hand-written entry that cannot be used is reported and left alone (workspace.md 8.1); a write
keeps every byte outside its entry, and the unknown keys inside it (workspace.md 2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from config.kernel.errors import Problem
from config.kernel.storage import yamlio
from workspace import projects
from workspace.project import Project
from workspace.triggers import pausing
from workspace.triggers.entries import legacy, validate
from workspace.triggers.entries.schema import InvalidEntry, Trigger, stored

TRIGGERS, SCHEDULES = "triggers", "schedules"
_WHEN_KEYS = ("type", "cron", "interval", "catchUp", "on", "path")


@dataclass(frozen=True, slots=True)
class TriggerSet:
    """Every entry of one project, in file order."""

    triggers: Mapping[str, Trigger] = field(default_factory=dict)
    legacy: Mapping[str, Trigger] = field(default_factory=dict)
    invalid: tuple[InvalidEntry, ...] = ()
    paused: bool = False

    def find(self, name: str) -> Trigger | None:
        return self.triggers.get(name) or self.legacy.get(name)

    def broken(self, name: str) -> InvalidEntry | None:
        return next((entry for entry in self.invalid if entry.name == name), None)

    @property
    def usable(self) -> list[Trigger]:
        return [*self.triggers.values(), *self.legacy.values()]

    @property
    def curator(self) -> Trigger | None:
        """The one afterTurn trigger that is used: `curate-overview`, else the first enabled."""
        enabled = [one for one in self.triggers.values() if one.curates and one.enabled]
        named = [one for one in enabled if one.name == "curate-overview"]
        return next(iter(named or enabled), None)


Reader = Callable[[str, Any], tuple[Trigger | None, list[Problem]]]


def read(project: Project) -> TriggerSet:
    """The entries of the file as it is now, or was when it last could be read."""
    return parse(project.data, project.document)


def parse(data: Mapping[str, Any], document: yamlio.Document | None) -> TriggerSet:
    triggers, bad_triggers = _section(data, document, TRIGGERS, _modern)
    schedules, bad_schedules = _section(data, document, SCHEDULES, legacy.read)
    shadowed = [
        InvalidEntry(name, "name: a trigger of the same name is used instead", one.line or 0, True)
        for name, one in schedules.items()
        if name in triggers
    ]
    return TriggerSet(
        triggers,
        {name: one for name, one in schedules.items() if name not in triggers},
        (*bad_triggers, *(replace(one, legacy=True) for one in bad_schedules), *shadowed),
        pausing.of_data(data) is not None,
    )


def _modern(name: str, body: Any) -> tuple[Trigger | None, list[Problem]]:
    trigger, findings = validate.read(name, body, kept="kept without effect")
    return trigger, findings.problems


def _section(
    data: Mapping[str, Any], document: yamlio.Document | None, key: str, reader: Reader
) -> tuple[dict[str, Trigger], list[InvalidEntry]]:
    """One of the two maps: the usable entries by name, and the others."""
    entries = data.get(key)
    if entries is None:
        return {}, []
    if not isinstance(entries, Mapping):
        return {}, [InvalidEntry(key, f"{key}: must be a mapping of names", _line(document, key))]
    good: dict[str, Trigger] = {}
    bad: list[InvalidEntry] = []
    for name, body in entries.items():
        trigger, problems = reader(str(name), body)
        line = _line(document, key, name)
        if trigger is not None:
            good[str(name)] = replace(trigger, line=line)
        else:
            text = "; ".join(str(problem) for problem in problems)
            bad.append(InvalidEntry(str(name)[:200], text, line))
    return good, bad


def _line(document: yamlio.Document | None, *path: Any) -> int:
    return (document.line(*path) if document else None) or 0


def save(project: Project, name: str, make: Callable[[TriggerSet], Trigger]) -> None:
    """Write the entry `make` returns; it sees the file as it is at the moment of writing."""

    def edit(data: bytes) -> bytes:
        document = yamlio.parse(data)
        value = _mapping(document.value)
        entry = stored(make(parse(value, document)))
        if isinstance(_mapping(value.get(TRIGGERS)).get(name), Mapping):
            return yamlio.merge_entry(data, (TRIGGERS, name), _patch(entry))
        return yamlio.set_entry(data, (TRIGGERS, name), entry)

    projects.edit_file(project, edit)


def remove(project: Project, name: str, check: Callable[[TriggerSet], None]) -> bool:
    """Take the entry out of both maps; False when there was none. `check` may refuse."""
    removed = False

    def edit(data: bytes) -> bytes:
        nonlocal removed
        document = yamlio.parse(data)
        value = _mapping(document.value)
        check(parse(value, document))
        sections = [key for key in (TRIGGERS, SCHEDULES) if name in _mapping(value.get(key))]
        removed = bool(sections)
        for key in sections:
            data = yamlio.remove_entry(data, (key, name))
        return data

    projects.edit_file(project, edit)
    return removed


def move(project: Project, name: str, make: Callable[[TriggerSet], Trigger]) -> None:
    """Turn an entry of `schedules` into one of `triggers`, in one write."""

    def edit(data: bytes) -> bytes:
        document = yamlio.parse(data)
        entry = stored(make(parse(_mapping(document.value), document)))
        data = yamlio.remove_entry(data, (SCHEDULES, name))
        return yamlio.set_entry(data, (TRIGGERS, name), entry)

    projects.edit_file(project, edit)


def _patch(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Says of every key we know what it is now, None when it goes; unknown ones are not named."""
    when, run = entry["trigger"], entry["run"]
    return {
        "trigger": {key: when.get(key) for key in _WHEN_KEYS},
        "run": {key: run.get(key) for key in validate.RUN_KEYS},
        "enabled": entry["enabled"],
    }


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
