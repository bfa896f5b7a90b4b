"""Whether a firing starts, waits or is skipped while an earlier one of its trigger is active.

The rules: docs/design/workspace.md#overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import timedelta

from workspace.models import Run, TriggerState
from workspace.triggers import runs
from workspace.triggers.entries.schema import Trigger

BUSY = "an earlier firing of this trigger is still queued or running"
LOOP = "event loop"
MOST_WAITING = {"schedule": 1, "event": 100}
FULL = {
    kind: f"{most} of this trigger's firings already wait" for kind, most in MOST_WAITING.items()
}
LONGEST_CHAIN = 3
MOST_OF_ONE, WITHIN = 3, timedelta(hours=1)  # for one app: one that keeps falling needs a person
OFTEN = f"it fired {MOST_OF_ONE} times within an hour for this app already"
OUTSIDE = "a management client is behind it that may not act in this project"
FAILURES = 3  # in a row: after these a schedule is tried once per PATIENCE
PATIENCE = timedelta(hours=1)
FAILING = f"its last {FAILURES} runs failed, so it is tried at most once an hour until one succeeds"


def activity(projects: Iterable[str]) -> Counter[tuple[str, str]]:
    """The number of queued or running runs by (project, trigger), in these projects."""
    rows = Run.objects.filter(project__in=set(projects), status__in=runs.ACTIVE)
    return Counter(rows.values_list("project", "trigger"))


def refusal(trigger: Trigger, active: int) -> str:
    """Why this firing is skipped; "" if it may be queued."""
    if not active or trigger.overlap == "parallel":
        return ""
    if trigger.overlap == "skip":
        return BUSY
    return FULL[trigger.type] if active > MOST_WAITING[trigger.type] else ""


def failing(triggers: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the triggers, as (project, trigger), that keep failing."""
    rows = TriggerState.objects.filter(project__in={project for project, _ in triggers})
    last = rows.exclude(last_error="").values_list("project", "name")
    return {key for key in last if key in triggers and keeps_failing(*key)}


def keeps_failing(project: str, trigger: str) -> bool:
    """Whether the last FAILURES runs that ended have all failed."""
    ended = Run.objects.filter(project=project, trigger=trigger)
    ended = ended.exclude(status__in=("skipped", *runs.ACTIVE)).order_by("-id")
    return [*ended.values_list("status", flat=True)[:FAILURES]] == ["failed"] * FAILURES


def too_early(run: Run) -> bool:
    """Whether the last attempt is less than PATIENCE ago."""
    tried = Run.objects.filter(project=run.project, trigger=run.trigger).exclude(status="skipped")
    last = tried.order_by("-id").first()
    at = last and (last.scheduled_for or last.queued_at)
    # An attempt dated in the future, by a clock that was ahead, does not count.
    return bool(at and run.scheduled_for and at <= run.scheduled_for < at + PATIENCE)


def must_wait(run: Run, trigger: Trigger) -> bool:
    """Whether a run with `overlap: queue` has to wait, because an earlier one has not ended yet."""
    if trigger.overlap != "queue" or run.cause in ("manual", "api"):
        return False
    earlier = Run.objects.filter(project=run.project, trigger=run.trigger, id__lt=run.id)
    return earlier.filter(status__in=runs.ACTIVE).exists()


def loops(key: str, chain: list[str]) -> bool:
    """Whether an event descends from this trigger's own firing, or from too many firings."""
    return key in chain or len(chain) >= LONGEST_CHAIN
