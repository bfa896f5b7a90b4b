"""D5 and S4: a thousand event streams beside one client that never reads."""

from __future__ import annotations

import selectors
import socket
import time

import psutil

from bench.figures import Figure, bounded_figure, count_figure, percentile
from tests.wire import EventClient, Wire, chunked, read_answer, request

ASK = request("GET /events HTTP/1.0\nAccept: text/event-stream")
PUBLISH = "POST /publish HTTP/1.1\nTransfer-Encoding: chunked"
CLIENTS, EVENTS, STALLED_S = 1000, 10, 60
CONNECT_S, P99_MS, GROWTH_MB = 1.5, 120, 20


def figures() -> list[Figure]:
    with Wire() as wire:
        stalled = _stalled_client(wire)
        figures = [*_crowd(wire, CLIENTS), *_storm(wire, STALLED_S)]
        stalled.close()
        wire.close()
    return figures


def _crowd(wire: Wire, count: int) -> list[Figure]:
    """Open this many streams at once; then send ten events, each timed to every client."""
    began = time.perf_counter()
    streams = selectors.DefaultSelector()
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", wire.port), timeout=30)
        client.sendall(ASK)
        streams.register(client, selectors.EVENT_READ, [])
    _each_hears(streams, b"event: hello")
    connected = time.perf_counter() - began
    late = [ms for _ in range(EVENTS) for ms in _event(wire, streams)]
    for key in list(streams.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]
    streams.close()
    what = f"{count} event streams, one client stalled"
    return [
        bounded_figure("D5", f"{what}: connect", connected, CONNECT_S, unit="s"),
        bounded_figure("D5", f"{what}: event, p99", percentile(late, 0.99), P99_MS, unit="ms"),
        count_figure("D5", f"{what}: events lost", count * EVENTS - len(late)),
    ]


def _event(wire: Wire, streams: selectors.DefaultSelector) -> list[float]:
    """Publish one event; milliseconds until each client has it."""
    with wire.connect() as connection:
        began = time.perf_counter()
        connection.sendall(request(PUBLISH, chunked(b"1", b"")))
        heard = _each_hears(streams, b"event: n")
        read_answer(connection)
    return [(at - began) * 1000 for at in heard]


def _each_hears(streams: selectors.DefaultSelector, text: bytes) -> list[float]:
    """The time at which each client has read the event; clients that never do are missing."""
    waiting = {key.fd for key in streams.get_map().values()}
    heard: list[float] = []
    while waiting and (ready := streams.select(10)):
        for key, _events in ready:
            if text in key.fileobj.recv(65536):  # type: ignore[union-attr]
                waiting.discard(key.fd)
                heard.append(time.perf_counter())
    return heard


def _stalled_client(wire: Wire) -> socket.socket:
    """A client that asks for the stream and never reads, with the smallest possible buffers."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    client.connect(("127.0.0.1", wire.port))
    client.sendall(ASK)
    return client


def _storm(wire: Wire, seconds: float) -> list[Figure]:
    """One event per millisecond, to a client that reads and to one that does not."""
    server = psutil.Process(wire.process.pid)
    reader = EventClient(wire.port, "/events")
    reader.connect()
    reader.read()
    before, most, sent = server.memory_info().rss, 0, 0
    with wire.connect() as connection:
        began = time.perf_counter()
        while (now := time.perf_counter() - began) < seconds:
            due = max(1, int(now * 1000) - sent)
            connection.sendall(request(PUBLISH, chunked(b"%d" % due, b"")))
            last = int(read_answer(connection)[1])
            sent += due
            while not reader.ids or reader.ids[-1] < last:
                if not reader.read():
                    reader.connect()
            most = max(most, server.memory_info().rss)
            time.sleep(0.01)
    gaps = reader.ids[-1] - reader.ids[0] + 1 - len(reader.ids)
    reader.close()
    what = f"{sent / seconds:.0f} events/s for {seconds:.0f} s beside a stalled client"
    return [
        bounded_figure(
            "D5", f"{what}: growth of memory", (most - before) / 1e6, GROWTH_MB, unit="MB"
        ),
        count_figure(
            "D5", f"{what}: events lost or doubled by a reader", gaps + sent - len(reader.ids)
        ),
    ]
