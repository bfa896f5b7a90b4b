"""Whether anything was written to the database since the last look, told by no table."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection, connections
from django_q.models import OrmQ

from config.storage import database

pytestmark = pytest.mark.django_db(transaction=True)
of_sqlite = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="PostgreSQL does not say whether anything was written"
)


def write() -> None:
    OrmQ.objects.create(key="elsewhere", payload="", lock=None)


def elsewhere(work: Callable[[], None]) -> None:
    """In another thread, so by another connection."""

    def run() -> None:
        work()
        connections.close_all()

    thread = Thread(target=run)
    thread.start()
    thread.join()


@of_sqlite
def test_nothing_written_is_the_same_stamp_however_much_is_read():
    before = database.stamp()
    OrmQ.objects.count()
    elsewhere(lambda: print(OrmQ.objects.count()))

    assert database.stamp() == before


@pytest.mark.parametrize("by", [elsewhere, lambda work: work()], ids=["another", "this one"])
def test_what_any_connection_writes_is_another_stamp(by):
    before = database.stamp()
    by(write)

    assert database.stamp() != before


@of_sqlite
def test_another_connection_is_another_stamp_for_nobody_knows_what_came_between():
    before = database.stamp()
    connection.close()

    assert database.stamp() != before
