"""Triggers as a noun: list, get, put, set, remove, run, convert.

Every change is one edit of project.yaml, followed by arming, so a reply already says when the
trigger fires next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from config import zones
from config.errors import (
    Conflict,
    Invalid,
    NotFound,
    Problem,
    Stale,
    Unavailable,
    Upstream,
    printable,
)
from workspace.access.principals import Principal
from workspace.models import Run
from workspace.projects import store
from workspace.projects.project import Project
from workspace.triggers import admission, board, bounding, firing, pausing
from workspace.triggers.board import Board
from workspace.triggers.entries import files, patch, preflight, prompts, validate
from workspace.triggers.entries.files import TriggerSet
from workspace.triggers.entries.schema import PROMPT_FOLDER, Trigger, record
from workspace.triggers.schedule import alive, arming, clock

NO_SCHEDULER = "no scheduler is running: start it with manage.py qcluster"
EXISTS = "Trigger already exists: {}"
_READ_ONLY = ("name", "agentName", "legacy", "warnings", "runtime")


@dataclass(frozen=True, slots=True)
class KnownTrigger:
    """A trigger with all that is known about it; render.py renders it for clients."""

    project: Project
    trigger: Trigger
    entries: TriggerSet
    board: Board
    extra: tuple[str, ...] = ()  # warnings of the request that saved it

    @property
    def warnings(self) -> list[str]:
        found = preflight.warnings(self.project, self.trigger, self.entries)
        return list(dict.fromkeys((*self.extra, *found, *self._backing_off())))

    def _backing_off(self) -> list[str]:
        trigger, state = self.trigger, self.board.states.get(self.trigger.name)
        if not (trigger.backs_off and state and state.enabled and state.last_error):
            return []
        if not admission.keeps_failing(self.project.slug, trigger.name):
            return []
        return [f"run.backoff: {admission.FAILING}; run it by hand once it is mended, or say false"]


@dataclass(frozen=True, slots=True)
class Saved:
    """The answer of put and set_trigger."""

    seen: KnownTrigger
    created: bool


def list_triggers(project: Project) -> tuple[list[KnownTrigger], TriggerSet]:
    """Every usable entry, legacy schedules last, and the set they come from."""
    entries, rows = files.read(project), _board(project)
    return [KnownTrigger(project, one, entries, rows) for one in entries.usable], entries


def get(project: Project, name: str) -> KnownTrigger:
    entries = files.read(project)
    return KnownTrigger(project, _find(entries, name), entries, _board(project))


def missing(entries: TriggerSet, name: str) -> NotFound:
    shown = printable(name)
    broken = entries.broken(name)
    if broken is None:
        return NotFound(f"No such trigger: {shown}")
    where = f"its entry in project.yaml line {broken.line} is invalid: {broken.error}"
    return NotFound(f"No such trigger: {shown} ({where})")


def _find(entries: TriggerSet, name: str) -> Trigger:
    trigger = entries.find(name)
    if trigger is None:
        raise missing(entries, name)
    return trigger


def put(
    project: Project,
    name: str,
    body: Mapping[str, Any],
    *,
    if_match: str | None = None,
    fresh: bool = False,
) -> Saved:
    """Create or replace a trigger by a full record, as people do; `clients` is dropped unless it is
    given. `fresh`: Conflict if the name exists."""
    given = {key: value for key, value in body.items() if key not in _READ_ONLY}
    trigger, findings = validate.read(name, given)
    if trigger is None:
        raise Invalid(findings.problems)
    created = False

    def make(entries: TriggerSet) -> Trigger:
        nonlocal created
        _refuse_legacy(entries, name)
        if fresh and (name in entries.triggers or entries.broken(name)):
            raise Conflict(EXISTS.format(name), code="exists")
        _match(entries, name, if_match)
        _refuse_without_zone(entries, trigger)
        created = name not in entries.triggers
        if refused := _refusal(project, trigger, entries):
            raise Invalid([refused])
        return trigger

    files.save(project, name, make)
    return _finish_save(project, name, created, trigger.warnings)


def set_trigger(
    project: Project, name: str, words: Mapping[str, Any], *, principal: Principal | None = None
) -> Saved:
    """Apply a partial edit in flat words; creates the trigger if it does not exist."""
    created = False
    warnings: tuple[str, ...] = ()

    def make(entries: TriggerSet) -> Trigger:
        nonlocal created, warnings
        _refuse_legacy(entries, name)
        existing = entries.triggers.get(name)
        _refuse_toggle_of_nothing(entries, name, words)
        trigger, findings = validate.read(name, patch.apply(name, existing, words))
        if trigger is None:
            raise Invalid(patch.as_arguments(findings.problems))
        _refuse_without_zone(entries, trigger)
        created, warnings = existing is None, trigger.warnings
        if refused := _refusal(project, trigger, entries):
            raise Invalid(patch.as_arguments([refused]))
        return bounding.restrict(trigger, existing, words, project=project, principal=principal)

    files.save(project, name, make)
    return _finish_save(project, name, created, warnings)


def _refusal(project: Project, trigger: Trigger, entries: TriggerSet) -> Problem | None:
    """Why the trigger is not saved: its engine can never run it. Switching it off is allowed."""
    before = entries.triggers.get(trigger.name)
    if before is not None and record(trigger) == record(before) | {"enabled": False}:
        return None
    return preflight.problem(project, trigger)


def _refuse_toggle_of_nothing(entries: TriggerSet, name: str, words: Mapping[str, Any]) -> None:
    if name in entries.triggers:
        return
    if entries.broken(name) is not None and words.get("type") is None:
        raise missing(entries, name)
    if not any(value is not None for word, value in words.items() if word != "enabled"):
        raise missing(entries, name)


def _refuse_legacy(entries: TriggerSet, name: str) -> None:
    if name in entries.legacy:
        raise Conflict(f'"{name}" is a legacy schedule; convert it first', code="legacy")


def _refuse_without_zone(entries: TriggerSet, trigger: Trigger) -> None:
    if trigger.needs_zone and not entries.zone:
        reason = "is required while the `timezone` of the project names no zone"
        raise Invalid([Problem("timezone", reason, zones.EXAMPLE)])


def _match(entries: TriggerSet, name: str, if_match: str | None) -> None:
    """If-Match on one trigger compares only that entry. Raises Stale."""
    if if_match is None:
        return
    current = entries.find(name)
    if current is None or if_match not in ("*", current.etag):
        raise Stale(f"trigger {name} has changed since; read it again")


def _finish_save(project: Project, name: str, created: bool, warnings: tuple[str, ...]) -> Saved:
    entries = arming.sync(project.slug, now=clock.Clock().now())
    fresh = store.get(project.slug)
    seen = KnownTrigger(fresh, _find(entries, name), entries, _board(fresh), warnings)
    return Saved(seen, created)


def remove(project: Project, name: str, *, if_match: str | None = None) -> bool:
    """Delete and disarm one entry, whichever map it is in; False when there was none."""
    found = store.writable(project.slug)
    entries = files.read(found)
    if entries.find(name) is None and entries.broken(name) is None:
        return False
    removed = files.remove(found, name, lambda now: _match(now, name, if_match))
    arming.sync(project.slug, now=clock.Clock().now())
    return removed


def removal_warnings(project: Project, name: str) -> list[str]:
    """A note about a legacy schedule that the removed trigger had hidden by its name, if any."""
    schedule = files.read(store.get(project.slug)).legacy.get(name)
    if schedule is None:
        return []
    state = "armed" if schedule.enabled else "off"
    return [f"schedules.{name}: this legacy schedule is used from now on, it is {state}"]


def run(project: Project, name: str, *, principal: Principal) -> firing.Outcome:
    """Fire now and wait for the chat. Raises NotStarted if the firing started none."""
    found = store.writable(project.slug)
    trigger = _find(files.read(found), name)
    firing.refuse_to_run(trigger)
    if not alive.scheduler_alive():
        raise Unavailable(NO_SCHEDULER)
    queued = firing.fire(
        project=found,
        trigger=trigger,
        cause="api" if principal.kind == "client" else "manual",
        actor=principal.actor(),
        client=principal.client,
        clients=principal.clients,
        spawn_cap=principal.spawn_cap,
        chain=principal.chain,
    )
    started = firing.start(queued.id)
    if not started.run.session_id:
        raise NotStarted(name, started.run)
    return started


class NotStarted(Upstream):
    """A firing that started no chat; REST and the MCP tool word it differently."""

    def __init__(self, name: str, run: Run) -> None:
        self.reason = run.reason or run.status
        self.name = name
        super().__init__(f"Trigger started no chat: {self.reason}", extra={"runId": run.id})

    @property
    def tool_text(self) -> str:
        return f'Trigger "{self.name}" started no chat: {self.reason}'


def convert(project: Project, name: str) -> KnownTrigger:
    """Move a legacy schedule to `triggers` with its prompt file; grid and armed state stay."""
    found = store.writable(project.slug)
    entries = files.read(found)
    if name in entries.triggers:
        raise Conflict(EXISTS.format(name), code="exists")
    if name not in entries.legacy:
        raise missing(entries, name)
    if not prompts.copy(entries.legacy[name], found.own_dir, PROMPT_FOLDER):
        file = entries.legacy[name].run.prompt_file
        raise Conflict(f"{PROMPT_FOLDER}/{file} exists and holds another text", code="exists")

    def make(now: TriggerSet) -> Trigger:
        if name not in now.legacy:
            raise missing(now, name)
        return replace(now.legacy[name], legacy=False)

    return _finish_save(project, name, False, files.move(found, name, make)).seen


def _board(project: Project) -> Board:
    return board.read(
        project.slug, pausing.for_display(project), str(project.effective("timezone"))
    )
