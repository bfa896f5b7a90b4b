"""A locked database, one that fails, a killed daemon: what is lost, and what is not (case D38)."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import OperationalError, connection

from dashboard.history import store
from dashboard.history.recorder import Recorder, Trouble
from dashboard.history.windows import history
from dashboard.models import Edge, Hour, Sample
from tests.dashboard.history.world import NOON, probes, started
from tests.service import ROOT, until

pytestmark = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="shows SQLite's lock and SQLite's file"
)
stored = pytest.mark.django_db(transaction=True)


@pytest.fixture
def impatient() -> Iterator[None]:
    """This thread's connection waits 50 ms for a lock instead of 20 s."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50")
    yield
    connection.close()


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Another process's write transaction, open meanwhile."""
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@stored
def test_a_database_locked_for_ten_seconds_loses_nothing(impatient):
    recorder = started()
    with locked():
        for second in range(10):
            recorder.add("shop", NOON + 10 * second, "up", 1_000, 200, ok=True)
            recorder.edge("shop", NOON + 10 * second + 1, "up", "up", "ok")
            assert not recorder.flush(NOON + 10 * second)
        assert recorder.trouble == Trouble("database is locked", NOON)
        assert len(recorder.summary("shop", NOON + 91).recent) == 10
        assert history("shop", now=NOON + 91)["checks"] == 0

    assert recorder.flush(NOON + 91)
    assert not recorder.trouble
    assert (Sample.objects.count(), Edge.objects.count()) == (10, 10)
    assert list(Hour.objects.values_list("n", "up")) == [(10, 91_000)]


@stored
def test_words_come_in_while_a_flush_waits_for_the_lock():
    recorder = started()
    recorder.add("shop", NOON, "up", 1_000, 200, ok=True)
    with locked():
        flush = threading.Thread(target=_flush, args=(recorder, NOON))
        flush.start()
        until(lambda: not recorder._waiting, what="the flush has its batch")
        recorder.add("shop", NOON + 30, "up", 1_000, 200, ok=True)
        assert recorder.summary("shop", NOON + 30).uptime["24h"] == 1
        assert flush.is_alive()
    flush.join(10)

    assert recorder.flush(NOON + 31)
    assert Sample.objects.count() == 2
    assert Hour.objects.get().n == 2


def _flush(recorder: Recorder, now: float) -> None:
    recorder.flush(now)
    connection.close()


@stored
def test_samples_wait_ten_minutes_and_hours_for_ever(impatient):
    recorder = started()
    with locked():
        for minute in range(30):
            probes(recorder, "shop", NOON + 60 * minute, NOON + 60 * minute + 60)
            recorder.flush(NOON + 60 * minute + 60)
    recorder.flush(NOON + 1800)

    assert 20 <= Sample.objects.count() <= 22
    assert Hour.objects.get().n == 60
    assert Hour.objects.get().up == 1_770_000


@stored
def test_a_database_that_cannot_even_be_read_fills_no_memory(monkeypatch):
    def broken(_keys: object) -> None:
        raise OperationalError("disk I/O error")

    recorder = started()
    monkeypatch.setattr(store, "hours_of", broken)
    for minute in range(60):
        probes(recorder, "shop", NOON + 60 * minute, NOON + 60 * minute + 60)
        assert not recorder.flush(NOON + 60 * minute + 60)

    assert recorder.trouble == Trouble("disk I/O error", NOON + 60)
    assert len(recorder._waiting.samples) <= 22


@pytest.mark.django_db
def test_a_histogram_damaged_on_disk_stops_nothing():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60)
    recorder.flush(NOON + 60)
    Hour.objects.update(hist=b"\x01")
    again = started(NOON + 90)
    probes(again, "shop", NOON + 90, NOON + 150)

    assert again.flush(NOON + 150)
    assert history("shop", "7d", now=NOON + 150)["checks"] == 4


@pytest.mark.django_db
def test_a_defect_while_writing_loses_no_word(monkeypatch):
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60)
    with monkeypatch.context() as broken:
        broken.setattr(store, "write", lambda batch: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            recorder.flush(NOON + 60)

    assert recorder.flush(NOON + 61)
    assert (Sample.objects.count(), Hour.objects.get().n) == (2, 2)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory with a migrated database."""
    (tmp_path / "data").mkdir(mode=0o700)
    argv = [sys.executable, str(ROOT / "manage.py"), "migrate", "dashboard", "--verbosity", "0"]
    subprocess.run(argv, env=environment(tmp_path), check=True, cwd=tmp_path)
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    return os.environ | {
        "SVC_DATA_DIR": str(home / "data"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": str(ROOT),
    }


@pytest.mark.slow
@pytest.mark.parametrize("enough", [1, 20, 33])
def test_a_kill_loses_nothing_that_was_flushed(home, enough):
    argv = [sys.executable, "-m", "tests.dashboard.history.writer"]
    with subprocess.Popen(
        argv, env=environment(home), cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        next(line for line in writer.stdout if int(line) == enough)
        writer.send_signal(signal.SIGKILL)
        flushed = max([enough, *map(int, writer.stdout.read().split())]) + 1

    with contextlib.closing(sqlite3.connect(home / "data" / "svc.sqlite3")) as database:
        samples, checks, edges = (
            database.execute(f"SELECT {what}").fetchone()[0]
            for what in (
                "count(*) FROM dashboard_sample WHERE ok",
                "sum(n) FROM dashboard_hour",
                "count(*) FROM dashboard_edge",
            )
        )
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert flushed <= samples == checks == edges <= flushed + 1
