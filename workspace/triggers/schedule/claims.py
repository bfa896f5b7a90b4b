"""Claiming due triggers: one firing per trigger and nominal time, however many processes try.

A claim moves the row to its next time and stores the run in one transaction; the first to commit
has the claim. Only the trigger that cannot be evaluated is disarmed. See
docs/design/workspace.md#one-firing-per-nominal-time.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection, transaction

from config.storage import homes
from workspace.models import Run, TriggerState
from workspace.triggers import admission, firing
from workspace.triggers.entries.schema import Trigger
from workspace.triggers.schedule import clock
from workspace.triggers.schedule.clock import Decision

log = logging.getLogger(__name__)

BATCH = 100  # rows per transaction: enough to be cheap, few enough to be on time
Find = Callable[[str, str], Trigger | None]
Held = Callable[[str], str]  # why nothing of a project fires; "" if nothing holds it


@dataclass(slots=True)
class Claimed:
    """What one transaction claimed."""

    queued: list[Run] = field(default_factory=list)
    caught_up: int = 0
    stale: set[str] = field(default_factory=set)  # projects whose rows do not match their file
    rows: int = 0


def claim_due(*, now: datetime, serving_since: datetime, find: Find, held: Held) -> Claimed:
    """Claim what is due in this home at `now`, oldest first, at most BATCH rows. Call again while a
    full batch comes back."""
    with transaction.atomic():
        due = TriggerState.objects.filter(homes.mine(), enabled=True, next_at__lte=now)
        rows = list(due.order_by("next_at").select_for_update(skip_locked=True)[:BATCH])
        claimed = Claimed(rows=len(rows))
        if rows:
            firings = _claim(rows, claimed, find, now, serving_since)
            _store(rows)
            _record(firings, claimed, held)
    for run in claimed.queued:
        log.debug("claimed", extra={"run": run.id, "trigger": f"{run.project}/{run.trigger}"})
    return claimed


def _claim(
    rows: Sequence[TriggerState], claimed: Claimed, find: Find, now: datetime, since: datetime
) -> list[tuple[Run, Decision, Trigger]]:
    firings: list[tuple[Run, Decision, Trigger]] = []
    for row in rows:
        trigger = find(row.project, row.name)
        if trigger is None or trigger.armed != row.when:
            row.next_at = None  # the grid stays: arming continues it if the file has the trigger
            claimed.stale.add(row.project)
            continue
        try:
            decision = _advance(row, now, since)
        except Exception as error:
            log.exception("trigger %s disarmed", row)
            row.next_at = None
            reason = f"disarmed: {error}"[:500]
            TriggerState.objects.filter(pk=row.pk).update(armed_at=None, last_error=reason)
            continue
        run = firing.new_run(
            row.project, trigger, cause=decision.cause, now=now,
            scheduled_for=decision.scheduled_for,
        )  # fmt: skip
        run.missed = decision.missed
        firings.append((run, decision, trigger))
    return firings


def _store(rows: Sequence[TriggerState]) -> None:
    """Store the next times with one prepared statement: bulk_update costs more than the rest."""
    column = TriggerState._meta.get_field("next_at")
    values = [(column.get_db_prep_save(row.next_at, connection), row.pk) for row in rows]
    with connection.cursor() as cursor:
        cursor.executemany("UPDATE workspace_triggerstate SET next_at = %s WHERE id = %s", values)


def _advance(row: TriggerState, now: datetime, since: datetime) -> Decision:
    if row.armed_at is None or row.next_at is None:
        raise ValueError("it has no grid")
    found = clock.passed_times(row.when, armed_at=row.armed_at, next_at=row.next_at, now=now)
    row.next_at = found.next
    return clock.decide(found, when=row.when, catch_up=row.catch_up, now=now, serving_since=since)


def _record(firings: Sequence[tuple[Run, Decision, Trigger]], claimed: Claimed, held: Held) -> None:
    """Store the runs; a nominal time that already has a run is not fired again."""
    taken = _already_fired(run for run, _, _ in firings)
    backing = {(run.project, run.trigger) for run, _, trigger in firings if trigger.backs_off}
    failing = admission.failing(backing) if backing else set()
    active = admission.activity(run.project for run, _, _ in firings) if firings else Counter()
    for run, decision, trigger in firings:
        if (run.project, run.trigger, run.scheduled_for) in taken:
            continue
        reason = decision.skipped or held(run.project)
        reason = reason or admission.refusal(trigger, active[run.project, run.trigger])
        if not reason and (run.project, run.trigger) in failing and admission.too_early(run):
            reason = admission.FAILING
        if reason:
            firing.skip(run, reason)
            continue
        claimed.queued.append(run)
        claimed.caught_up += run.cause == "catch-up"
    Run.objects.bulk_create(claimed.queued)


def _already_fired(runs: Iterable[Run]) -> set[tuple[str, str, datetime | None]]:
    """The nominal times of these runs that fired already, before the clock was set back."""
    asked = list(runs)
    names = {run.trigger for run in asked}
    moments = {run.scheduled_for for run in asked}
    rows = Run.objects.filter(trigger__in=names, scheduled_for__in=moments)
    return set(rows.values_list("project", "trigger", "scheduled_for"))
