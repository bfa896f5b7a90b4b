"""A request's body between the network that brings it and the application that takes it.

Never holds much more than BUFFER bytes: whoever feeds it stops reading the network above that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from config.kernel.web.answers import Message

BUFFER = 64 * 1024  # bytes of a body that may wait for the application


class Body:
    """What has arrived of a request's body, and not been taken by the application yet."""

    def __init__(self, resume: Callable[[], None], proceed: Callable[[], None]) -> None:
        self._resume, self._proceed = resume, proceed
        self._chunks: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self.size = 0
        self.complete = False  # all of it has arrived
        self._taken = False  # the application has had the last of it
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
        self._chunks.clear()
        self.size = 0  # what still comes is swallowed; nobody has to be kept from sending it
        self._wake.set()

    async def receive(self) -> Message:
        """ASGI's receive: the body as it comes, then a wait for the disconnect."""
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
