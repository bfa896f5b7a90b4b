"""Read the body of an HTTP answer within a bound, whatever its framing claims and it inflates
to."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator

from dashboard.health.http import Head

LINE = 1024  # bytes of one chunk's size line, including extensions
PIECE = 64 << 10
OVERHEAD = 4  # how many times its bound a body may take on the wire: tiny chunks are mostly framing
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\r?\n", re.DOTALL)
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
_INFLATE = {"gzip": 31, "x-gzip": 31, "deflate": 47}  # window bits of zlib


class Malformed(Exception):
    """The body is not framed as HTTP, ended early or is larger than allowed."""


async def read(reader: asyncio.StreamReader, head: Head, *, most: int, cut: bool) -> bytes:
    """At most `most` bytes, with the content coding undone. A longer body is Malformed, or cut
    with `cut`."""
    coding = head.headers.get("content-encoding", "identity").strip().lower()
    if coding not in {"identity", "", *_INFLATE}:
        raise Malformed(f"its content coding {coding[:40]!r} was not asked for")
    data = bytearray()
    async for piece in _pieces(_Source(reader, head.rest, OVERHEAD * most + PIECE), head):
        data += piece
        if len(data) > most:
            break
    plain = _inflate(bytes(data), _INFLATE[coding], most) if coding in _INFLATE else bytes(data)
    if len(plain) > most and not cut:
        raise Malformed(f"it is larger than {most >> 10} KiB")
    return plain[:most]


def _inflate(data: bytes, bits: int, most: int) -> bytes:
    """At most one byte more than the bound, which shows that it was exceeded."""
    try:
        return zlib.decompressobj(bits).decompress(data, most + 1)
    except zlib.error as error:
        raise Malformed(f"its compression is broken: {error}") from error


async def _pieces(source: _Source, head: Head) -> AsyncIterator[bytes]:
    length = head.headers.get("content-length")
    if "chunked" in head.headers.get("transfer-encoding", "").lower():
        while size := _size(await source.line()):
            async for piece in source.exactly(size):
                yield piece
            if (await source.line()).strip():
                raise Malformed("a chunk is longer than it says")
    elif length is not None:
        if not _LENGTH.fullmatch(length):
            raise Malformed("its content length is not a number")
        async for piece in source.exactly(int(length)):
            yield piece
    else:
        while piece := await source.some(PIECE):
            yield piece


def _size(line: bytes) -> int:
    found = _SIZE.fullmatch(line)
    if found is None:
        raise Malformed("a chunk has no size")
    return int(found[1], 16)


class _Source:
    """The bytes that came with the head, then the stream, up to `left` bytes in all."""

    def __init__(self, reader: asyncio.StreamReader, rest: bytes, left: int) -> None:
        self.reader, self.held, self.left = reader, rest, left

    async def some(self, most: int) -> bytes:
        """Between 1 and `most` bytes; none at the end."""
        await self._fill()
        piece, self.held = self.held[:most], self.held[most:]
        return piece

    async def exactly(self, size: int) -> AsyncIterator[bytes]:
        while size:
            if not (piece := await self.some(size)):
                raise Malformed("it ended before its end")
            size -= len(piece)
            yield piece

    async def line(self) -> bytes:
        """The bytes up to and including the next line feed."""
        line = b""
        while not line.endswith(b"\n"):
            await self._fill()
            piece = await self.some(self.held.find(b"\n") + 1 or LINE)
            line += piece
            if not piece or len(line) > LINE:
                raise Malformed("a chunk has no size")
        return line

    async def _fill(self) -> None:
        if self.held:
            return
        self.held = await self.reader.read(PIECE)
        self.left -= len(self.held)
        if self.left < 0:
            raise Malformed("its framing is larger than what it frames")
