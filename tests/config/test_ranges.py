"""A few of many rows: by time, by value, the newest, and deletion in chunks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config.storage import ranges
from workspace.models import AuditEntry

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def stored(*minutes: int, outcome: str = "ok") -> None:
    for minute in minutes:
        AuditEntry.objects.create(
            time=NOON + timedelta(minutes=minute), outcome=outcome, peer="::1", request_id="x"
        )


def minutes(since: int | None = None, until: int | None = None) -> list[int]:
    """What is found between two minutes, in the order of the table."""
    ends = [None if one is None else NOON + timedelta(minutes=one) for one in (since, until)]
    found = ranges.between(AuditEntry.objects.order_by("id"), "time", *ends)
    return [(row.time - NOON) // timedelta(minutes=1) for row in found]


def test_both_ends_belong_to_a_range_of_time():
    stored(0, 10, 20, 30)

    assert minutes(10, 20) == [10, 20]
    assert minutes(since=20) == [20, 30]
    assert minutes(until=10) == [0, 10]
    assert minutes(since=31) == minutes(until=-1) == minutes(20, 10) == []
    assert minutes() == [0, 10, 20, 30]


def test_rows_are_found_although_the_clock_was_set_back():
    stored(0, 30, 59, 0, 30, 59, 61, 300)

    assert minutes(since=30) == [30, 59, 30, 59, 61, 300]
    assert minutes(until=30) == [0, 30, 0, 30]
    assert minutes(59, 60) == [59, 59]


def test_a_range_reads_no_row_outside_of_it():
    stored(0, 1440, 2880)

    with CaptureQueriesContext(connection) as asked:
        assert minutes(1440, 1440) == [1440]

    assert all('"id" >= ' in query["sql"] for query in asked.captured_queries[-1:])
    assert all('"id" < ' in query["sql"] for query in asked.captured_queries[-1:])


def test_the_values_of_a_column_are_told_once_each_in_order():
    assert ranges.values(AuditEntry, "outcome") == []
    for outcome in ("ok", "denied", "", "ok", "auth_failed"):
        stored(0, outcome=outcome)

    assert ranges.values(AuditEntry, "outcome") == ["", "auth_failed", "denied", "ok"]


def test_the_newest_rows_are_those_of_the_table_not_of_the_filter():
    stored(0, 1, outcome="denied")
    stored(2, 3, outcome="ok")
    denied = AuditEntry.objects.filter(outcome="denied")

    assert ranges.newest(denied, 2).count() == 0
    assert ranges.newest(denied, 3).count() == 1
    assert ranges.newest(denied, 4).count() == ranges.newest(denied, 5).count() == 2


def test_rows_are_deleted_in_chunks_each_a_statement_of_its_own():
    stored(0, 1, 2, 3, 4)
    stored(5, outcome="denied")

    with CaptureQueriesContext(connection) as asked:
        assert ranges.delete(AuditEntry.objects.filter(outcome="ok"), chunk=2) == 5

    deletes = [one["sql"] for one in asked.captured_queries if one["sql"].startswith("DELETE")]
    assert len(deletes) == 3
    assert AuditEntry.objects.get().outcome == "denied"
