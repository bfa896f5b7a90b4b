"""Event streams: ids, resuming, slow clients, pings."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Any

import orjson
import pytest

from config.web import events
from config.web.events import QUEUE, RING, Broadcaster, EventStream


def parse(data: bytes) -> list[dict[str, Any]]:
    """The events of a piece of stream; comments and retry lines are dropped."""
    found = []
    for block in data.decode().split("\n\n"):
        fields = dict(re.findall(r"^(\w+): (.*)$", block, re.MULTILINE))
        if "data" in fields:
            found.append(fields | {"data": orjson.loads(fields["data"])})
    return found


async def taken(source: Broadcaster, last_id: str | None) -> list[dict[str, Any]]:
    """What a client that joins with this id is given at once, without the greeting."""
    client = source.join(last_id)
    source.leave(client)
    return parse(await client.take())[1:]


async def test_ids_rise_by_one_from_the_start_time_in_milliseconds():
    source = Broadcaster()

    assert [source.publish("project", {}) for _ in range(3)] == [
        source.boot,
        source.boot + 1,
        source.boot + 2,
    ]
    assert source.boot > 1_700_000_000_000


async def test_a_client_is_greeted_at_once_and_told_where_it_stands():
    source = Broadcaster()
    last = source.publish("project", {})

    text = await source.join(None).take()

    assert text.startswith(b"retry: 2000\nid: %d\n\nevent: hello\ndata: " % last)
    assert parse(text)[0]["data"]["boot"] == source.boot


async def test_a_surface_may_greet_without_an_event():
    source = Broadcaster(hello=False, retry_ms=1000)
    last = source.publish("", {})

    assert await source.join(None).take() == b"retry: 1000\nid: %d\n\n" % last


async def test_a_client_that_resumes_keeps_its_id_until_what_it_missed_has_come():
    source = Broadcaster()
    first = source.publish("run", {})
    last = source.publish("run", {})

    text = await source.join(str(first)).take()

    assert text.startswith(b"retry: 2000\n\nevent: hello\n")
    assert text.count(b"id: ") == text.count(b"id: %d\n" % last) == 1


async def test_an_event_reaches_every_client_once():
    source = Broadcaster()
    clients = [source.join(None) for _ in range(3)]
    for client in clients:
        await client.take()

    number = source.publish("chat", {"id": "é"})

    for client in clients:
        assert await client.take() == f'id: {number}\nevent: chat\ndata: {{"id":"é"}}\n\n'.encode()


async def test_an_unnamed_event_has_no_event_line():
    assert events.encode("", {"type": "projects"}, number=7) == (
        b'id: 7\ndata: {"type":"projects"}\n\n'
    )


async def test_a_client_resumes_after_its_last_event():
    source = Broadcaster()
    ids = [source.publish("run", {"n": n}) for n in range(5)]

    assert [event["data"]["n"] for event in await taken(source, str(ids[2]))] == [3, 4]
    assert await taken(source, str(ids[4])) == []
    assert await taken(source, str(source.boot - 1)) != []


@pytest.mark.parametrize("sent", ["0", "-1", "x", "9" * 40, "9" * 13, "1e3", "²"])
async def test_an_id_that_is_not_of_this_run_makes_the_client_start_over(sent):
    source = Broadcaster()
    last = source.publish("run", {})

    found = await taken(source, sent)

    assert [event["event"] for event in found] == ["resync"]
    assert found[0]["id"] == str(last)


async def test_an_id_older_than_the_ring_makes_the_client_start_over():
    source = Broadcaster()
    ids = [source.publish("run", {"n": n}) for n in range(RING + 5)]

    assert [event["event"] for event in await taken(source, str(ids[3]))] == ["resync"]
    assert len(await taken(source, str(ids[4]))) == RING


async def test_threads_that_publish_at_once_neither_lose_nor_swap_an_event():
    source = Broadcaster()
    client = source.join(None)
    await client.take()
    threads = [
        threading.Thread(target=lambda: [source.publish("run", {}) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    got: list[int] = []
    while len(got) < 200:
        got += [int(event["id"]) for event in parse(await client.take())]

    assert got == list(range(source.boot, source.boot + 200))


async def test_a_client_that_joins_while_others_publish_gets_each_event_once():
    source = Broadcaster()
    first = source.publish("run", {})
    stop = threading.Event()

    def publish() -> None:
        while not stop.is_set():
            source.publish("run", {})
            stop.wait(0.0002)

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        last, got = first, []
        for _ in range(30):
            client = source.join(str(last))
            while not (piece := [int(e["id"]) for e in parse(await client.take()) if "id" in e]):
                pass
            source.leave(client)
            got += piece
            last = got[-1]
    finally:
        stop.set()
        thread.join()

    assert got == list(range(first + 1, first + 1 + len(got)))


class Connection:
    """One client of an EventStream: what it was sent, and a hand on its socket."""

    def __init__(self, headers: list[tuple[bytes, bytes]] | None = None, method: str = "GET"):
        self.sent: list[Any] = []
        self.leave = asyncio.Event()
        self.reading = asyncio.Event()
        self.reading.set()
        scope = {"type": "http", "method": method, "headers": headers or []}
        app = EventStream("test")
        self.task = asyncio.ensure_future(app(scope, self.receive, self.send))

    async def receive(self) -> dict[str, Any]:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        await self.reading.wait()

    def events(self) -> list[dict[str, Any]]:
        return parse(b"".join(message.get("body", b"") for message in self.sent))


@pytest.fixture
async def source(monkeypatch):
    monkeypatch.setattr(events, "_broadcasters", {})
    return events.broadcaster("test")


async def settle() -> None:
    """Let everything that is ready run."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_stream_ends_when_its_client_leaves(source):
    connection = Connection()
    await settle()
    assert not connection.task.done()

    connection.leave.set()
    await connection.task

    assert source._clients == set()
    assert source._ping is None


async def test_a_client_that_does_not_read_is_cut_and_the_others_go_on(source):
    slow, quick = Connection(), Connection()
    await settle()
    slow.reading.clear()
    for n in range(QUEUE + 10):
        source.publish("run", {"n": n})
        await settle()

    await slow.task
    assert len(quick.events()) == QUEUE + 11
    quick.leave.set()
    await quick.task


async def test_a_cut_client_resumes_without_a_gap(source):
    slow = Connection()
    await settle()
    slow.reading.clear()
    for n in range(QUEUE + 10):
        source.publish("run", {"n": n})
        await settle()
    await slow.task
    last = slow.events()[-1]["id"].encode()

    again = Connection([(b"last-event-id", last)])
    await settle()

    numbers = [event["data"]["n"] for event in slow.events()[1:] + again.events()[1:]]
    assert numbers == list(range(QUEUE + 10))
    again.leave.set()
    await again.task


async def test_a_silent_stream_is_pinged(source, monkeypatch):
    monkeypatch.setattr(events, "PING_S", 0)
    connection = Connection()
    while not any(message.get("body") == b": ping\n\n" for message in connection.sent):
        await asyncio.sleep(0)

    connection.leave.set()
    await connection.task


async def test_only_get_opens_a_stream(source):
    connection = Connection(method="POST")
    await connection.task

    assert connection.sent[0]["status"] == 405
    assert (b"allow", b"GET") in connection.sent[0]["headers"]


async def test_too_many_streams_are_told_to_come_back(source, monkeypatch):
    monkeypatch.setattr(events, "CLIENTS", 0)
    connection = Connection()
    await connection.task

    assert connection.sent[0]["status"] == 503


def test_a_part_says_itself_what_hello_and_resync_tell_at_that_moment() -> None:
    told: list[str] = []
    source = Broadcaster(
        hello=lambda: {"boot": "b1", "rev": len(told)},
        resync=lambda: [("change", {"type": "all", "rev": len(told)})],
        joined=lambda: told.append("joined"),
    )

    async def join_twice() -> list[bytes]:
        clients = [source.join("7"), source.join("7")]
        data = [await client.take() for client in clients]
        assert source.clients == 2
        for client in clients:
            source.leave(client)
        return data

    first, second = asyncio.run(join_twice())

    for number, data in enumerate((first, second)):
        assert b'"boot":"b1","rev":%d' % number in data
        assert b'"type":"all","rev":%d' % number in data
