"""The head of an HTTP/1.1 request as a proxy reads and passes it on."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from http import HTTPStatus

HEAD_BYTES = 65536
# What concerns one connection only (RFC 9110, 7.6.1) is not passed on.
_HOP = frozenset(
    {"connection", "proxy-connection", "proxy-authorization", "keep-alive", "te", "upgrade"}
)
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP/1\.[01]")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")


class BadRequest(Exception):
    """A request that the proxy cannot handle; the text says why."""


@dataclass(frozen=True, slots=True)
class Head:
    method: str
    target: str
    fields: tuple[tuple[str, str], ...]

    def get(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key.lower() == name]

    def for_origin(self, target: str) -> bytes:
        """The head for the origin server. It asks the server to close the connection afterwards, so
        that one connection serves only one server."""
        lines = [f"{self.method} {target} HTTP/1.1"]
        lines += [f"{key}: {value}" for key, value in self.fields if key.lower() not in _HOP]
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The head of a request; None if the connection ended before one came. Raises BadRequest."""
    try:
        data = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise BadRequest("the request ended in its head") from None
        return None
    except asyncio.LimitOverrunError:
        raise BadRequest(f"the head is longer than {HEAD_BYTES} bytes") from None
    first, *rest = data[:-4].split(b"\r\n")
    line = _LINE.fullmatch(first)
    found = [_FIELD.fullmatch(field) for field in rest]
    if line is None or None in found:
        raise BadRequest("not an HTTP/1.1 request")
    fields = ((one[1].decode("latin-1"), one[2].decode("latin-1").strip()) for one in found if one)
    return Head(line[1].decode("latin-1"), line[2].decode("latin-1"), tuple(fields))


def answer(status: int, text: str) -> bytes:
    """A complete answer of the proxy itself."""
    code = {400: "invalid", 403: "refused", 404: "not_found"}.get(status, "unreachable")
    body = json.dumps({"error": text, "code": code}).encode() + b"\n"
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
