"""GET /api/streams: several event streams over one connection.

A browser opens at most six connections to a server for all its windows together, so its pages
share this one. Each stream is requested as if it were alone: a caller gets nothing here that it
would not get directly. `stream: 2` says that what follows belongs to the third requested stream.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any
from urllib.parse import parse_qs, unquote

from config.errors import Invalid, MethodNotAllowed, SvcError
from config.web.answers import App, Header, Message, Receive, Send, refusal, refuse
from config.web.events import STREAM_HEADERS

Scope = dict[str, Any]

MOST = 500  # streams over one connection
ADDRESS = re.compile(r"(?:/[a-z]+)?/api/(?:[^?#]+/)?events(?:\?[^#]*)?", re.ASCII)
OF_THE_ROUTE = {"path_remaining", "url_route", "principal"}
_open: set[_Connection] = set()


def connections() -> int:
    """How many shared connections are open in this process."""
    return len(_open)


class SharedStream:
    """ASGI app of GET /api/streams; `app` serves all addresses of this port."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["method"] != "GET":
                raise MethodNotAllowed("method not allowed")
            scopes = [_alone(scope, *one) for one in asked_for(scope["query_string"])]
        except SvcError as error:
            allow = [(b"allow", b"GET")] if isinstance(error, MethodNotAllowed) else []
            await refuse(send, refusal(error, *allow))
            return
        await _Connection(self.app, send).run(scopes, receive)


class _Connection:
    """One connection: it ends when its client leaves or any stream that has begun ends."""

    def __init__(self, app: App, send: Send) -> None:
        self.app, self.send = app, send
        self.told = -1  # number of the stream that was written last
        self.writing = asyncio.Lock()
        self.over = asyncio.Event()

    async def run(self, scopes: list[Scope], receive: Receive) -> None:
        await self.send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        gone = asyncio.ensure_future(self._until_gone(receive))
        streams = [asyncio.ensure_future(self._one(*one)) for one in enumerate(scopes)]
        _open.add(self)
        try:
            await self.over.wait()
        finally:
            _open.discard(self)
            self.over.set()
            gone.cancel()
            await asyncio.gather(*streams, return_exceptions=True)  # the entrance logs errors

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.over.set()

    async def _one(self, number: int, scope: Scope) -> None:
        """Run one stream and write its status and events. When it ends, the whole connection ends
        and the client reconnects with the ids it has; a refused stream leaves the others open."""
        begun = False

        async def send(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = (b"content-type", b"text/event-stream") in message["headers"]
                status = message["status"] if begun or message["status"] >= 400 else 404
                await self._write(number, b"status: %d\n\n" % status)
            elif begun:
                await self._write(number, message.get("body", b""))

        try:
            await self.app(scope, self._nothing(), send)
        finally:
            if begun:
                self.over.set()

    def _nothing(self) -> Receive:
        """ASGI's receive of a request without a body: its end, then the connection's disconnect."""
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if asked:
                await self.over.wait()
                return {"type": "http.disconnect"}
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}

        return receive

    async def _write(self, number: int, data: bytes) -> None:
        """Write whole events, one stream at a time: `data` is never split."""
        async with self.writing:
            if number != self.told:
                self.told = number
                data = b"stream: %d\n\n" % number + data
            await self.send({"type": "http.response.body", "body": data, "more_body": True})


def asked_for(query: bytes) -> list[tuple[str, str]]:
    """(address, last id or "") of each `follow=<address>#<last id>`. Invalid if malformed."""
    wanted = parse_qs(query.decode("latin1")).get("follow", [])
    if not 0 < len(wanted) <= MOST:
        raise Invalid(f"follow: name 1 to {MOST} streams, such as follow=/api/events.")
    found = []
    for one in wanted:
        address, _, last = one.partition("#")
        if not ADDRESS.fullmatch(address) or not one.isascii() or not one.isprintable():
            raise Invalid(
                f"follow: {one[:100]} is not an event stream of this port; write its address, "
                "such as /api/events, and behind a # the last id you have of it."
            )
        found.append((address, last))
    return found


def _alone(scope: Scope, address: str, last: str) -> Scope:
    """The scope of the request for one stream, as its client would have sent it alone."""
    path, _, query = address.partition("?")
    headers: list[Header] = [pair for pair in scope["headers"] if pair[0] != b"last-event-id"]
    if last:
        headers.append((b"last-event-id", last.encode()))
    return {
        **{key: value for key, value in scope.items() if key not in OF_THE_ROUTE},
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
    }
