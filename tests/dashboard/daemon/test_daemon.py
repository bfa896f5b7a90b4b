"""A daemon of the test's own: not yet loaded, with a task that fails, and at its end."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from threading import Event
from typing import Any

import orjson
import psutil
import pytest

from config.errors import Unavailable
from dashboard import daemon as daemons
from dashboard.daemon import Daemon, current
from dashboard.health.record import Port
from dashboard.health.result import Kind, Result
from dashboard.listeners import scan
from dashboard.registry import records
from dashboard.registry.app import App
from tests.service import free_port, until

pytestmark = pytest.mark.django_db(transaction=True)


def loaded(daemon: Daemon) -> Daemon:
    daemon.start()
    assert daemon.loaded.wait(10)
    return daemon


def test_until_the_files_are_loaded_every_question_is_refused(daemon: Daemon) -> None:
    daemons.serve(daemon)
    try:
        with pytest.raises(Unavailable) as refused:
            current()
        assert (refused.value.status, refused.value.code) == (503, "starting")

        loaded(daemon)

        assert current() is daemon
    finally:
        daemons.serve(None)


def test_a_scan_that_raises_is_named_and_everything_else_goes_on(
    daemon: Daemon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, calls = scan.scan, []

    def fails_once() -> scan.Scan:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("no netlink today")
        return whole()

    monkeypatch.setattr(scan, "scan", fails_once)
    loaded(daemon)

    [error] = until(lambda: daemon.ask(daemon.views.file_errors))
    (home / "apps" / "shop.yaml").write_text("name: Shop\nport: 9\n")
    daemon.sync()

    assert error["file"] == "daemon/scan"
    assert "no netlink today" in error["message"]
    assert daemon.ask(daemon.views.app, "shop", None) is not None
    until(lambda: len(calls) > 1, what="the next scan")


def test_what_the_last_scan_showed_is_no_evidence_once_scanning_is_off(
    daemon: Daemon, home: Path
) -> None:
    """Else a stopped app, whose port a scan has seen empty, would never be asked again."""
    (home / "apps" / "shop.yaml").write_text(f"name: Shop\nport: {free_port()}\n")
    loaded(daemon)

    def seen() -> Port | None:
        record = daemon.ask(daemon.state.runner.record, "shop")
        return record.port if record else None

    until(lambda: seen() is Port.EMPTY)

    (home / "config.yaml").write_text("screenshots: {enabled: false}\nscan: {enabled: false}\n")
    daemon.sync()

    assert seen() is Port.UNSEEN


def test_a_sync_that_finds_nothing_new_asks_nobody(
    daemon: Daemon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "apps" / "shop.yaml").write_text("name: Shop\nport: 9\n")
    loaded(daemon)
    daemon.sync()
    rev = daemon.ask(lambda: daemon.state.files)

    daemon.sync()

    assert daemon.ask(lambda: daemon.state.files) is rev


def test_it_ends_within_three_seconds_and_refuses_from_then_on(daemon: Daemon) -> None:
    loaded(daemon)
    begun = time.monotonic()

    assert daemon.stop()

    assert time.monotonic() - begun < 3
    with pytest.raises(Unavailable):
        daemon.ask(daemon.views.apps, None)


def test_an_end_does_not_wait_for_what_is_still_being_loaded(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Event()

    async def for_ever() -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(daemon.state.gallery, "begin", for_ever)
    daemon.start()
    assert begun.wait(10)

    assert daemon.stop()


def test_a_room_that_does_not_end_holds_up_neither_the_others_nor_the_end(
    daemon: Daemon, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loaded(daemon)
    until(
        lambda: daemon.ask(daemon.views.observed)["scannedAt"],
        what="a scan, which the journal tells",
    )
    recorder, written, go_on = daemon.state.history.recorder, Event(), Event()
    lost, history = daemon.state.lost.close, recorder.close

    async def journal() -> None:
        await lost()
        written.set()

    def stuck(now: float) -> bool:
        go_on.wait(10)
        return history(now)

    monkeypatch.setattr(daemon.state.lost, "close", journal)
    monkeypatch.setattr(recorder, "close", stuck)
    begun = time.monotonic()
    try:
        assert daemon.stop()
        assert time.monotonic() - begun < 2.5
    finally:
        go_on.set()

    assert written.is_set()
    [late] = [one for one in caplog.records if one.name == "dashboard.daemon.tasks"]
    assert (late.levelname, late.exc_info) == ("WARNING", None)
    assert late.getMessage() == "the history did not end in time"


@pytest.mark.parametrize("seconds", [3, -1])
def test_a_running_service_is_up_whatever_the_clock_is_set_to(
    daemon: Daemon, home: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """The system tells starts by the clock on the wall, and another once that is set."""
    text = "service: {command: sleep 600}\nhealth: {interval: 1s}\n"
    (home / "apps" / "worker.yaml").write_text(text)
    loaded(daemon)

    def asked(since: float) -> Result | None:
        found = daemon.ask(daemon.state.results.get, "worker")
        return found if found and found.began > since else None

    def shown() -> str:
        app = daemon.ask(daemon.views.app, "worker", None)
        return str(app["state"]) if app else ""

    until(lambda: daemon.ask(daemon.state.services.find_definition, "worker"), what="the service")
    assert daemon.wait(daemon.state.services.act, "worker", "start").ok
    until(lambda: shown() == "up", seconds=15, what="up")
    started, at = psutil.Process.create_time, time.monotonic()
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: started(self) + seconds)

    told = until(lambda: asked(at), seconds=10, what="asked")

    assert told is not None
    assert (told.kind, shown()) == (Kind.OK, "up")
    assert daemon.wait(daemon.state.services.act, "worker", "stop").ok


def test_the_tag_of_the_state_stays_until_something_changes(daemon: Daemon, home: Path) -> None:
    (home / "apps" / "shop.yaml").write_text("name: Shop\npaused: true\nport: 9\n")
    (home / "config.yaml").write_text("screenshots: {enabled: false}\nscan: {enabled: false}\n")
    loaded(daemon)
    tags = [daemon.ask(daemon.views.state)[1] for _ in range(20)]
    _, before = daemon.ask(daemon.views.state)

    (home / "apps" / "shop.yaml").write_text("name: Store\npaused: true\nport: 9\n")
    daemon.sync()
    data, after = daemon.ask(daemon.views.state)

    assert tags == [before] * 20
    assert before != after
    assert b'"name":"Store"' in data


def test_a_record_that_is_no_text_does_not_take_the_whole_state_with_it(
    daemon: Daemon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for slug in ("odd", "shop"):
        (home / "apps" / f"{slug}.yaml").write_text("port: 9\n")
    made = records.app

    def odd(app: App, **more: Any) -> records.App:
        found = made(app, **more)
        return {**found, "message": "in caf\udce9"} if app.slug == "odd" else found

    monkeypatch.setattr(records, "app", odd)
    loaded(daemon)

    body, _ = daemon.ask(daemon.views.state)

    shown = {one["slug"]: one["message"] for one in orjson.loads(body)["apps"]}
    assert shown.keys() == {"odd", "shop"}
    assert shown["odd"] == "in caf\ufffd"
