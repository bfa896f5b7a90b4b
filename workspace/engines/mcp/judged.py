"""A connection to an address that the rules permitted, with an answer of a bounded size.

Nothing is taken from the environment, such as a proxy.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable

import httpx2

from config.process.light_typing import Any
from workspace.engines.proxy.rules import ConnectionNotAllowed, Rules

ANSWER_BYTES = 16 * 1024 * 1024
Count = Callable[[str, int, bool], None]


class TooLong(Exception):
    """An answer that is longer than the limit; the text says so."""


class Judged(httpx2.AsyncBaseTransport):
    """Look a name up once, judge its addresses, and connect to one that was permitted."""

    def __init__(self, rules: Rules, count: Count) -> None:
        self.rules, self.count = rules, count
        self.inner = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        address = await self._address(host, port)
        self.count(host, port, False)
        judged = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,  # with the original Host
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        response = await self.inner.handle_async_request(judged)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)
        return response

    async def _address(self, host: str, port: int) -> str:
        loop = asyncio.get_running_loop()
        try:
            rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError):
            rows = []
        found = list(dict.fromkeys(str(row[4][0]) for row in rows))
        try:
            return self.rules.permitted_addresses(host, port, found)[0]
        except ConnectionNotAllowed:
            self.count(host, port, True)
            raise

    async def aclose(self) -> None:
        await self.inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A body of at most ANSWER_BYTES. In a stream of events the library bounds each event."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self.stream:
            size += len(part)
            if size > ANSWER_BYTES:
                raise TooLong(f"it sent an answer of over {ANSWER_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        await self.stream.aclose()
