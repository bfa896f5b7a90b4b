"""Who may try a database that was gone: one at a time, and never never."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_django
from django.db import OperationalError
from django.db.utils import ConnectionHandler

from config import stores
from config.errors import Unavailable, translate
from tests.postgres import Cluster, postgres  # noqa: F401 - a fixture

pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
from config.storage.postgres.outage import AGAIN_S, Outage, Patient


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("config.storage.postgres.outage.time", made)
    return made


def fails(outage: Outage) -> str:
    with pytest.raises(OperationalError) as error, outage.attempt():
        raise OperationalError("refused")
    return str(error.value)


def test_those_who_ask_all_the_time_do_not_put_off_the_next_try(clock: Clock):
    outage = Outage()
    assert fails(outage) == "refused"

    for _ in range(10):
        assert fails(outage) == "the database was gone a moment ago"
        clock.now += AGAIN_S / 9.5

    assert fails(outage) == "refused"


def test_while_one_tries_the_others_are_told_at_once(clock: Clock):
    outage = Outage()
    fails(outage)
    clock.now += 1

    with outage.attempt():
        assert fails(outage) == "the database was gone a moment ago"

    with outage.attempt(), outage.attempt():
        pass  # it is back: as many as want to connect at once


def test_connections_from_before_a_silence_are_not_trusted(clock: Clock):
    outage = Outage()
    outage.found_silent()

    assert outage.silent_at == clock.now
    assert fails(outage) == "the database was gone a moment ago"


def test_a_server_that_only_reads_is_left_for_one_that_writes(
    postgres: Cluster,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    django_db_blocker: pytest_django.DjangoDbBlocker,
):
    monkeypatch.setattr(Patient, "patience", 30.0)
    settings = stores.database(postgres.create("demoted"), Path())
    connection = ConnectionHandler({"default": settings})["default"]
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")  # as a standby has it

        with pytest.raises(OperationalError, match="read-only transaction") as refused:
            cursor.execute("CREATE TABLE one ()")
        assert isinstance(translate(refused.value), Unavailable)

        with connection.cursor() as another:
            another.execute("CREATE TABLE one ()")
        connection.close()


def test_a_silence_that_others_find_while_a_request_ends_does_not_fail_its_answer(
    postgres: Cluster,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    django_db_blocker: pytest_django.DjangoDbBlocker,
):
    outage, url = Outage(), postgres.copy_of_migrated()
    monkeypatch.setattr("config.storage.postgres.base.OUTAGE", outage)
    connection = ConnectionHandler({"default": stores.database(url, Path())})["default"]
    asks = connection.get_autocommit

    def asks_late() -> bool:
        outage.found_silent()
        return asks()

    monkeypatch.setattr(connection, "get_autocommit", asks_late)
    with django_db_blocker.unblock():
        connection.ensure_connection()
        connection.close_if_unusable_or_obsolete()

    assert connection.connection is None
