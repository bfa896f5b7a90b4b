"""Runs: one record per firing, mirrored from the turn that it became."""

from __future__ import annotations

import builtins
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Min, Q, QuerySet
from django_q.tasks import async_task

from config import signals as kernel
from config.errors import Invalid, NotFound, Problem, printable
from config.storage import database, homes, ranges
from workspace import ids, signals
from workspace.chats.turns import endings, questions, queue, retries
from workspace.chats.turns.delivery import OnChange
from workspace.chats.turns.recorder import ASKING
from workspace.models import Run, TriggerState, Turn

log = logging.getLogger(__name__)

ACTIVE = ("queued", "running")
ENDED = ("done", "failed", "stopped", "interrupted", "deleted")
STATUS = {
    "running": "running",
    "done": "completed",
    "failed": "failed",
    "stopped": "cancelled",
    "deleted": "cancelled",
    "interrupted": "interrupted",
}
INTERRUPTED = "the server stopped while this run was in progress"
REMOVED = "its trigger was removed"
LEASE = timedelta(seconds=60)  # how long a start may take
OFF = "its trigger was switched off"
CHANGED = "its trigger waits for something else now"
GATHERS = Q(cause="event", scheduled_for__isnull=False)  # gathers what happens until that time
SUMMARY = 300
LOOKED = 2500  # the most runs that one page searches: their words are not indexed
QUEUE = "svc"  # named, because a worker of `turns` would otherwise use its own queue


def get(run_id: str) -> Run:
    run = Run.objects.filter(id=run_id[:32]).first()
    if run is None:
        raise NotFound(f"Run not found: {printable(run_id)}")
    return run


def list(  # noqa: A001 - runs.list() reads as it should
    *,
    project: str | None = None,
    trigger: str | None = None,
    status: str | None = None,
    cause: str | None = None,
    client: str | None = None,
    q: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 100,
    before: str | None = None,
) -> tuple[builtins.list[Run], str | None]:
    """Runs, newest first, and what to pass as `before` for the next page (None on the last).

    `q`: words that must all occur in the trigger's name, the reason or the summary. A page searches
    LOOKED runs for them, so it may be short, or even empty, and still have a next page. `since` and
    `until` bound the time at which a run was queued.
    """
    if before and not ids.RUN.fullmatch(before):
        raise Invalid([Problem("before", "must be the `next` of the page before")])
    wanted = {
        "project": project,
        "trigger": trigger,
        "status": status,
        "cause": cause,
        "client": client,
        "id__lt": before,
    }
    rows = Run.objects.filter(**{key: value for key, value in wanted.items() if value})
    rows = ranges.between(rows, "queued_at", since, until)
    rows = rows.order_by("-id")
    words = (q or "").split()
    rows, looked = _looked_at(rows) if words else (rows, None)
    for word in words:
        rows = rows.filter(
            Q(trigger__icontains=word) | Q(reason__icontains=word) | Q(summary__icontains=word)
        )
    found = [*rows[: limit + 1]]
    page = found[:limit]
    return page, page[-1].id if len(found) > limit else looked


def _looked_at(rows: QuerySet[Run]) -> tuple[QuerySet[Run], str | None]:
    """The first LOOKED rows, and the id of the last of them if more follow."""
    around = [*rows.values_list("id", flat=True)[LOOKED - 1 : LOOKED + 1]]
    return (rows.filter(id__gte=around[0]), around[0]) if around[1:] else (rows, None)


def follow(turn: Turn, *, problem: str = "") -> None:
    """Bring the run of a turn to the turn's state. Called at every change of a turn's row.

    `problem`: why the run failed although its turn completed."""
    if turn.run_id is not None and turn.state == "waiting":
        going = Run.objects.filter(id=turn.run_id, status__in=ACTIVE)
        going.update(status="running", started_at=turn.started, reason=retries.describe_wait(turn))
    elif turn.run_id is not None and turn.state in STATUS:
        _mirror(turn, problem)
    if turn.state in ENDED:
        _release_events(turn.chat)


def _mirror(turn: Turn, problem: str) -> None:
    if turn.state == "running":
        begun = Run.objects.filter(id=turn.run_id, status__in=ACTIVE)
        reason = questions.describe_wait(turn)
        begun.update(status="running", started_at=turn.started, reason=reason)
        return
    status = "failed" if problem else STATUS[turn.state]
    reason = problem or _reason(turn, status)
    values: dict[str, Any] = {"reason": reason, "finished_at": turn.finished}
    if turn.started is not None:
        values["started_at"] = turn.started
    found = _facts(turn)
    word = found.pop("word", "")
    if finish(turn.run_id or "", status=status, **(values | found)):
        if status == "failed":
            _remember_error(turn.run_id or "", f"{word}: {values['reason']}" if word else None)
    elif turn.unclosed:  # another host ended the turn without its transcript, which has the details
        Run.objects.filter(id=turn.run_id).update(status=status, **(values | found))


def _reason(turn: Turn, status: str) -> str:
    if status == "completed":
        return ""
    if turn.state == "deleted":
        return "taken out of the queue before it began"
    if status == "interrupted":
        return turn.reason if ASKING in turn.reason else INTERRUPTED
    return turn.reason or status


def _facts(turn: Turn) -> dict[str, Any]:
    """What the transcript says about the turn; nothing is guessed for what it lacks."""
    try:
        records = endings.records_of(endings.transcript_of(turn), turn.id)
    except (OSError, NotFound):
        return {}
    start = next((one for one in records if one["type"] == "turn_start"), {})
    end = next((one for one in records if one["type"] == "turn_end"), {})
    texts = [one["text"] for one in records if one["type"] == "assistant" and one.get("text")]
    return {
        "engine": start.get("engine") or "",
        "model": start.get("model") or "",
        "turns": end.get("turns"),
        "usage": end.get("usage"),
        "cost_usd": end.get("cost"),
        "tools": _tools(records),
        "summary": texts[-1][:SUMMARY] if texts else "",
        "word": end.get("reason") or "",
    }


def _tools(records: builtins.list[dict[str, Any]]) -> builtins.list[dict[str, Any]]:
    """Calls per tool in order of first use, and how many of them the gate denied."""
    denied = {
        one["call"]
        for one in records
        if one["type"] == "permission" and one.get("state") == "denied"
    }
    counts: dict[str, dict[str, Any]] = {}
    for one in records:
        if one["type"] == "tool_use":
            entry = counts.setdefault(one["tool"], {"name": one["tool"], "count": 0, "denied": 0})
            entry["count"] += 1
            entry["denied"] += one["call"] in denied
    return [*counts.values()]


def finish(run_id: str, *, status: str, **values: Any) -> bool:
    """End an active run; False if it has ended already. The process that ends it logs it and lets
    the next run start."""
    values.setdefault("finished_at", datetime.now(UTC))
    ending = Run.objects.filter(id=run_id, status__in=ACTIVE)
    if not ending.update(status=status, lease_until=None, **values):
        return False
    run = Run.objects.get(id=run_id)
    announce(run)
    transaction.on_commit(lambda: _say_ended(run))
    if status in ("failed", "completed"):
        _remember_error(run_id, run.reason)
    _release_waiting(run)
    return True


def _say_ended(run: Run) -> None:
    error = "" if run.status == "completed" else run.reason
    ended = signals.RunEnded(run.project, run.trigger, run.id, run.status, error)
    kernel.tell(signals.run_ended, ended)


def announce(run: Run) -> None:
    text = f"run {run.id} {run.project}/{run.trigger}: {run.status}"
    log.info(text, extra={"reason": run.reason or None})


def _remember_error(run_id: str, text: str | None) -> None:
    if text is not None:
        run = Run.objects.get(id=run_id)
        state = TriggerState.objects.filter(project=run.project, name=run.trigger)
        state.update(last_error=text[:500])


def waiting() -> Any:
    """Queued runs whose start has not begun."""
    return Run.objects.filter(status="queued", session_id="", lease_until=None)


def deliver(run: Run) -> None:
    """Queue the run's start for the workers of its home. More than one delivery is harmless."""
    cluster = homes.queue_for(QUEUE, run.home)
    async_task("workspace.tasks.start_run", run.id, cluster=cluster, task_name=run.id, save=False)


def hand_over(task: str) -> None:
    """Queue a chore for this home: `task` names a function of workspace.tasks."""
    cluster = homes.queue(QUEUE)
    async_task(f"workspace.tasks.{task}", cluster=cluster, task_name=task, save=False)


def _release_waiting(run: Run) -> None:
    """Deliver the oldest run that waits behind this one (`overlap: queue`)."""
    ready = waiting().filter(project=run.project, trigger=run.trigger).exclude(GATHERS)
    behind = ready.order_by("id").first()
    if behind is not None:
        deliver(behind)


def _release_events(chat: str) -> None:
    """Deliver the runs that are about this chat and waited for its turn to end."""
    for run in waiting().alias(about=database.text_at("event__sessionId")).filter(about=chat):
        deliver(run)


def cancel(run_id: str) -> bool:
    """End a queued or running run; False if it has ended already."""
    run = get(run_id)
    turn = Turn.objects.filter(run=run).order_by("-id").first()
    if turn is not None:
        return queue.cancel(turn, on_change=follow)
    return finish(run.id, status="cancelled", reason="cancelled by a user")


def cancel_queued(project: str, trigger: str) -> None:
    """Cancel what a removed trigger left in the queue."""
    queued = Run.objects.filter(homes.mine(), project=project, trigger=trigger, status="queued")
    for run in queued:
        turn = Turn.objects.filter(run=run).first()
        if turn is None:
            finish(run.id, status="cancelled", reason=REMOVED)
        else:
            queue.withdraw(turn, on_change=_on_removed)


def _on_removed(turn: Turn) -> None:
    finish(turn.run_id or "", status="cancelled", reason=REMOVED)
    follow(turn)


def recover(now: datetime, on_change: OnChange = follow) -> int:
    """Repair runs after a crash: lost starts become interrupted, ended turns are mirrored, and runs
    whose start has not begun are delivered again. Returns how many runs of this home became
    interrupted."""
    interrupted = 0
    over = Q(lease_until__lt=now) | Q(lease_until__gt=now + 2 * LEASE)  # or a clock was ahead
    lost = Q(over, status="queued", session_id="")
    for run_id in Run.objects.filter(homes.mine(), lost).values_list("id", flat=True):
        interrupted += finish(run_id, status="interrupted", reason=INTERRUPTED)
    for turn in Turn.objects.filter(homes.mine(), run__status__in=ACTIVE, state__in=ENDED):
        on_change(turn)
        interrupted += turn.state == "interrupted"
    for run in _first_waiting():
        deliver(run)
    return interrupted


def _first_waiting() -> QuerySet[Run]:
    """The oldest run of each trigger of this home whose start has not begun."""
    ready = waiting().filter(homes.mine()).exclude(GATHERS)
    triggers = ready.order_by().values("project", "trigger")
    return Run.objects.filter(id__in=triggers.annotate(oldest=Min("id")).values("oldest"))
