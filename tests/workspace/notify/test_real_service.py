"""Notifications of a real service with its real cluster: soon, and over a restart."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.service import Service, free_port, until
from tests.stubs.receiver import Receiver
from tests.workspace.chats.world import FAILS
from workspace.notify import setting

pytestmark = pytest.mark.timeout(150)

ASKS = "#!runbook\n```Bash\necho asked\n```\n"
SOON_S = 2.0


@pytest.fixture
def hooked(tmp_path: Path, receiver: Receiver) -> Iterator[Service]:
    """A service with a channel for everything, one that nobody can use, and a bad entry."""
    config = {"notify": [
        {"name": "hook", "url": receiver.url, "events": [*setting.EVENTS]},
        {"name": "phone", "url": "env:PHONE_HOOK", "events": ["review"]},
        {"name": "bad", "url": receiver.url, "events": ["everything"]},
    ]}  # fmt: skip
    with Service(tmp_path, config=config) as running:
        running.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        trigger = {"trigger": {"type": "schedule", "interval": "1d"}, "run": {"prompt": FAILS}}
        answer = running.http.put("/api/projects/alpha/triggers/nightly", json=trigger)
        assert answer.status_code < 300, answer.text
        yield running


def fire(service: Service) -> dict[str, Any]:
    """A run that fails, as the ledger has it once it is over."""
    started = service.http.post("/api/projects/alpha/triggers/nightly/run").json()

    def over() -> dict[str, Any] | None:
        run: dict[str, Any] = service.http.get(f"/api/runs/{started['runId']}").json()["run"]
        return run if run["finishedAt"] else None

    found = until(over, seconds=30, what="the run is over")
    assert found is not None
    return found


def late(message: dict[str, Any], since: str) -> float:
    """Seconds from what happened to now."""
    assert message
    return (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()


def test_what_happens_is_told_within_two_seconds(hooked: Service, receiver: Receiver):
    run = fire(hooked)
    until(lambda: receiver.got, what="told")
    assert late(receiver.got[0], run["finishedAt"]) < SOON_S
    assert receiver.got[0]["event"] == "failed"
    assert receiver.got[0]["url"].startswith(f"http://localhost:{hooked.ports['main']}/projects/")

    sent = hooked.http.post("/api/projects/alpha/chats", json={"prompt": ASKS})
    assert sent.status_code == 201
    until(lambda: len(receiver.got) == 2, seconds=20, what="the question was told")
    asked = receiver.got[1]
    assert (asked["event"], asked["text"]) == ("asked", "echo asked")
    assert late(asked, asked["at"]) < SOON_S


@pytest.mark.slow
def test_what_a_channel_did_not_take_is_told_after_a_restart(hooked: Service, receiver: Receiver):
    receiver.status = 503
    fire(hooked)
    until(lambda: receiver.asked, what="tried")
    hooked.stop()
    assert receiver.got == []

    receiver.status = 200
    hooked.start()

    until(lambda: receiver.got, seconds=30, what="told after all")
    assert [one["event"] for one in receiver.got] == ["failed"]


@pytest.mark.slow
def test_a_channel_that_fails_is_told_in_settings_the_doctor_and_the_log(
    hooked: Service, receiver: Receiver
):
    receiver.status = 500
    fire(hooked)

    def channel() -> dict[str, Any]:
        shown: dict[str, Any] = hooked.http.get("/api/notify").json()["channels"][0]
        return shown

    until(lambda: channel()["state"] == "failing", what="failing")
    assert (channel()["error"], channel()["waiting"]) == ("it answered 500", 1)
    said = [one["text"] for one in hooked.findings() if one["subject"] == "notifications"]
    assert any(text.startswith("notify bad: events: ") for text in said)
    assert any(text.startswith("channel hook fails since 20") for text in said)
    assert any(text.startswith("channel phone fails: it needs the variable") for text in said)
    assert "channel hook took no notification: it answered 500" in hooked.log("qcluster")

    receiver.status = 200
    tried = hooked.http.post("/api/notify/hook/test").json()

    assert tried == {"ok": True, "error": None}
    until(lambda: len(receiver.got) == 2, what="the test, and what had waited")
    assert channel()["state"] == "works"
    assert sorted(one["event"] for one in receiver.got) == ["failed", "test"]


@pytest.mark.slow
def test_the_command_sends_a_test_to_one_channel_or_to_all(hooked: Service, receiver: Receiver):
    one = hooked.run("notify", "--test", "hook")
    every = hooked.run("notify", "--test")
    none = hooked.run("notify", "--test", "fax")
    shown = hooked.run("notify")

    assert (one.returncode, one.stdout) == (0, "hook: taken\n")
    assert every.returncode == 1
    assert "phone: it needs the variable PHONE_HOOK" in every.stdout
    assert none.returncode == 2
    assert "no channel is called fax (svc.config.yaml has: hook, phone)" in none.stderr
    assert "hook: http://127.0.0.1…" in shown.stdout
    assert [one["title"] for one in receiver.got] == ["A test from svc"] * 2
    assert receiver.url not in json.dumps(hooked.http.get("/api/notify").json())


@pytest.mark.slow
def test_an_app_that_falls_and_comes_back_is_told(tmp_path: Path, receiver: Receiver):
    config = {"notify": [{"name": "hook", "url": receiver.url, "events": ["app_down", "app_up"]}]}
    quick = {"scan": {"enabled": True}, "screenshots": {"enabled": False}}
    with Service(tmp_path, config=config, dashboard=quick) as service:
        port = free_port()
        app = {
            "name": "Shop", "port": port, "expected": "always",
            "health": {"interval": "1s", "failures": 1},
        }  # fmt: skip
        with shop(port):
            answer = service.http.put("/dashboard/api/apps/shop", json=app)
            assert answer.status_code < 300, answer.text
            until(lambda: state(service) == "up", seconds=30, what="up")
        until(lambda: receiver.got, seconds=30, what="down is told")
        with shop(port):
            until(lambda: len(receiver.got) == 2, seconds=30, what="up is told")

    assert receiver.titles == ["Shop is down", "Shop is up again"]
    assert receiver.got[0]["url"].endswith("/dashboard/#app=shop")


def state(service: Service) -> str:
    return str(service.http.get("/dashboard/api/apps/shop").json()["state"])


@contextmanager
def shop(port: int) -> Iterator[None]:
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()
