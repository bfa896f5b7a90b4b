"""R2: SIGTERM with streams open and a turn running ends everything, cleanly and soon."""

from __future__ import annotations

import time

import pytest

from tests.promises.rings import ring
from tests.service import Service, until
from tests.wire import EventClient

ROUNDS = ring(fast=1, slow=100)
STREAMS = 50


@pytest.mark.promise("R2")
def test_a_stop_under_streams_and_a_turn_is_clean(stopped_service):
    service = stopped_service
    service.env["SVC_SCHEDULER"] = "on"
    service.start()
    service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    for _ in range(ROUNDS):
        chat = running_turn(service)
        paths = ("/api/events", f"/api/projects/alpha/chats/{chat}/events")
        port = service.ports["main"]
        streams = [EventClient(port, paths[number % 2]) for number in range(STREAMS)]
        for stream in streams:
            stream.connect()
            stream.read()

        started = time.monotonic()
        service.stop()  # asserts: exit 0, no process left, no traceback in the server's log
        took = time.monotonic() - started

        print(f"a stop took {took:.1f} s")
        assert took < 10
        assert "Traceback" not in service.log("qcluster")
        for stream in streams:
            while stream.read():
                pass
            stream.close()
        service.start()
    service.stop()


def running_turn(service: Service) -> str:
    """A chat whose turn runs a command that would take minutes; returns its id."""
    runbook = "```svc\n- tool: Bash\n  command: sleep 300\n```\n"
    made = service.http.post("/api/projects/alpha/chats", json={"prompt": runbook})
    chat: str = made.raise_for_status().json()["chat"]["sessionId"]

    def running() -> bool:
        shown = service.http.get(f"/api/projects/alpha/chats/{chat}").json()["chat"]
        return bool(shown["running"])

    until(running, seconds=30, what="the turn runs")
    return chat
