"""S4: a thousand clients on one event stream: connect, and publish to the last client."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable

from bench.figures import Figure
from tests.wire import Wire, chunked, read_answer, request

CLIENTS = 1000
EVENTS = 30
CONNECT_S, P99_MS = 2.0, 120.0


def main() -> list[Figure]:
    wire = Wire()
    try:
        return streamed(wire.port, "/events", lambda streams: publish(wire.port, streams))
    finally:
        wire.close()


def streamed(
    port: int, path: str, publish: Callable[[selectors.DefaultSelector], float]
) -> list[Figure]:
    """Connect all to `path`; `publish` tells how long an event took to the last of them."""
    began = time.perf_counter()
    streams = connect(port, path)
    took = time.perf_counter() - began
    late = sorted(publish(streams) for _ in range(EVENTS))
    for stream in list(streams.get_map().values()):
        stream.fileobj.close()  # type: ignore[union-attr]
    p99 = late[int(len(late) * 0.99)] * 1000
    what = f"{CLIENTS} event streams"
    return [
        Figure("S4", f"{what}: connect", f"{took:.2f} s", "", None, "< 2 s", took < CONNECT_S),
        Figure(
            "S4",
            f"{what}: publish to the last client, p99",
            f"{p99:.0f} ms",
            "",
            None,
            "< 120 ms",
            p99 < P99_MS,
        ),
    ]


def connect(port: int, path: str) -> selectors.DefaultSelector:
    """Open all streams at once; each has had its greeting."""
    streams = selectors.DefaultSelector()
    ask = request(f"GET {path} HTTP/1.0\nAccept: text/event-stream")
    for _ in range(CLIENTS):
        client = socket.create_connection(("127.0.0.1", port), timeout=30)
        client.sendall(ask)
        streams.register(client, selectors.EVENT_READ)
    each_reads(streams, b"event: hello")
    return streams


def publish(port: int, streams: selectors.DefaultSelector) -> float:
    """Seconds from the publish of one event until the last client has read it."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        began = time.perf_counter()
        head = "POST /publish HTTP/1.1\nTransfer-Encoding: chunked"
        connection.sendall(request(head, chunked(b"1", b"")))
        each_reads(streams, b"event: n")
        took = time.perf_counter() - began
        read_answer(connection)
    return took


def each_reads(streams: selectors.DefaultSelector, text: bytes) -> None:
    missing = {key.fd for key in streams.get_map().values()}
    while missing:
        for key, _events in streams.select(10):
            if text in key.fileobj.recv(65536):  # type: ignore[union-attr]
                missing.discard(key.fd)
