"""The right state of each kind of server, with real ones (D24, D27 to D30, D38, D44 to D46)."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.dashboard.served import Served
from tests.service import free_port, until

ASKED_OFTEN = "health: {interval: 1s}\n"
SPOKEN_TO_BY_NOBODY = (27017, 11211, 9092, 6379, 5432, 3306)  # silent ports a test may open
FORKS = """
import http.server, os, sys
if os.fork():
    sys.exit(0)
os.setsid()
if os.fork():
    os._exit(0)
http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]), bind="127.0.0.1")
"""

WRITES_ON = """
import time
for number in range(4000):
    print("line", number, "." * 90)
    if number % 100 == 0:
        time.sleep(0.1)
print("the end")
time.sleep(600)
"""


class Answering(http.server.ThreadingHTTPServer):
    """A server with one habit: its status, and how long it takes."""

    daemon_threads = True

    def __init__(self, status: int = 200, *, host: str = "127.0.0.1", seconds: float = 0.0) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        wait = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wait.wait(seconds)
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__((host, 0), Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextlib.contextmanager
def answering(status: int = 200, **habit: Any) -> Iterator[Answering]:
    with Answering(status, **habit) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(5)


def until_is(served: Served, slug: str, state: str, reason: str) -> dict[str, Any]:
    """The App once it is in this state for this reason."""
    found: dict[str, Any] = {}

    def reached() -> bool:
        found.clear()
        found.update(served.app(slug))
        return (found.get("state"), found.get("reason")) == (state, reason)

    try:
        until(reached, seconds=15)
    except AssertionError:
        told = {key: found.get(key) for key in ("state", "reason", "message", "last")}
        raise AssertionError(f"{slug} is not {state} ({reason}): {told}") from None
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "host"), [("four", "127.0.0.1"), ("six", "::1")])
def test_a_server_on_one_address_alone_is_up_and_the_address_is_named(
    served: Served,
    name: str,
    host: str,
) -> None:
    with answering(host=host) as server:
        served.declare(name, f"port: {server.port}\n")

        assert until_is(served, name, "up", "ok")["last"]["addr"] == host


@pytest.mark.parametrize(
    ("status", "state", "reason", "message"),
    [
        (404, "up", "ok", "answers 404"),
        (401, "up", "auth-required", None),
        (403, "up", "auth-required", None),
        (301, "up", "redirect", None),
        (500, "degraded", "http-5xx", None),
        (502, "down", "gateway", None),
    ],
)
def test_a_status_is_the_state_of_its_app(
    served: Served,
    status: int,
    state: str,
    reason: str,
    message: str | None,
) -> None:
    slug = f"answers-{status}"
    with answering(status) as server:
        served.declare(slug, f"port: {server.port}\nexpected: always\n{ASKED_OFTEN}")

        found = until_is(served, slug, state, reason)

    assert found["last"]["status"] == status
    assert message is None or found["message"] == message


def test_an_app_that_answers_late_is_slow(served: Served) -> None:
    with answering(seconds=0.3) as server:
        served.declare("late", f"port: {server.port}\nhealth: {{interval: 1s, slow: 200ms}}\n")

        until_is(served, "late", "degraded", "slow")


def test_another_project_on_the_port_is_the_wrong_process_and_is_observed(
    served: Served,
) -> None:
    dev = served.dev_server("stranger")
    cwd = served.tmp / "src" / "mine"
    with served.events() as stream:
        served.declare("mine", f"port: {dev.port}\nexpected: always\nmatch: {{cwd: '{cwd}'}}\n")
        found = until_is(served, "mine", "down", "wrong-process")
        stream.has(type="state", slug="mine", state="down")

    stranger = until(lambda: served.observed(dev.port), what="the stranger")
    assert stranger["identity"]["process"]["pid"] == dev.process.pid
    assert stranger["identity"]["cwd"] == str(dev.cwd)
    assert found["observedId"] is None

    dev.kill()
    until_is(served, "mine", "down", "no-listener")


def test_nothing_is_ever_sent_to_a_port_of_a_database(served: Served) -> None:
    with socket.socket() as database:
        database.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port = next(port for port in SPOKEN_TO_BY_NOBODY if opened(database, port))
        database.listen()
        database.settimeout(15)
        served.declare("database", f"port: {port}\n{ASKED_OFTEN}")

        for _ in range(3):
            connection, _address = database.accept()
            connection.settimeout(5)
            assert connection.recv(1) == b""  # the other side has left without a word
            connection.close()
        assert until_is(served, "database", "up", "ok")["last"]["status"] is None


def opened(server: socket.socket, port: int) -> bool:
    with contextlib.suppress(OSError):
        server.bind(("127.0.0.1", port))
        return True
    return False


@pytest.mark.parametrize(("expected", "state"), [("always", "down"), ("sometimes", "stopped")])
def test_a_killed_app_has_its_state_within_five_seconds(
    served: Served,
    expected: str,
    state: str,
) -> None:
    slug = f"killed-{expected}"
    dev = served.dev_server(f"{slug}-source")
    served.declare(slug, f"port: {dev.port}\nexpected: {expected}\n")
    served.until_state(slug, "up", seconds=15)
    until(lambda: served.app(slug)["observedId"], what="the scan knows it")
    with served.events() as stream:
        dev.kill()
        killed = time.monotonic()

        told = stream.until(lambda one: one.get("slug") == slug and "state" in one)

    assert told["state"] == state
    assert told["at"] - killed <= 5


def test_a_command_that_puts_itself_into_the_background_is_up_and_can_be_stopped(
    served: Served,
) -> None:
    port = free_port()
    command = json.dumps([sys.executable, "-c", FORKS, str(port)])
    block = f"service: {{command: {command}, cwd: '{served.tmp}'}}\n"
    served.declare("background", f"port: {port}\n{block}")
    until(lambda: served.app("background"))

    assert served.act("background", "start")["ok"]

    found = until_is(served, "background", "up", "ok")
    assert (found["service"]["status"], found["service"]["lastExit"]) == ("running", None)
    assert served.act("background", "stop")["ok"]
    until_is(served, "background", "stopped", "user")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_service_has_its_own_variables_and_none_of_the_servers(
    served: Served,
) -> None:
    block = f"service: {{command: 'env -0 > seen; exec sleep 600', cwd: '{served.tmp}'}}\n"
    served.declare("sees", f"port: {free_port()}\n{block}")
    until(lambda: served.app("sees"))
    seen = served.tmp / "seen"
    port = served.app("sees")["port"]
    starting = threading.Thread(target=served.act, args=("sees", "start"))
    starting.start()

    text = until(lambda: seen.read_text() if seen.exists() else "", what="its environment")
    found = dict(one.split("=", 1) for one in text.split("\0") if one)

    assert (found["PORT"], found["SVC_APP"]) == (str(port), "sees")
    assert {name for name in found if name.startswith("SVC_")} == {"SVC_APP", "SVC_RUN"}
    assert not found.keys() & {"DJANGO_SETTINGS_MODULE", "DATABASE_URL", "RUN_MAIN", "VIRTUAL_ENV"}
    assert "/bin" in found["PATH"].replace("/usr", "").split(":")
    served.act("sees", "stop")
    starting.join(15)


def test_while_the_database_is_locked_the_dashboard_answers_and_nothing_is_lost(
    served: Served,
) -> None:
    dev = served.dev_server("locked-source")
    served.declare("locked", f"port: {dev.port}\n{ASKED_OFTEN}")
    served.until_state("locked", "up", seconds=15)
    other = sqlite3.connect(served.data / "svc.sqlite3", isolation_level=None, timeout=20)
    other.execute("BEGIN IMMEDIATE")
    try:
        dev.kill()
        served.until_state("locked", "stopped")
        begun = time.monotonic()
        assert served.api.patch("/api/apps/locked", json={"notes": "on"}).status_code == 200
        assert served.state()["apps"]
        assert time.monotonic() - begun < 3
    finally:
        other.execute("ROLLBACK")
        other.close()

    def moves() -> list[str]:
        found = served.api.get("/api/apps/locked/history").raise_for_status().json()
        return [one["to"] for one in found["transitions"]]

    until(lambda: moves()[-1:] == ["stopped"], what="the change is in the history")
    assert "up" in moves()


@pytest.mark.slow
def test_a_follower_of_a_log_sees_each_line_once_over_its_rotations(
    served: Served,
) -> None:
    config = served.data / "dashboard" / "config.yaml"
    before = config.read_text()
    config.write_text(f"{before}services: {{logMaxBytes: 65536, logKeep: 20}}\n")
    command = json.dumps([sys.executable, "-u", "-c", WRITES_ON])
    served.declare("writes", f"service: {{command: {command}, cwd: '{served.tmp}'}}\n")
    until(lambda: served.app("writes"))
    lines: list[str] = []
    position = 0

    def followed() -> bool:
        nonlocal position
        query = {"after": position, "lines": 5000}
        found = served.api.get("/api/apps/writes/logs", params=query).raise_for_status().json()
        assert not found["truncated"]
        lines.extend(found["lines"])
        position = found["bytes"]
        return lines[-1:] == ["the end"]

    try:
        starting = threading.Thread(target=served.act, args=("writes", "start"))
        starting.start()
        until(followed, seconds=30, what="the last line")
        starting.join(15)
    finally:
        config.write_text(before)

    assert lines == [*(f"line {number} {'.' * 90}" for number in range(4000)), "the end"]
    archives = (served.data / "dashboard" / "logs" / "writes").glob("@*.log")
    assert len(list(archives)) >= 2
    served.act("writes", "stop")
