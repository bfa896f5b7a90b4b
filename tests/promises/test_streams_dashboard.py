"""F8, F9 and R4 for the dashboard: edits are seen, streams have no gap, nothing is left behind."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import psutil
import pytest

from tests.dashboard.served import Served
from tests.promises.rings import ring, seeded
from tests.promises.test_f8_seen import quiet
from tests.service import until
from tests.wire import EventClient

EDITS = ring(fast=20, slow=1000)
CUTS = ring(fast=10, slow=1000)
CLIENTS = ring(fast=10, slow=200)
STARTS = ring(fast=4, slow=50)
ROUNDS = 3


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):
    """A service that scans nothing: whatever is told was done here."""
    config = {"scan": {"enabled": False}, "screenshots": {"enabled": False}}
    with Served(tmp_path_factory.mktemp("streams"), dashboard=config) as running:
        until(lambda: running.api.get("/api/state").status_code == 200, what="the files are loaded")
        yield running


@pytest.mark.promise("F8")
def test_an_edit_of_an_app_reaches_an_open_stream(served: Served):
    with served.events() as stream:
        served.declare("seen", "name: first\npaused: true\n")
        stream.has(type="apps")

        late = sorted(seen(served, stream, number) for number in range(EDITS))

    assert median(late) < 0.3  # 150 ms of it are the debounce
    assert late[min(len(late) - 1, int(len(late) * 0.99))] < 1.0
    assert served.app("seen")["name"] == f"edit {EDITS - 1}"


def seen(served: Served, stream, number: int) -> float:
    """Seconds from an edit, in place or by a file moved over it, to its event."""
    before = len(stream.all)
    text = f"name: edit {number}\npaused: true\n"
    draft = served.file("seen").with_name(".seen.yaml.swp")
    began = time.monotonic()
    if number % 2:
        served.file("seen").write_text(text)
    else:
        draft.write_text(text)
        draft.replace(served.file("seen"))

    def told() -> dict[str, Any] | None:
        """Its last event: an edit in place may come as two, also late ones of the edit before."""
        events = [one for one in stream.all[before:] if one.get("slug") == "seen"]
        return events[-1] if events and served.app("seen")["name"] == f"edit {number}" else None

    event = until(told, what="the edit is told")
    assert event is not None
    return float(event["at"] - began)


@pytest.mark.promise("F9")
def test_streams_cut_at_random_bytes_miss_and_double_nothing(served: Served):
    rng = seeded()
    clients = [EventClient(served.ports["dashboard"], "/api/events") for _ in range(CLIENTS)]
    for client in clients:
        client.connect()
        client.read()

    for number in range(CUTS):
        served.api.put(f"/api/bookmarks/g-{number}", json={"name": f"{number}"})
        for client in rng.sample(clients, CLIENTS // 2):
            client.socket.settimeout(10)
            client.read(rng.randrange(1, 90))
            client.close()
            client.connect()
    for client in clients:
        quiet(client)

    first = max(client.ids[0] for client in clients)
    last = clients[0].ids[-1]
    for client in clients:
        client.close()
        assert client.ids == list(range(client.ids[0], last + 1))
    assert last - first >= CUTS // 2


@pytest.mark.slow
@pytest.mark.promise("R4")
def test_services_that_came_and_went_leave_no_descriptor_thread_or_memory(served: Served):
    server = psutil.Process(served.pid)
    served.declare("brief", "service: {command: sleep 60, stopTimeout: 1s}\n")
    until(lambda: served.app("brief").get("service"), what="the service is known")
    come_and_go(served, 3)  # what the allocator keeps is kept from here on

    # What a busy machine makes grow once, a pool of threads or an arena, no round makes grow again.
    assert any(leaves_nothing(served, server) for _ in range(ROUNDS))


def leaves_nothing(served: Served, server: psutil.Process) -> bool:
    files, threads, memory = counts(server)
    come_and_go(served, STARTS)
    until(lambda: counts(server)[0] - files <= 2, what="descriptors are back")
    return counts(server)[1] - threads <= 2 and counts(server)[2] - memory <= 5_000_000


def come_and_go(served: Served, times: int) -> None:
    for _ in range(times):
        assert served.act("brief", "start")["ok"]
        assert served.act("brief", "stop")["ok"]


def counts(server: psutil.Process) -> tuple[int, int, int]:
    return server.num_fds(), server.num_threads(), server.memory_info().rss
