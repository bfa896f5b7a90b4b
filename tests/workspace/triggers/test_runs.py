"""Runs mirror their turns truthfully."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from config.errors import NotFound
from tests.workspace.triggers.world import USER, schedule
from workspace import signals, tasks
from workspace.chats import files as chat_files
from workspace.chats import transcript
from workspace.models import AuditEntry, Run, Turn
from workspace.projects import store
from workspace.triggers import commands, render, retention, runs

KEYS = [
    "id", "project", "trigger", "triggerType", "kind", "cause", "actor", "client", "event",
    "scheduledFor", "queuedAt", "startedAt", "finishedAt", "durationSeconds", "status", "reason",
    "sessionId", "agentName", "engine", "model", "turns", "tools", "usage", "costUsd", "summary",
    "missed", "skips", "lastScheduledFor",
]  # fmt: skip
USAGE = {
    "inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 0, "cacheWriteTokens": 0,
    "totalTokens": 3,
}  # fmt: skip


@pytest.fixture
def started(world, serving):
    """A run whose turn waits, and the turn."""
    world.put("t", schedule(interval="1h"))
    run = commands.run(world.project(), "t", principal=USER).run
    return run, Turn.objects.get(run=run)


def move(turn: Turn, state: str, reason: str = "") -> Run:
    """The turn's row changes as the worker changes it."""
    turn.state, turn.reason = state, reason
    turn.started = turn.started or datetime.now(UTC)
    turn.finished = None if state == "running" else turn.started + timedelta(seconds=2)
    turn.save()
    runs.follow(turn)
    return runs.get(turn.run_id or "")


def write(world, turn: Turn, end: dict[str, object]) -> None:
    """What a turn process leaves in the transcript."""
    path = chat_files.transcript_path(world.project(), turn.chat)
    with transcript.Writer(str(path)) as writer:
        writer.append("turn_start", turn.id, engine="runbook", model=None)
        writer.append("user", turn.id, text=turn.message, sender=turn.sender)
        for call, tool in (("a", "Read"), ("b", "Bash"), ("c", "Bash")):
            writer.append("tool_use", turn.id, tool=tool, call=call, input={}, target="x")
            if call == "c":
                writer.append(
                    "permission", turn.id, call=call, tool=tool, input={}, state="denied",
                    by="policy", reason="no",
                )  # fmt: skip
            writer.append("tool_result", turn.id, call=call, is_error=call == "c", text="", ms=1)
        writer.append("assistant", turn.id, text="All is well. " * 40, block="1")
        writer.append("turn_end", turn.id, **end)


def test_a_completed_turn_completes_its_run_with_all_its_facts(world, started):
    _, turn = started
    assert move(turn, "running").status == "running"
    write(world, turn, {"status": "ok", "reason": None, "text": None, "turns": 3,
                        "usage": USAGE, "cost": 0.5, "ms": 2000})  # fmt: skip

    view = render.run(move(turn, "done"))

    assert list(view) == KEYS
    assert (view["status"], view["reason"], view["durationSeconds"]) == ("completed", None, 2.0)
    assert view["tools"] == [
        {"name": "Read", "count": 1, "denied": 0}, {"name": "Bash", "count": 2, "denied": 1},
    ]  # fmt: skip
    assert (view["engine"], view["turns"], view["usage"], view["costUsd"]) == (
        "runbook", 3, USAGE, 0.5,
    )  # fmt: skip
    assert len(view["summary"] or "") == 300
    assert world.state("t").last_error == ""


def test_needs_engine_is_a_failure_whose_word_begins_the_last_error(world, started):
    _, turn = started
    text = "No engine can run this message."
    move(turn, "running")
    write(world, turn, {"status": "needs_engine", "reason": "needs_engine", "text": text,
                        "turns": 0, "usage": None, "cost": None, "ms": 1})  # fmt: skip

    run = move(turn, "failed", text)

    assert (run.status, run.reason) == ("failed", text)
    assert world.state("t").last_error == f"needs_engine: {text}"


@pytest.mark.parametrize(
    ("state", "status", "reason"),
    [
        ("stopped", "cancelled", "stopped by a user"),
        ("interrupted", "interrupted", "the server stopped while this run was in progress"),
        ("deleted", "cancelled", "taken out of the queue before it began"),
    ],
)
def test_other_ends_of_a_turn_are_told_as_what_they_are(started, state, status, reason):
    _, turn = started

    run = move(turn, state, "stopped by a user")

    assert (run.status, run.reason) == (status, reason)


def test_an_ended_run_is_never_changed_again(world, started):
    _, turn = started
    move(turn, "interrupted")

    assert move(turn, "done").status == "interrupted"


def test_cancelling_takes_the_message_out_of_the_queue(started):
    run, turn = started

    assert runs.cancel(run.id)
    assert not runs.cancel(run.id)

    assert (runs.get(run.id).status, Turn.objects.get(id=turn.id).state) == (
        "cancelled", "deleted",
    )  # fmt: skip


def test_an_unknown_run_is_not_found_and_its_id_is_echoed_harmlessly(world):
    with pytest.raises(NotFound) as error:
        runs.get("x\n\0" + "y" * 300)

    assert error.value.text == "Run not found: x" + "y" * 97


def stored(world, number: int, **fields: object) -> Run:
    now = datetime.now(UTC)
    values = {"project": "alpha", "trigger": "t", "trigger_type": "schedule", "kind": "trigger",
              "cause": "cron", "queued_at": now, "status": "completed"}  # fmt: skip
    return Run.objects.create(id=f"run_{number:026}", **(values | fields))


def test_lists_are_newest_first_filtered_and_paged(world):
    for number in range(5):
        stored(world, number, cause="cron" if number % 2 else "manual")

    page, following = runs.list(project="alpha", limit=2)
    rest, last = runs.list(project="alpha", limit=5, before=following)

    assert [run.id[-1] for run in (*page, *rest)] == ["4", "3", "2", "1", "0"]
    assert last is None
    assert [run.id[-1] for run in runs.list(cause="cron")[0]] == ["3", "1"]
    assert runs.list(project="beta") == ([], None)


def test_words_are_looked_for_page_by_page_in_so_many_runs(world, monkeypatch):
    monkeypatch.setattr(runs, "LOOKED", 3)
    for number in range(8):
        stored(world, number, reason="no login" if number in (0, 4) else "")

    pages: list[list[str]] = []
    before = None
    while not pages or before:
        page, before = runs.list(q="login no", before=before)
        pages.append([run.id[-1] for run in page])

    assert pages == [[], ["4"], ["0"]]
    assert [run.id[-1] for run in runs.list(q="login", limit=1, before=f"run_{5:026}")[0]] == ["4"]


def test_recovery_interrupts_lost_starts_and_mirrors_ended_turns_and_redelivers(world, started):
    _, turn = started
    now = datetime.now(UTC)
    lost = stored(world, 1, status="queued", lease_until=now - timedelta(seconds=1))
    idle = stored(world, 2, status="queued", trigger="u")
    ahead = stored(world, 3, status="queued", lease_until=now + timedelta(days=1))
    Turn.objects.filter(id=turn.id).update(state="interrupted", finished=now)

    assert runs.recover(now) == 3

    for begun in (lost, ahead):  # the clock was ahead when the second began
        assert runs.get(begun.id).reason == "the server stopped while this run was in progress"
    assert runs.get(turn.run_id).status == "interrupted"
    assert runs.get(idle.id).status == "queued"


def test_history_past_its_retention_goes_and_what_waits_stays(world):
    old = datetime.now(UTC) - timedelta(days=91)
    stored(world, 1, queued_at=old)
    waiting = stored(world, 2, queued_at=old, status="queued")
    fresh = stored(world, 3)
    AuditEntry.objects.create(time=old, outcome="ok", peer="::1", request_id="x", operation="ping")

    retention.prune()
    retention.prune_audit()

    assert [run.id for run in world.runs()] == [waiting.id, fresh.id]
    assert not AuditEntry.objects.filter(time=old).exists()


def test_history_that_cannot_be_deleted_fails_the_task_and_keeps_no_other(world, settings):
    settings.DATA_DIR = settings.PROJECTS_DIR.parent
    old = datetime.now(UTC) - timedelta(days=91)
    stored(world, 1, queued_at=old)
    AuditEntry.objects.create(time=old, outcome="ok", peer="::1", request_id="x", operation="ping")
    no_file = settings.DATA_DIR / "logs/turns/directory.log"
    left = settings.PROJECTS_DIR / f"{store.STAGING}left"
    for path in (no_file, left):
        path.mkdir(parents=True)
        os.utime(path, (old.timestamp(), old.timestamp()))

    with pytest.raises(OSError, match=no_file.name):
        tasks.prune()

    assert [*world.runs(), *AuditEntry.objects.all()] == []
    assert not left.exists()


def test_the_end_of_a_run_is_told_once_it_is_stored(
    world, started, django_capture_on_commit_callbacks
):
    run, turn = started
    told: list[signals.RunEnded] = []

    def hear(happening: signals.RunEnded, **_: object) -> None:
        told.append(happening)

    signals.run_ended.connect(hear)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            move(turn, "running")
            move(turn, "failed", "it broke")
            move(turn, "failed", "it broke")
    finally:
        signals.run_ended.disconnect(hear)

    assert told == [signals.RunEnded("alpha", "t", run.id, "failed", "it broke")]
