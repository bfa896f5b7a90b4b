"""The trigger entries of project.yaml: read as they are now, changed one entry at a time.

An unusable hand-written entry is reported and left alone. A write keeps every byte outside its
entry, and the unknown keys inside it: docs/design/workspace.md#writes-splice-text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from config import zones
from config.errors import Problem
from config.storage import yamlio
from workspace.projects import schema, store
from workspace.projects.project import Project, default_zone
from workspace.triggers import pausing
from workspace.triggers.entries import legacy, validate
from workspace.triggers.entries.schema import InvalidEntry, Trigger, stored_record

PLACE = ("path", "repo")  # the keys that say where the project works
TRIGGERS, SCHEDULES = "triggers", "schedules"
_WHEN_KEYS = ("type", "cron", "interval", "catchUp", "timezone", "on", "path")


@dataclass(frozen=True, slots=True)
class TriggerSet:
    """Every entry of one project, in file order."""

    triggers: Mapping[str, Trigger] = field(default_factory=dict)
    legacy: Mapping[str, Trigger] = field(default_factory=dict)
    invalid: tuple[InvalidEntry, ...] = ()
    held: str = ""  # why the triggers do not fire by themselves, by the file
    zone: str = ""  # of a cron that names none; "" if the project names an unknown one
    place: Mapping[str, Any] = field(default_factory=dict)  # what it says about where it works

    @property
    def holds(self) -> str:
        """Why nothing fires by itself now: the file says so, or the working directory is gone."""
        gone = None if self.held else pausing.of_place(self.place)
        return gone.reason if gone else self.held

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
    """The entries of the file as it is now, or as it was when it could last be read."""
    return parse(project.data, project.document)


def parse(data: Mapping[str, Any], document: yamlio.Document | None) -> TriggerSet:
    zone, problem = _zone(data)

    def with_zone(read: Reader) -> Reader:
        def reader(name: str, body: Any) -> tuple[Trigger | None, list[Problem]]:
            trigger, problems = read(name, body)
            if trigger is None:
                return None, problems
            if problem and trigger.needs_zone:
                return None, [problem]
            return replace(trigger, zone=trigger.when.timezone or zone), problems

        return reader

    triggers, bad_triggers = _section(data, document, TRIGGERS, with_zone(_modern))
    schedules, bad_schedules = _section(data, document, SCHEDULES, with_zone(legacy.read))
    shadowed = [
        InvalidEntry(name, "name: a trigger of the same name is used instead", one.line or 0, True)
        for name, one in schedules.items()
        if name in triggers
    ]
    return TriggerSet(
        triggers,
        {name: one for name, one in schedules.items() if name not in triggers},
        (*bad_triggers, *(replace(one, legacy=True) for one in bad_schedules), *shadowed),
        held.reason if (held := pausing.of_file(data)) else "",
        zone,
        {key: data[key] for key in PLACE if key in data},
    )


def _zone(data: Mapping[str, Any]) -> tuple[str, Problem | None]:
    """The time zone of the project; if it names an unknown one, "" and the problem."""
    value = data.get("timezone")
    try:
        return (default_zone() if value is None else schema.timezone(value)), None
    except schema.Unfit as error:
        return "", Problem("timezone", f"{error}; it is that of the project", zones.EXAMPLE)


def _modern(name: str, body: Any) -> tuple[Trigger | None, list[Problem]]:
    trigger, findings = validate.read(name, body, kept="kept without effect")
    return trigger, findings.problems


def _section(
    data: Mapping[str, Any], document: yamlio.Document | None, key: str, reader: Reader
) -> tuple[dict[str, Trigger], list[InvalidEntry]]:
    """One of the two maps: its usable entries by name, and its invalid entries."""
    entries = data.get(key)
    if entries is None:
        return {}, []
    if not isinstance(entries, Mapping):
        return {}, [InvalidEntry(key, f"{key}: must be a mapping of names", _line(document, key))]
    good: dict[str, Trigger] = {}
    bad: list[InvalidEntry] = []
    for name, body in entries.items():
        trigger, problems = reader(str(name), body)
        line = _line(document, key, name) or _line(document, key)
        if trigger is not None:
            good[str(name)] = replace(trigger, line=line)
        else:
            text = "; ".join(str(problem) for problem in problems)
            bad.append(InvalidEntry(str(name)[:200], text, line))
    return good, bad


def _line(document: yamlio.Document | None, *path: Any) -> int:
    return (document.line(*path) if document else None) or 0


def save(project: Project, name: str, make: Callable[[TriggerSet], Trigger]) -> None:
    """Write the entry that `make` returns; it gets the entries as they are at that moment."""

    def edit(data: bytes) -> bytes:
        document = yamlio.parse(data)
        entry = stored_record(make(_parse_document(document)))
        if isinstance(_own_section(document, TRIGGERS).get(name), Mapping):
            return yamlio.merge_entry(data, (TRIGGERS, name), _patch(entry))
        return yamlio.set_entry(data, (TRIGGERS, name), entry)

    store.edit_file(project, edit)


def remove(project: Project, name: str, check: Callable[[TriggerSet], None]) -> bool:
    """Remove one entry, the one in `triggers` if both maps have the name; False if there was none.
    `check` may raise to refuse."""
    removed = False

    def edit(data: bytes) -> bytes:
        nonlocal removed
        document = yamlio.parse(data)
        check(_parse_document(document))
        held = _mapping(document.merged_value())
        sections = (key for key in (TRIGGERS, SCHEDULES) if name in _mapping(held.get(key)))
        section = next(sections, None)
        removed = section is not None
        return _without(data, section, name) if section else data

    store.edit_file(project, edit)
    return removed


def move(project: Project, name: str, make: Callable[[TriggerSet], Trigger]) -> tuple[str, ...]:
    """Turn an entry of `schedules` into one of `triggers`, in one write, with its unknown keys and
    its comments, which are then above it. Returns a warning for each key that is not kept."""
    gone: tuple[str, ...] = ()

    def edit(data: bytes) -> bytes:
        nonlocal gone
        document = yamlio.parse(data)
        entry = stored_record(make(_parse_document(document)))
        body = _mapping(_own_section(document, SCHEDULES).get(name))
        unknown = {key: body[key] for key in body if key not in legacy.KEYS}
        taken = [key for key in unknown if key in validate.KEYS]
        gone = tuple(f"{key}: not kept, a trigger has a key of this name" for key in taken)
        kept = {key: value for key, value in unknown.items() if key not in taken}
        moved = yamlio.set_entry(data, (TRIGGERS, name), {**entry, **kept})
        moved = _without(yamlio.uncover(moved, (SCHEDULES, name)), SCHEDULES, name)
        if not _own_section(yamlio.parse(moved), SCHEDULES):
            moved = yamlio.remove_entry(moved, (SCHEDULES,))
        return yamlio.cover(moved, (TRIGGERS, name), yamlio.lost_comments(data, moved))

    store.edit_file(project, edit)
    return gone


def _parse_document(document: yamlio.Document) -> TriggerSet:
    return parse(_mapping(document.merged_value()), document)


def _own_section(document: yamlio.Document, section: str) -> Mapping[Any, Any]:
    """What the file says of a section itself, without what a merge key mixes in."""
    return _mapping(_mapping(document.value).get(section))


def _without(data: bytes, section: str, name: str) -> bytes:
    """The file without one entry; a `schedules` that becomes empty is removed as well."""
    document = yamlio.parse(data)
    if name not in _own_section(document, section):
        line = document.line(section) or 1
        raise yamlio.NotSpliceable(f'"{name}" is mixed in by a merge key', line, 1)
    data = yamlio.remove_entry(data, (section, name))
    left = yamlio.parse(data)
    entry = left.root.get(section)
    if section == SCHEDULES and entry and not entry[1].value:
        key, value = entry
        if "\n" not in left.text[key.end : value.start]:  # otherwise a comment is between them
            return yamlio.remove_entry(data, (section,))
    return data


def _patch(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every key we know, None for those to remove; unknown keys are not named."""
    when, run = entry["trigger"], entry["run"]
    return {
        "trigger": {key: when.get(key) for key in _WHEN_KEYS},
        "run": {key: run.get(key) for key in validate.RUN_KEYS},
        "enabled": entry["enabled"],
        "clients": entry.get("clients"),
    }


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
