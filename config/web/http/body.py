"""A request's body, between the network that delivers it and the application that reads it.

`Body` never holds much more than BUFFER bytes: above that its producer stops reading from the
network. The functions are for applications, which read it by ASGI's `receive`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from config.web.answers import Message, Receive

BUFFER = 64 * 1024  # bytes of a body that may wait for the application


class Gone(Exception):
    """The client left before its request was complete."""


async def chunks(receive: Receive) -> AsyncIterator[bytes]:
    """The pieces of the body as they arrive. Raises Gone."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def read_body(receive: Receive) -> bytes:
    """The whole body; the guard limits its size. Raises Gone."""
    return b"".join([chunk async for chunk in chunks(receive)])


async def outlive(receive: Receive, task: asyncio.Future[Any]) -> bool:
    """Wait for the task; cancel it if the client leaves first. Return whether it ended."""
    gone = asyncio.ensure_future(_disconnect(receive))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        return task.done()
    finally:
        gone.cancel()
        task.cancel()


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Body:
    """The part of a request's body that has arrived but was not yet read by the application."""

    def __init__(self, resume: Callable[[], None], proceed: Callable[[], None]) -> None:
        self._resume, self._proceed = resume, proceed
        self._chunks: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self.size = 0
        self.complete = False  # all of it has arrived
        self._taken = False  # the application has read the last of it
        self._closed = False  # answered, or the client left

    def feed(self, data: bytes) -> None:
        if not self._closed:
            self._chunks.append(data)
            self.size += len(data)
            self._wake.set()

    def end(self) -> None:
        self.complete = True
        self._wake.set()

    def close(self) -> None:
        self._closed = True
        self._resume = self._proceed = lambda: None  # breaks a cycle through the request
        self._chunks.clear()
        self.size = 0  # later data is discarded, so the client is not paused
        self._wake.set()

    async def receive(self) -> Message:
        """ASGI's receive: the body as it arrives, then the disconnect."""
        while not self._closed:
            if not self._taken and (self._chunks or self.complete):
                return self._take()
            if not self.complete:
                self._proceed()
            self._wake.clear()
            await self._wake.wait()
        return {"type": "http.disconnect"}

    def _take(self) -> Message:
        data = b"".join(self._chunks)
        self._chunks.clear()
        if self.size > BUFFER:
            self._resume()
        self.size, self._taken = 0, self.complete
        return {"type": "http.request", "body": data, "more_body": not self.complete}
