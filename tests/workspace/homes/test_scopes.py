"""Nothing that one host does removes or changes what belongs to a home it cannot see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import models as db
from django_q.models import OrmQ

from config.storage import homes
from review import models as review
from review.reindex import reindex as reindex_review
from tests.workspace.homes.hosts import Host
from workspace import models
from workspace.background import watcher
from workspace.chats.turns import worker
from workspace.projects import store
from workspace.reindex import reindex
from workspace.triggers import firing, retention, runs
from workspace.triggers.schedule import claims

CHAT = "11111111-1111-4111-8111-111111111111"
NOTES = """\
name: Notes
triggers:
  every:
    trigger: {type: schedule, interval: 60s}
    run: {prompt: hi, overlap: parallel}
    enabled: true
  broken: {trigger: {type: schedule, cron: "nonsense"}}
"""
TABLES: tuple[type[db.Model], ...] = (
    models.Project, models.Chat, models.TriggerState, models.InvalidEntry, models.Run, models.Turn,
    models.AuditEntry, review.FileRow, review.RepoRow,
)  # fmt: skip
OLD = datetime.now(UTC) - timedelta(days=4000)


def rows() -> dict[str, list[Any]]:
    return {
        table.__name__: list(table._default_manager.order_by("pk").values()) for table in TABLES
    }


@pytest.fixture
def lived(alpha: Host) -> dict[str, list[Any]]:
    """A project of alpha with a row in every table, some of them old; all rows."""
    with alpha.here():
        alpha.write(NOTES, "notes")
        (alpha.folder / "notes" / ".chats").mkdir()
        (alpha.folder / "notes" / ".chats" / f"{CHAT}.yaml").write_text("created: 2026-01-01\n")
        alpha.arm("notes")
        watcher.reindex()
        reindex_review()
        review.RepoRow.objects.create(key=f"{alpha.home}:notes/api", stamp="")
        common = {"project": "notes", "trigger": "every", "queued_at": OLD}
        models.Run.objects.create(id="run_old", status="completed", **common)
        models.Run.objects.create(id="run_lost", status="queued", lease_until=OLD, **common)
        models.Run.objects.create(id="run_next", status="queued", **common)
        turn = {"project": "notes", "chat": CHAT, "sender": {}, "max_turns": 1, "created": OLD}
        models.Turn.objects.create(id="msg_old", state="done", **turn)
        models.Turn.objects.create(id="msg_next", state="queued", **turn)
        models.AuditEntry.objects.create(time=OLD, outcome="ok", peer="::1", request_id="1")
    found = rows()
    assert [name for name, some in found.items() if not some] == []
    return found


def test_scans_sweeps_and_pruning_of_another_home_leave_every_row(
    alpha: Host, beta: Host, lived: dict[str, list[Any]]
):
    with beta.here():
        ticker = beta.ticker()
        beta.clock.step(seconds=300)
        ticker.look(beta.clock.now())
        ticker.step()
        watcher.reindex()
        reindex()
        reindex_review()
        retention.prune()
        runs.recover(datetime.now(UTC))

    assert rows() == lived


def test_a_ticker_claims_nothing_of_another_home_and_sleeps_through_it(
    alpha: Host, beta: Host, lived: dict[str, list[Any]]
):
    with beta.here():
        ticker = beta.ticker()
        claimed = claims.claim_due(
            now=beta.clock.step(hours=1), serving_since=beta.clock.now(),
            find=lambda slug, name: None, held=lambda slug: "",
        )  # fmt: skip
        assert (claimed.rows, claimed.queued) == (0, [])
        assert ticker.step() > beta.clock.now()
    with alpha.here():
        alpha.clock.step(seconds=3630)
        alpha.ticker()

    fired = models.Run.objects.filter(status="queued", scheduled_for__isnull=False)
    assert [(run.home, run.cause) for run in fired] == [(alpha.home, "catch-up")]


def test_a_task_that_reaches_another_home_starts_nothing(
    alpha: Host, beta: Host, lived: dict[str, list[Any]]
):
    with beta.here():
        firing.start("run_next")
        assert worker.claim("msg_next", "") is None

    assert rows() == lived


def test_a_project_that_moves_to_another_directory_is_taken_over_with_its_grid(
    alpha: Host, beta: Host, lived: dict[str, list[Any]]
):
    (alpha.folder / "notes").rename(beta.folder / "notes")
    with alpha.here():
        watcher.reindex()
    with beta.here():
        beta.ticker()
        assert store.get("notes").name == "Notes"

    state = models.TriggerState.objects.get(name="every")
    assert (state.home, state.armed_at) == (beta.home, lived["TriggerState"][0]["armed_at"])


def test_rows_from_before_homes_are_adopted_by_who_sees_the_project(
    alpha: Host, beta: Host, lived: dict[str, list[Any]]
):
    for table in (models.Project, models.TriggerState, models.Run, models.Turn, review.FileRow):
        table._default_manager.update(home="")
    with beta.here():
        beta.ticker()
        watcher.reindex()
    assert models.TriggerState.objects.filter(home="").count() == 1
    OrmQ.objects.create(key="turns", payload="", lock=OLD)
    with alpha.here():
        alpha.ticker()
        watcher.reindex()
        reindex_review()

    for table in (models.Project, models.TriggerState, models.Run, models.Turn, review.FileRow):
        owners = table._default_manager.values_list("home", flat=True)
        assert {*owners} == {alpha.home}, table
    assert OrmQ.objects.filter(key=homes.queue("turns", alpha.home)).exists()
