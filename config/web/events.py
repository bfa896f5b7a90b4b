"""Server-sent events of a surface: one broadcaster, any number of streams, each event once.

Ids rise by 1 from the server's start time in milliseconds, so an id of an earlier run is never
mistaken for one of this run. Events say what changed and never carry the content of a file
(docs/design/architecture.md#events).
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from config import __version__, jsonio
from config.web.answers import Header, Receive, Send, send_json
from config.web.http.body import outlive

RING = 1000  # events a client may have missed and still resume
QUEUE = 256  # events that may be queued for one client
CLIENTS = 2000
PING_S = 25
Messages = Iterable[tuple[str, Mapping[str, Any]]]  # event names and their data
RESYNC: Messages = (("resync", {"reason": "the id is not of this run"}),)
STREAM_HEADERS: list[Header] = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


@dataclass(slots=True, eq=False)
class Client:
    """One open stream: its queued data, and the last event put into that queue."""

    seen: int
    waiting: deque[bytes] = field(default_factory=deque)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    writer: asyncio.Future[None] | None = None

    def push(self, data: bytes) -> None:
        """Queue data. A client with QUEUE waiting events is disconnected; it may resume."""
        if len(self.waiting) >= QUEUE and self.writer is not None:
            self.writer.cancel()
            return
        self.waiting.append(data)
        self.wake.set()

    async def take(self) -> bytes:
        """Wait for data; return all that is queued, joined."""
        await self.wake.wait()
        self.wake.clear()
        data = b"".join(self.waiting)
        self.waiting.clear()
        return data


class Broadcaster:
    """Publishes to every stream of one surface. `publish` may be called from any thread.

    `resync` returns the messages for a stream that cannot be resumed, `hello` further data of a
    stream's first event; True stands for the default, False for no such event. `joined` is called
    for each new stream.
    """

    def __init__(
        self,
        *,
        resync: Callable[[], Messages] = lambda: RESYNC,
        hello: bool | Callable[[], Mapping[str, Any]] = True,
        retry_ms: int = 2000,
        joined: Callable[[], None] = lambda: None,
    ) -> None:
        self._hello, self._retry_ms = hello, retry_ms
        self._resync, self._joined = resync, joined
        self.begin()
        self._ring: deque[tuple[int, bytes]] = deque(maxlen=RING)
        self._lock = threading.Lock()
        self._clients: set[Client] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ping: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Begin a run: none of its ids was an id of an earlier run."""
        self.boot = time.time_ns() // 1_000_000
        self._last = self.boot - 1

    @property
    def last_id(self) -> int:
        return self._last

    def publish(self, event: str, data: Mapping[str, Any], *, relayed: bool = False) -> int:
        """Send one event to all streams; return its id. An empty name makes an unnamed event.

        The event also goes to other servers, unless it came from one (`relayed`).
        """
        if _tell is not None and not relayed:
            _tell(_name_of(self), event, data)
        with self._lock:
            self._last += 1
            number, message = self._last, encode(event, data, number=self._last)
            self._ring.append((number, message))
            if self._clients and self._loop is not None:
                self._loop.call_soon_threadsafe(self._deliver, number, message)
        return number

    def resync(self) -> None:
        """Tell all streams of this server that anything may have changed."""
        for event, data in self._resync():
            self.publish(event, data, relayed=True)

    def join(self, last_id: str | None) -> Client:
        """A new stream that resumes after `last_id`; call it on the event loop's thread."""
        with self._lock:
            self._loop = asyncio.get_running_loop()
            client = Client(seen=self._last)
            client.push(b"".join([self._greeting(last_id), *self._missed_messages(last_id)]))
            self._clients.add(client)
        if self._ping is None:
            self._ping = self._loop.call_later(PING_S, self._send_ping)
        self._joined()
        return client

    def leave(self, client: Client) -> None:
        self._clients.discard(client)
        if not self._clients and self._ping is not None:
            self._ping.cancel()
            self._ping = None

    @property
    def clients(self) -> int:
        """How many streams are open."""
        return len(self._clients)

    def full(self) -> bool:
        return self.clients >= CLIENTS

    def _greeting(self, last_id: str | None) -> bytes:
        """The start of a stream. It gives a new client an id, in case it is cut before any event.

        A client that resumes keeps its own id until it has received what it missed.
        """
        stands = b"" if last_id else b"id: %d\n" % self._last
        start = b"retry: %d\n" % self._retry_ms + stands + b"\n"
        if not self._hello:
            return start
        run = {"boot": self.boot} if self._hello is True else self._hello()
        return start + encode("hello", {"version": __version__, **run, "retry": self._retry_ms})

    def _missed_messages(self, last_id: str | None) -> list[bytes]:
        if not last_id:
            return []
        first = self._last - len(self._ring)  # the oldest id that can be resumed from
        if not last_id.isdecimal() or not first <= int(last_id[:20]) <= self._last:
            return [encode(event, data, number=self._last) for event, data in self._resync()]
        return [message for number, message in self._ring if number > int(last_id)]

    def _deliver(self, number: int, message: bytes) -> None:
        for client in list(self._clients):
            if number > client.seen:
                client.seen = number
                client.push(message)

    def _send_ping(self) -> None:
        for client in list(self._clients):
            if not client.waiting:
                client.push(b": ping\n\n")
        assert self._loop is not None
        self._ping = self._loop.call_later(PING_S, self._send_ping)


def encode(event: str, data: Mapping[str, Any], *, number: int | None = None) -> bytes:
    """One event as bytes; encoded once and shared by all clients."""
    lines = [b"id: %d\n" % number] if number is not None else []
    if event:
        lines.append(b"event: %s\n" % event.encode())
    return b"".join([*lines, b"data: ", jsonio.dumps(data), b"\n\n"])


Tell = Callable[[str, str, Mapping[str, Any]], None]  # surface, event, data
_broadcasters: dict[str, Broadcaster] = {}
_tell: Tell | None = None


def follow(tell: Tell | None) -> None:
    """Call `tell` with every event, to pass it to other servers; None ends that."""
    global _tell  # noqa: PLW0603 - one relay per process
    _tell = tell


def _name_of(source: Broadcaster) -> str:
    return next((name for name, one in _broadcasters.items() if one is source), "")


def broadcaster(surface: str) -> Broadcaster:
    """The one broadcaster of a surface in this process."""
    return _broadcasters.setdefault(surface, Broadcaster())


def declare(surface: str, source: Broadcaster) -> Broadcaster:
    """Register a surface's own broadcaster, before the first use; return the registered one."""
    return _broadcasters.setdefault(surface, source)


def _begin() -> None:
    """Make each forked server a run of its own."""
    for one in _broadcasters.values():
        one.begin()


os.register_at_fork(after_in_child=_begin)


def clients() -> dict[str, int]:
    """How many streams of each surface are open in this process."""
    return {surface: source.clients for surface, source in _broadcasters.copy().items()}


class EventStream:
    """ASGI: the event stream of one surface, answered without Django."""

    def __init__(self, surface: str) -> None:
        self.surface = surface

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            body = {"error": "method not allowed", "code": "method_not_allowed"}
            await send_json(send, 405, body, [(b"allow", b"GET")])
            return
        source = broadcaster(self.surface)
        if source.full():
            body = {"error": "too many event streams are open", "code": "unavailable"}
            await send_json(send, 503, body, [(b"retry-after", b"1")])
            return
        client = source.join(_last_event_id(scope))
        client.writer = asyncio.ensure_future(self._write(client, send))
        try:
            await outlive(receive, client.writer)
        finally:
            source.leave(client)
            client.writer = None  # breaks a reference cycle: its task refers to the client

    async def _write(self, client: Client, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        while True:
            data = await client.take()
            await send({"type": "http.response.body", "body": data, "more_body": True})


def _last_event_id(scope: Mapping[str, Any]) -> str | None:
    values = [value for name, value in scope["headers"] if name == b"last-event-id"]
    return values[0].decode("latin1").strip() if len(values) == 1 else None
