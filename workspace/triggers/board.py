"""What triggers are doing now: armed, queued, running, last and next times.

Reads only the database, so that it is cheap to poll.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from config.logs import timestamp
from workspace.models import Run, TriggerState
from workspace.triggers import runs
from workspace.triggers.pausing import Pause
from workspace.triggers.schedule import clock


@dataclass(frozen=True, slots=True)
class Board:
    """What the rows say about the triggers of one project, read in four queries."""

    states: Mapping[str, TriggerState]
    last: Mapping[str, Run]
    running: frozenset[str]
    queued: Mapping[str, int]
    paused: Pause | None
    zone: str  # of the project, for schedules that are armed without a zone

    def zone_of(self, state: TriggerState) -> str:
        return clock.zone_of(state.when) if state.when.startswith("cron ") else self.zone

    def status(self, name: str, type_: str) -> str:
        state = self.states.get(name)
        if type_ == "webhook":
            return "reserved"
        if name in self.running:
            return "running"
        if self.queued.get(name):
            return "queued"
        return "idle" if state is not None and state.enabled else "disabled"


def read(slug: str, paused: Pause | None, zone: str) -> Board:
    active = Run.objects.filter(project=slug, status__in=runs.ACTIVE).exclude(trigger="")
    queued: dict[str, int] = {}
    running = set()
    for name, status in active.order_by().values_list("trigger", "status"):
        if status == "running":
            running.add(name)
        else:
            queued[name] = queued.get(name, 0) + 1
    states = {row.name: row for row in TriggerState.objects.filter(project=slug)}
    return Board(states, _last(slug), frozenset(running), queued, paused, zone)


def _last(slug: str) -> dict[str, Run]:
    """The newest firing of each trigger that was not skipped.

    One index lookup for each trigger, because they have too many runs for a GROUP BY."""
    happened = Run.objects.filter(project=slug).exclude(status="skipped")
    newest = happened.filter(trigger=OuterRef("name")).order_by("-id").values("id")[:1]
    rows = TriggerState.objects.filter(project=slug).order_by()
    ids = rows.annotate(newest=Subquery(newest)).values_list("newest", flat=True)
    return {run.trigger: run for run in Run.objects.filter(id__in=[one for one in ids if one])}


def next_runs(state: TriggerState) -> list[str]:
    """The next three times of an armed schedule; [] if it is not armed."""
    if state.next_at is None or state.armed_at is None:
        return []
    times = clock.upcoming(state.when, armed_at=state.armed_at, next_at=state.next_at)
    return [timestamp(moment) for moment in times]
