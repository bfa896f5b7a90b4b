"""Several event streams over one connection: each as by itself, none in the way of the others."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from config.web import events
from config.web.answers import Refusal, refuse
from config.web.connections.shared import MOST, SharedStream, connections
from config.web.events import QUEUE, Broadcaster, EventStream
from config.web.guard import Guard, Rules
from tests.service import Service
from tests.wire import EventClient

COOKIE = (b"cookie", b"login=ann")


async def login(scope: dict[str, Any]) -> Any:
    return "ann" if COOKIE in scope["headers"] else Refusal(401)


async def parts(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """What serves a port: two streams without a login, one with, an answer that is no stream."""
    path = scope["path"]
    if path in ("/api/events", "/review/api/events"):
        await EventStream(path)(scope, receive, send)
    elif path == "/dashboard/api/events":
        await Guard(EventStream(path), Rules(limit=0, local=False), login)(scope, receive, send)
    else:
        await refuse(send, Refusal(200, {"id": path}))


class Connection:
    """A client of /api/streams: what it was sent, and a hand on its socket."""

    def __init__(self, *follow: str, headers: Any = (), method: str = "GET") -> None:
        self.follow = follow
        self.sent: list[Any] = []
        self.leave, self.reading = asyncio.Event(), asyncio.Event()
        self.reading.set()
        query = "&".join(f"follow={quote(one)}" for one in follow).encode()
        scope: dict[str, Any] = {"type": "http", "method": method, "headers": list(headers),
                 "query_string": query, "path": "/api/streams", "principal": "somebody",
                 "path_remaining": "", "url_route": {}}  # fmt: skip
        self.task = asyncio.ensure_future(SharedStream(parts)(scope, self.receive, self.send))

    async def receive(self) -> dict[str, Any]:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        await self.reading.wait()

    def got(self) -> dict[str, list[dict[str, str]]]:
        """The fields of each message, by the address that it is of."""
        found: dict[str, list[dict[str, str]]] = {one: [] for one in self.follow}
        at = ""
        body = b"".join(message.get("body", b"") for message in self.sent)
        for block in body.decode().split("\n\n"):
            fields = dict(re.findall(r"^([a-z]+): ?(.*)$", block, re.MULTILINE))
            if "stream" in fields:
                at = self.follow[int(fields.pop("stream"))]
            if fields:
                found[at].append(fields)
        return found

    def numbers(self, address: str) -> list[int]:
        data = [orjson.loads(one["data"]) for one in self.got()[address] if "data" in one]
        return [one["n"] for one in data if "n" in one]

    async def end(self) -> None:
        self.leave.set()
        await self.task


@pytest.fixture(autouse=True)
def sources(monkeypatch) -> dict[str, Broadcaster]:
    monkeypatch.setattr(events, "_broadcasters", {})
    addresses = ("/api/events", "/review/api/events", "/dashboard/api/events")
    return {address: events.broadcaster(address) for address in addresses}


async def settle() -> None:
    """Let everything that is ready run."""
    for _ in range(40):
        await asyncio.sleep(0)


async def test_streams_over_one_connection_are_told_apart_and_end_with_it(sources):
    client = Connection("/api/events", "/review/api/events")
    await settle()
    assert connections() == 1
    for n in range(3):
        for source in list(sources.values())[:2]:
            source.publish("run", {"n": n})
            await settle()

    assert client.sent[0]["status"] == 200
    assert [client.got()[one][0] for one in client.follow] == [{"status": "200"}] * 2
    assert [client.numbers(one) for one in client.follow] == [[0, 1, 2]] * 2
    await client.end()
    assert [source.clients for source in sources.values()] == [0, 0, 0]
    assert connections() == 0


async def test_each_goes_on_behind_the_id_that_the_client_has_of_it(sources):
    main, review = (sources[one] for one in ("/api/events", "/review/api/events"))
    ids = [[source.publish("run", {"n": n}) for n in range(4)] for source in (main, review)]

    client = Connection(f"/api/events#{ids[0][0]}", f"/review/api/events#{ids[1][2]}",
                        headers=[(b"last-event-id", b"7")])  # fmt: skip
    await settle()

    assert [client.numbers(one) for one in client.follow] == [[1, 2, 3], [3]]
    await client.end()


async def test_what_a_caller_may_not_have_is_refused_and_the_others_go_on(sources):
    follow = ("/dashboard/api/events", "/api/projects/a%20b/chats/c/events", "/api/events")
    stranger, ann = Connection(*follow), Connection(*follow, headers=[COOKIE])
    await settle()

    for client, first in ((stranger, "401"), (ann, "200")):
        assert [client.got()[one][0]["status"] for one in follow] == [first, "404", "200"]
    assert stranger.got()[follow[0]] == [{"status": "401"}]
    assert sources["/dashboard/api/events"].clients == 1
    for client in (stranger, ann):
        await client.end()


async def test_a_client_that_does_not_read_is_cut_with_all_its_streams_and_no_other(sources):
    slow, quick = (Connection("/api/events", "/review/api/events") for _ in range(2))
    await settle()
    slow.reading.clear()
    for n in range(QUEUE + 10):
        sources["/api/events"].publish("run", {"n": n})
        await settle()

    await slow.task
    assert quick.numbers("/api/events") == list(range(QUEUE + 10))
    assert [sources[one].clients for one in quick.follow] == [1, 1]
    await quick.end()


async def test_a_server_that_stops_ends_every_stream(sources):
    client = Connection("/api/events", "/review/api/events")
    await settle()
    client.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await client.task
    assert [source.clients for source in sources.values()] == [0, 0, 0]


@pytest.mark.parametrize(
    "follow",
    [
        [],
        ["/api/projects"],
        ["/api/streams"],
        ["//api/events"],
        ["http://elsewhere/api/events"],
        ["/api/events\r\nx"],
        ["/api/events#\u0660"],
        ["/api/events", "/api/../events/x"],
        ["/api/events"] * (MOST + 1),
    ],
)
async def test_what_is_no_event_stream_of_this_port_is_refused_with_the_reason(follow):
    client = Connection(*follow)
    await client.task

    assert client.sent[0]["status"] == 400
    assert orjson.loads(client.sent[1]["body"])["error"].startswith("follow: ")


async def test_only_get_opens_one():
    client = Connection("/api/events", method="POST")
    await client.task

    assert client.sent[0]["status"] == 405
    assert (b"allow", b"GET") in client.sent[0]["headers"]


def test_a_chat_and_the_three_parts_come_over_one_connection_of_the_main_port(
    shared_service: Service,
) -> None:
    http = shared_service.http
    http.post("/api/projects", json={"name": "Shared"})
    made = http.post("/api/projects/shared/chats", json={"name": "Before"}).json()["chat"]
    chat = f"/api/projects/shared/chats/{made['sessionId']}"
    follow = ("/api/events", "/review/api/events", "/dashboard/api/events", f"{chat}/events#0")
    query = "&".join(f"follow={quote(one)}" for one in follow)
    client = EventClient(shared_service.ports["main"], f"/api/streams?{query}")
    client.connect()
    seen = b""
    while seen.count(b"status: 200") < len(follow) or b"event: state" not in seen:
        seen += client.socket.recv(65536)

    assert b"stream: 3\n\n" in seen
    http.patch(chat, json={"name": "After"}).raise_for_status()
    while b"event: chat" not in seen:
        seen += client.socket.recv(65536)
    client.close()
