"""What the workspace tells of its queue, its turns and its clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.tasks import async_task

from config.metrics import text
from config.storage import homes
from tests.config.test_metrics import parsed
from workspace import ids, metrics
from workspace.models import Run, TriggerState, Turn

pytestmark = pytest.mark.django_db


def told() -> dict[str, dict[tuple[str, ...], float]]:
    return parsed(text(metrics.measure()).decode())


def turn(state: str) -> None:
    Turn.objects.create(
        id=ids.turn_id(), project="alpha", chat=ids.session_id(), state=state, prompt="",
        message="", sender={}, mode="default", max_turns=1, created=datetime.now(UTC),
    )  # fmt: skip


def firing(late: float, *, ago: timedelta = timedelta(), **fields: Any) -> None:
    claimed = datetime.now(UTC) - ago
    nominal = claimed - timedelta(seconds=late)
    known = {"cause": "cron", "scheduled_for": nominal} | fields
    number = ids.run_id()[-16:]
    Run.objects.create(
        id=ids.run_id_at(claimed)[:-16] + number, project="alpha", trigger=number,
        trigger_type="schedule", kind="trigger", queued_at=claimed, status="completed", **known,
    )  # fmt: skip


def test_every_state_is_told_also_when_no_turn_is_in_it() -> None:
    for state in ("queued", "queued", "held", "failed"):
        turn(state)

    found = told()["svc_turns"]

    assert found == {
        ("running",): 0, ("waiting",): 0, ("queued",): 2, ("held",): 1, ("done",): 0,
        ("failed",): 1, ("stopped",): 0, ("interrupted",): 0, ("deleted",): 0,
    }  # fmt: skip


def test_tasks_are_told_by_the_queue_they_wait_in() -> None:
    for cluster in ("svc", "turns", "turns"):
        async_task("math.sqrt", 4, cluster=homes.queue(cluster))

    assert told()["svc_queue_tasks"] == {("svc",): 1, ("turns",): 2}


def test_lateness_is_that_of_the_clocks_own_recent_firings() -> None:
    assert told()["svc_firing_lateness_seconds"] == {}
    for late in (0.01, 0.02, 5):
        firing(late)
    firing(900, cause="catch-up")
    firing(900, cause="manual", scheduled_for=None)
    firing(900, ago=metrics.RECENT + timedelta(seconds=1))

    found = told()

    assert found["svc_firings_recent"] == {(): 3}
    lateness = found["svc_firing_lateness_seconds"]
    assert lateness[("median",)] == pytest.approx(0.02, abs=1e-4)
    assert lateness[("max",)] == pytest.approx(5, abs=1e-4)


def test_a_time_that_nobody_claims_grows_overdue() -> None:
    now = datetime.now(UTC)
    assert told()["svc_firing_overdue_seconds"] == {(): 0}
    for name, at in {"later": now + timedelta(hours=1), "off": None}.items():
        TriggerState.objects.create(project="alpha", name=name, type="schedule", next_at=at)
    assert told()["svc_firing_overdue_seconds"] == {(): 0}
    TriggerState.objects.create(
        project="alpha", name="late", type="schedule", next_at=now - timedelta(seconds=90)
    )

    found = told()

    assert found["svc_triggers_armed"] == {(): 2}
    assert 90 <= found["svc_firing_overdue_seconds"][()] < 150


def test_no_table_is_read_through_for_an_answer() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the plans are SQLite's")
    with CaptureQueriesContext(connection) as captured:
        told()

    plans = []
    with connection.cursor() as cursor:
        for query in captured.captured_queries:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plans += [row[-1] for row in cursor.fetchall()]
    read_through = [plan for plan in plans if plan.startswith("SCAN") and "INDEX" not in plan]
    assert [plan for plan in read_through if "django_q" not in plan] == []  # the queue is short
    assert len(captured) <= 8


def test_the_least_id_of_a_moment_is_below_every_id_made_since() -> None:
    moment = datetime.now(UTC)

    assert ids.run_id_at(moment - timedelta(milliseconds=1)) < ids.run_id()
    assert ids.run_id_at(moment + timedelta(seconds=60)) > ids.run_id()
