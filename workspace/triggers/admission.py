"""Whether a firing starts, waits or is skipped while an earlier one of its trigger is active."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from workspace.models import Run
from workspace.triggers import runs
from workspace.triggers.entries.schema import Trigger

BUSY = "an earlier firing of this trigger is still queued or running"
LOOP = "event loop"
MOST_WAITING = {"schedule": 1, "event": 100}
LONGEST_CHAIN = 3


def activity(projects: Iterable[str]) -> Counter[tuple[str, str]]:
    """How many runs are queued or running, by (project, trigger), in these projects."""
    rows = Run.objects.filter(project__in=set(projects), status__in=runs.ACTIVE)
    return Counter(rows.values_list("project", "trigger"))


def refusal(trigger: Trigger, active: int) -> str:
    """Why this firing is skipped; empty when it may be queued (workspace.md 8.3, 4)."""
    if not active or trigger.overlap == "parallel":
        return ""
    if trigger.overlap == "skip":
        return BUSY
    most = MOST_WAITING[trigger.type]
    return f"{most} of this trigger's firings already wait" if active > most else ""


def must_wait(run: Run, trigger: Trigger) -> bool:
    """`overlap: queue`: an earlier run of the trigger has not ended yet."""
    if trigger.overlap != "queue" or run.cause in ("manual", "api"):
        return False
    earlier = Run.objects.filter(project=run.project, trigger=run.trigger, id__lt=run.id)
    return earlier.filter(status__in=runs.ACTIVE).exists()


def loops(key: str, chain: list[str]) -> bool:
    """Whether an event descends from this trigger's own firing, or from too many (8.5)."""
    return key in chain or len(chain) >= LONGEST_CHAIN
