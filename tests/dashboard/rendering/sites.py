"""A small web site on a real port: paths and what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tests.dashboard.health.servers import Handler

PAGE = "text/html"


def site(paths: Mapping[str, tuple[str, bytes]], asked: list[str] | None = None) -> Handler:
    """Answers each path with (content type, body), everything else with 404."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        if asked is not None:
            asked.append(path)
        kind, body = paths.get(path, ("", b""))
        status = "200 OK" if path in paths else "404 Not Found"
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()

    return handle
