"""R4: streams and requests that come and go leave nothing behind in the server."""

from __future__ import annotations

import psutil
import pytest

from tests.promises.rings import ring
from tests.service import Service, until
from tests.wire import EventClient

STREAMS = ring(fast=500, slow=5000)
BATCH = 100


@pytest.mark.promise("R4")
def test_streams_that_came_and_went_leave_no_descriptor_thread_or_memory(tmp_path):
    with Service(tmp_path, scheduler=False) as service:
        server = psutil.Process(service.pid)
        come_and_go(service, 5 * BATCH)  # what the allocator keeps is kept from here on
        until(lambda: not open_streams(server, service), what="the first streams are gone")
        files, threads, memory = (
            server.num_fds(),
            server.num_threads(),
            server.memory_info().rss,
        )

        come_and_go(service, STREAMS)

        until(lambda: not open_streams(server, service), what="all streams are gone")
        assert server.num_fds() - files <= 2
        assert server.num_threads() - threads <= 2
        assert server.memory_info().rss - memory <= 5_000_000


def come_and_go(service: Service, count: int) -> None:
    for _ in range(count // BATCH):
        streams = [EventClient(service.ports["main"], "/api/events") for _ in range(BATCH)]
        for stream in streams:
            stream.connect()
        for stream in streams:
            stream.read()
            stream.close()
        service.http.get("/api/projects").raise_for_status()


def open_streams(server: psutil.Process, service: Service) -> list[int]:
    """Connections of the server's main port, but for the one the test keeps for itself."""
    ports = [
        connection.raddr.port
        for connection in server.net_connections("tcp")
        if connection.laddr.port == service.ports["main"] and connection.raddr
    ]
    return ports[1:]
