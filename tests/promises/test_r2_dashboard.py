"""R2 for the dashboard: SIGTERM with streams and services ends the server, and no service."""

from __future__ import annotations

import os
import signal
import time

import psutil
import pytest

from tests.dashboard.served import NO_PICTURES, Served
from tests.promises.rings import ring
from tests.service import until
from tests.wire import EventClient

ROUNDS = ring(fast=1, slow=100)
SERVICES = ("one", "two", "three")
STREAMS = 50


@pytest.mark.promise("R2")
@pytest.mark.timeout(3600)
def test_a_stop_under_streams_leaves_three_services_alive(tmp_path):
    served = Served(tmp_path, dashboard={**NO_PICTURES, "scan": {"enabled": False}})
    try:
        stop_and_start(served)
    finally:
        served.kill9()
        for process in psutil.process_iter(["environ"]):
            if (process.info["environ"] or {}).get("HOME") == str(served.home):
                process.kill()
        served.api.close()
        served.http.close()


def stop_and_start(served: Served) -> None:
    for slug in SERVICES:
        served.declare(slug, "service: {command: sleep 600}\n")
    served.start()
    until(lambda: served.api.get("/api/state").status_code == 200)
    pids = [served.act(slug, "start")["pid"] for slug in SERVICES]
    for _ in range(ROUNDS):
        streams = [EventClient(served.ports["dashboard"], "/api/events") for _ in range(STREAMS)]
        for stream in streams:
            stream.connect()
            stream.read()

        took = stopped(served)

        assert took < 10
        assert "Traceback" not in served.log()
        for stream in streams:
            while stream.read():
                pass
        assert all(map(psutil.pid_exists, pids))

        served.start()
        until(lambda: served.api.get("/api/state").status_code == 200)
        found = [served.app(slug)["service"] for slug in SERVICES]
        assert [(one["pid"], one["adopted"]) for one in found] == [(pid, True) for pid in pids]
    served.stop_services()
    served.stop()


def stopped(served: Served) -> float:
    """Seconds that `up` took to end after SIGTERM; what services are running is not its family."""
    assert served.process is not None
    began = time.monotonic()
    os.kill(served.process.pid, signal.SIGTERM)
    assert served.process.wait(15) == 0
    served._forget()
    return time.monotonic() - began
