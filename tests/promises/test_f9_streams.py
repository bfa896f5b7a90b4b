"""F9: an event stream that is cut at any byte goes on without a gap and without a double."""

from __future__ import annotations

import socket
import threading

import pytest

from tests.promises.rings import ring, seeded
from tests.wire import EventClient, Wire, chunked, read_answer, request

CLIENTS = ring(fast=20, slow=1000)
ROUNDS = ring(fast=5, slow=40)
BURST = 40


@pytest.mark.promise("F9")
def test_clients_cut_at_random_bytes_see_every_event_once():
    with Wire() as wire:
        random = seeded()
        clients = [EventClient(wire.port, "/events") for _ in range(CLIENTS)]
        for client in clients:
            client.connect()
            client.read()  # the greeting: from here on the client knows where it stands
        first = publish(wire, 1)
        for _ in range(ROUNDS):
            publisher = threading.Thread(target=publish, args=(wire, BURST))
            publisher.start()
            for client in random.sample(clients, CLIENTS // 2):
                client.read(random.randrange(1, 900))
                client.close()
                client.connect()
            publisher.join()
        last = publish(wire, 1)

        expected = list(range(first, last + 1))
        for client in clients:
            while not client.ids or client.ids[-1] < last:
                if not client.read():
                    client.connect()  # it was cut for not reading
            client.close()
            assert client.ids == expected


def publish(wire: Wire, count: int) -> int:
    """Publish so many events; returns the last one's id."""
    body = b"%d" % count
    with socket.create_connection(("127.0.0.1", wire.port), timeout=10) as connection:
        head = "POST /publish HTTP/1.1\nTransfer-Encoding: chunked"
        connection.sendall(request(head, chunked(body, b"")))
        return int(read_answer(connection)[1])
