"""How an answer of a model's server arrived: facts that the libraries read but do not report."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping

import httpx2

from config.process.light_typing import Any

STREAM = "text/event-stream"
DONE = re.compile(rb"(?:\A|[\r\n])data: ?\[DONE\]")  # no line begins inside JSON
_TAIL = 32  # bytes: longer than DONE, which may come in pieces


class Arrival:
    """The newest answer. `kind` is its content type, "" before the first; `done`: the server said,
    in the protocol's own word, that the stream has ended."""

    def __init__(self) -> None:
        self.kind, self.done = "", False

    async def watch(self, response: httpx2.Response) -> None:
        """A response hook of the client. Does not look into a compressed stream."""
        self.kind = response.headers.get("content-type", "no content type").partition(";")[0]
        self.done = False
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Watched(response.stream, self)

    def whole(self, server: str, details: Mapping[str, Any] | None) -> bool:
        """Whether the server said that its answer is complete, why it stopped, or that it refuses.

        Without that the answer was cut. Some gateways say only that the stream ends; local servers
        may say nothing, so their answers count as complete.
        """
        said = not {"finish_reason", "refusal"}.isdisjoint(details or {})
        return said or self.done or server == "local"


class _Watched(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, arrival: Arrival) -> None:
        self._stream, self._arrival = stream, arrival

    async def __aiter__(self) -> AsyncIterator[bytes]:
        tail = b""
        async for data in self._stream:
            tail += data
            self._arrival.done = self._arrival.done or DONE.search(tail) is not None
            tail = tail[-_TAIL:]
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()
