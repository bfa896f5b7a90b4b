"""Small real servers with one habit each, and what was said to them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """A listening server. `heard` holds the bytes of each connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heard: list[bytes] = []


@asynccontextmanager
async def serving(
    handler: Handler, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """A server for the length of the block; its connections end with it."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        at = len(made.heard)
        made.heard.append(b"")
        feed = reader.feed_data

        def overheard(data: bytes) -> None:
            made.heard[at] += data
            feed(data)

        made.heard[at] += bytes(reader._buffer)  # type: ignore[attr-defined]
        reader.feed_data = overheard  # type: ignore[method-assign, assignment]
        with contextlib.suppress(OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
            await handler(reader, writer)
        writer.transport.abort()

    server = await asyncio.start_server(handle, host, port, ssl=tls, backlog=1024)
    made = Server(server.sockets[0].getsockname()[1])
    try:
        yield made
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def answers(
    status: int = 200, body: bytes = b"hello", *, headers: str = "", length: bool = True
) -> Handler:
    """A proper HTTP answer, the same to every request."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        told = f"Content-Length: {len(body)}\r\n" if length else ""
        writer.write(f"HTTP/1.1 {status} Fine\r\n{told}{headers}\r\n".encode() + body)
        await writer.drain()
        writer.write_eof() if writer.can_write_eof() else None
        await reader.read()

    return handle


def says(data: bytes) -> Handler:
    """Raw bytes as soon as the request has come, then the end."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        await writer.drain()

    return handle


async def hangs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Takes everything and never answers."""
    await asyncio.Event().wait()


def drips(start: bytes, drop: bytes) -> Handler:
    """`start`, then `drop` again and again, as fast as the other side takes it."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0)

    return handle


@contextmanager
def closed_port() -> Iterator[int]:
    """A port where nothing listens, and that no other process gets meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def eventually(found: Callable[[], object], *, seconds: float = 10.0) -> None:
    """Lets the loop run until `found` holds; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while not found():
            await asyncio.sleep(0.005)
