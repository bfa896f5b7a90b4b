"""The paths of this service that a sandbox can reach: the turn's own tools, with its own token.

The request is read completely and written again, so that nothing else can pass through its
connection.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from workspace.engines.mcp import own_tools
from workspace.engines.proxy.http import BadRequest, Head, answer

BODY_BYTES = 16 * 1024 * 1024
BODY_S = 60.0
_PASSED = frozenset({"authorization", "content-type", "accept", "mcp-protocol-version"})
REFUSED = "of this service a turn reaches its own tools only"


async def pass_on(
    head: Head,
    path: str,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    svc: Mapping[str, Any] | None,
) -> None:
    """Send the call to the service and its answer back. Raises BadRequest, OSError."""
    if not _is_own(head, path, svc):
        writer.write(answer(403, REFUSED))
        return
    url = urlsplit((svc or {})["url"])
    body = await _body(head, reader, writer)
    theirs, out = await asyncio.open_connection(url.hostname, url.port)
    try:
        out.write(_request(head, path, f"{url.hostname}:{url.port}", body))
        while part := await theirs.read(65536):
            writer.write(part)
            await writer.drain()
    finally:
        out.close()


def _is_own(head: Head, path: str, svc: Mapping[str, Any] | None) -> bool:
    if svc is None or path not in own_tools.paths(svc):
        return False
    bearer = f"Bearer {svc['token']}".encode()
    given = head.get("authorization")
    return len(given) == 1 and hmac.compare_digest(given[0].encode(), bearer)


async def _body(head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    lengths = head.get("content-length") or ["0"]
    if head.get("transfer-encoding") or len(lengths) > 1 or not lengths[0].isascii():
        raise BadRequest("the body needs one Content-Length")
    if not lengths[0].isdigit() or int(lengths[0]) > BODY_BYTES:
        raise BadRequest(f"the body has at most {BODY_BYTES} bytes")
    if [value.lower() for value in head.get("expect")] == ["100-continue"]:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        async with asyncio.timeout(BODY_S):
            return await reader.readexactly(int(lengths[0]))
    except (asyncio.IncompleteReadError, TimeoutError):
        raise BadRequest("the body is shorter than its Content-Length") from None


def _request(head: Head, path: str, host: str, body: bytes) -> bytes:
    lines = [f"{head.method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{key}: {value}" for key, value in head.fields if key.lower() in _PASSED]
    if body or head.method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
