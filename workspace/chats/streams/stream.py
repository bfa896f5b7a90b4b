"""GET …/chats/:id/events: one chat as server-sent events.

Event ids are byte offsets of complete transcript lines, so a client resumes exactly, also after a
restart. Available from the first message on; runs outside Django's request cycle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from config.errors import MethodNotAllowed, SvcError
from config.web.answers import Receive, Send, refusal, refuse
from config.web.events import PING_S, STREAM_HEADERS, Client
from config.web.http import threads
from config.web.http.body import outlive
from workspace.chats import files, transcript
from workspace.chats.messages import Viewer
from workspace.chats.streams.channel import BATCH_BYTES, Watcher, read_lines, resync
from workspace.chats.streams.watching import WATCH
from workspace.projects import store


class ChatStream:
    """ASGI app; `slug` and `session_id` come from its route."""

    @classmethod
    def as_asgi(cls) -> ChatStream:
        return cls()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        try:
            if scope["method"] != "GET":
                raise MethodNotAllowed("method not allowed")
            route = scope["url_route"]["kwargs"]
            path, start, why = await threads.run(_begin, route, asked_for(scope))
        except SvcError as error:
            allow = [(b"allow", b"GET")] if isinstance(error, MethodNotAllowed) else []
            await refuse(send, refusal(error, *allow))
            return
        stream = _Stream(path, route, start, send)
        try:
            await outlive(receive, asyncio.ensure_future(stream.run(why)))
        finally:
            await stream.close()


class _Stream:
    """One client: first what it missed, read in pieces, then what its channel pushes."""

    def __init__(self, path: str, route: Mapping[str, str], start: int, send: Send) -> None:
        self.path, self.send = path, send
        self.chat = (route["slug"], route["session_id"])
        self.watcher = Watcher(Client(seen=0), asyncio.get_running_loop(), start)

    async def run(self, why: str) -> None:
        # The id lets a client that is cut off before its first line resume at the same place.
        head = b"retry: 2000\nid: %d\n\n" % self.watcher.offset + (resync(why) if why else b"")
        await self.send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        await self._body(head)
        self.watcher.client.writer = asyncio.ensure_future(self._follow())
        await self.watcher.client.writer

    async def _follow(self) -> None:
        await self._catch_up()
        while True:
            try:
                data = await asyncio.wait_for(self.watcher.client.take(), PING_S)
            except TimeoutError:
                data = b": ping\n\n"
            await self._body(data)

    async def _catch_up(self) -> None:
        """Send from the file until the channel is near enough to take over without a gap."""
        viewer = Viewer(self.path)
        while True:
            if await threads.run(WATCH.join, self.watcher, *self.chat, self.path):
                return
            data, self.watcher.offset = await threads.run(
                read_lines, viewer, self.path, self.watcher.offset, None, most=BATCH_BYTES
            )
            await self._body(data)

    async def _body(self, data: bytes) -> None:
        await self.send({"type": "http.response.body", "body": data, "more_body": True})

    async def close(self) -> None:
        if self.watcher.client.writer is not None:
            self.watcher.client.writer.cancel()
        await threads.run(WATCH.leave, self.watcher, self.path)


def asked_for(scope: Mapping[str, Any]) -> str | None:
    """Where the client wants to resume: Last-Event-ID, else `after`, else None."""
    ids = [value for name, value in scope["headers"] if name == b"last-event-id"]
    if ids:
        return str(ids[-1].decode("latin1").strip())
    query = parse_qs(scope.get("query_string", b"").decode("latin1"))
    return query["after"][-1].strip() if "after" in query else None


def _begin(route: Mapping[str, str], asked: str | None) -> tuple[str, int, str]:
    """(transcript, start offset, why the client has to start over or ""). Raises NotFound."""
    project = store.get(route["slug"])
    files.read(project, route["session_id"])
    path = files.transcript_path(project, route["session_id"])
    size = path.stat().st_size if path.exists() else 0
    if not asked:
        return str(path), _whole(str(path), size), ""
    if not (asked.isascii() and asked.isdecimal() and len(asked) < 20):
        return str(path), 0, "the id is not an offset"
    offset = int(asked)
    if offset > size:
        return str(path), 0, "the id is beyond the end of the transcript"
    if offset != _whole(str(path), offset):
        return str(path), 0, "the id is not the end of a line"
    return str(path), offset, ""


def _whole(path: str, offset: int) -> int:
    """The end of the last complete line at or before the offset."""
    if not offset:
        return 0
    file = transcript.open_file(path)
    if file is None:
        return 0
    with file:
        end = offset
        while end:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
    return 0
