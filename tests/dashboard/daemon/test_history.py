"""What was told a moment ago is in the history that is asked for (case D38)."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from config.errors import NotFound
from dashboard import daemon as daemons
from dashboard.daemon import Daemon, history_writer
from dashboard.operations.history import app_history
from tests.service import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def serving(daemon: Daemon, home: Path, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    """It never flushes by itself, and has one paused app."""
    monkeypatch.setattr(history_writer, "FLUSH_S", 3600.0)
    (home / "config.yaml").write_text("screenshots: {enabled: false}\nscan: {enabled: false}\n")
    (home / "apps" / "shop.yaml").write_text("port: 9\npaused: true\n")
    daemon.start()
    assert daemon.loaded.wait(10)
    daemons.serve(daemon)
    return daemon


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


def turned(daemon: Daemon, state: str) -> None:
    daemon.ask(
        lambda: daemon.state.history.recorder.edge("shop", time.time(), "unknown", state, "ok")
    )


def told() -> list[str]:
    return [one["to"] for one in app_history(slug="shop")["transitions"]]


def test_a_change_of_this_moment_is_in_the_history(serving: Daemon) -> None:
    for state in ("up", "degraded", "down"):
        turned(serving, state)

        assert told()[-1] == state


def test_a_locked_database_is_not_waited_for(serving: Daemon) -> None:
    turned(serving, "up")
    assert told()[-1] == "up"

    with locked():
        turned(serving, "down")
        begun = time.monotonic()
        assert [told()[-1] for _ in range(3)] == ["up"] * 3
        assert time.monotonic() - begun < 5

    until(lambda: told()[-1] == "down", what="written once it can be")


def test_what_has_no_history_is_still_none(serving: Daemon) -> None:
    with pytest.raises(NotFound):
        app_history(slug="nobody")


def test_a_history_in_which_nothing_changed_is_not_waited_for(
    serving: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every probe of every app waits for the disk; a reader is not to write them all each time."""
    turned(serving, "up")
    assert told()[-1] == "up"
    flushes: list[float] = []
    flush = serving.state.history.recorder.flush

    def counted(now: float) -> bool:
        flushes.append(now)
        return flush(now)

    monkeypatch.setattr(serving.state.history.recorder, "flush", counted)

    serving.ask(
        lambda: serving.state.history.recorder.add("shop", time.time(), "up", 1000, 200, ok=True)
    )
    told()
    assert flushes == []

    turned(serving, "down")
    told()
    assert len(flushes) == 1
