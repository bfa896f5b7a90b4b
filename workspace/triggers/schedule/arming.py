"""Arming: bringing the rows that say which trigger is due when in line with project.yaml.

Called by the save that changed a trigger, and by the ticker for hand edits. The file is read inside
the transaction, so the last one to commit has seen the newest file. The rules:
docs/design/workspace.md#arming-and-the-grid.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction

from config.errors import NotFound
from config.process import wakeup
from config.storage import database, homes
from workspace.chats.turns import delivery
from workspace.models import InvalidEntry, TriggerState
from workspace.projects import store
from workspace.projects.project import Project
from workspace.triggers import runs
from workspace.triggers.entries import files
from workspace.triggers.entries.files import TriggerSet
from workspace.triggers.entries.schema import Schedule, Trigger, agent_name
from workspace.triggers.schedule import clock

log = logging.getLogger(__name__)

BELL = delivery.TICKER
STEP = timedelta(hours=2)  # a clock that is set back by less leaves every grid as it was
_COLUMNS = (
    "legacy", "type", "enabled", "when", "armed_at", "next_at", "catch_up", "last_error",
    "agent_name", "home",
)  # fmt: skip


def sync(slug: str, *, now: datetime) -> TriggerSet:
    """Arm, re-arm and disarm the triggers of one project. Returns the entries of its file.

    Raises SlugTaken, and changes nothing, if another home has the project.
    """
    _current(slug)  # waits for a half-written file while no one waits for the database
    with transaction.atomic():
        database.alone("arming", slug)
        project = _current(slug)
        entries = files.read(project) if project else TriggerSet()
        stored = TriggerState.objects.select_for_update().filter(project=slug)
        rows = {row.name: row for row in (stored if project else stored.filter(homes.mine()))}
        if project is not None and project.error:
            _suspend(rows, project)
        else:
            _reconcile(slug, rows, entries, now)
            if project is not None or store.away(slug) is None:
                _record_invalid(slug, entries)
    wakeup.wake(BELL)
    return entries


def _current(slug: str) -> Project | None:
    """The project; None if its directory is gone, also if it lives in another home since."""
    try:
        return store.get(slug)
    except store.SlugTaken:
        raise
    except NotFound:
        return None


def _suspend(rows: Mapping[str, TriggerState], project: Project) -> None:
    """Disarm the triggers of an unreadable file; grids are kept until it can be read again."""
    for row in rows.values():
        if row.next_at is not None:
            row.next_at = None
            row.last_error = f"project.yaml {project.trouble}"[:500]
            row.save(update_fields=["next_at", "last_error"])


def _reconcile(
    slug: str, rows: Mapping[str, TriggerState], entries: TriggerSet, now: datetime
) -> None:
    wanted = {trigger.name: trigger for trigger in entries.usable}
    for name, trigger in wanted.items():
        row = rows.get(name) or TriggerState(project=slug, name=name)
        before = _columns(row)
        _arm(row, trigger, now)
        if row.pk is None or _columns(row) != before:
            row.save()
    broken = {entry.name: entry for entry in entries.invalid}
    for name in rows.keys() - wanted.keys():
        if name in broken:
            _disarm(rows[name], broken[name].error)
        else:
            rows[name].delete()
            runs.cancel_queued(slug, name)


def _columns(row: TriggerState) -> tuple[object, ...]:
    return tuple(getattr(row, column) for column in _COLUMNS)


def _arm(row: TriggerState, trigger: Trigger, now: datetime) -> None:
    """A changed WHEN or zone, or a newly enabled trigger, starts a grid at `now`; others stay."""
    fresh = not row.enabled or row.when != trigger.armed or row.type != trigger.type
    row.legacy, row.type = trigger.legacy, trigger.type
    row.enabled, row.when = trigger.enabled, trigger.armed
    row.catch_up, row.agent_name = trigger.catch_up, agent_name(row.project, trigger.name)
    row.home = homes.home()
    if not (trigger.enabled and isinstance(trigger.when, Schedule)):
        row.armed_at = row.next_at = None
    elif fresh:
        row.armed_at, row.last_error = _whole_ms(now), ""
        row.next_at = clock.next_time(row.when, armed_at=row.armed_at, after=row.armed_at)
    elif row.armed_at is not None:
        _go_on(row, row.armed_at, now)


def _go_on(row: TriggerState, armed_at: datetime, now: datetime) -> None:
    """Keep the grid. The next time is computed again if the file could not be read, or if it is too
    far ahead, as the clock was ahead when it was claimed; what has fired is not fired again. A grid
    that begins more than STEP ahead begins at `now` instead."""
    if armed_at > now + STEP:
        armed_at = _whole_ms(now)
    following = clock.next_time(row.when, armed_at=armed_at, after=max(now, armed_at))
    if row.next_at is None:
        row.last_error = ""
    if row.next_at is None or row.next_at > following:
        row.armed_at, row.next_at = armed_at, following


def _whole_ms(moment: datetime) -> datetime:
    """The moment in whole milliseconds, because that is what clients see."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _disarm(row: TriggerState, reason: str) -> None:
    if row.enabled or row.next_at is not None:
        row.enabled, row.armed_at, row.next_at, row.last_error = False, None, None, reason[:500]
        row.save()


def _record_invalid(slug: str, entries: TriggerSet) -> None:
    """Keep the table of invalid entries. Each is logged once, even if its line changes."""
    stored = InvalidEntry.objects.filter(project=slug)
    known = set(stored.values_list("name", "error", "line"))
    found = {(entry.name, entry.error, entry.line) for entry in entries.invalid}
    if known == found:
        return
    stored.delete()
    InvalidEntry.objects.bulk_create(
        InvalidEntry(project=slug, name=name, error=error, line=line)
        for name, error, line in sorted(found, key=lambda entry: entry[2])
    )
    said = {(name, error) for name, error, _ in known}
    for name, error, line in sorted(entry for entry in found if entry[:2] not in said):
        log.warning("trigger %s/%s: invalid, not armed: %s (line %d)", slug, name, error, line)
