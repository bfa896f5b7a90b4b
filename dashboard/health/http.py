"""The part of HTTP/1.1 that a probe needs: a fixed request, a bounded head, a bounded body."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
from dataclasses import dataclass
from urllib.parse import quote

from config import __version__
from dashboard.health.target import URL_SAFE, Target

HEAD_BYTES = 64 * 1024
BODY_BYTES = 64 * 1024
TITLE_CHARS = 200
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?:[ \r]|$)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_TITLE = re.compile(r"<title(?:\s[^>]{0,200})?>", re.IGNORECASE)
_TITLE_END = re.compile(r"</title", re.IGNORECASE)
_TITLE_SOURCE = 2000  # characters searched for the end: a hostile page costs no more
_META = 1024  # bytes within which a page has to name its charset
_CHARSET = re.compile(r"charset=[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
SPEAKS_TLS = "it speaks TLS"
NO_ANSWER = "it closed the connection without an answer"
BROKEN = "it broke the connection"
CUT = "it closed the connection within the head"
_TLS_ALERT = b"\x15\x03"


class NotHttp(Exception):
    """The answer is not HTTP; the text says what it is."""


@dataclass(frozen=True, slots=True)
class Head:
    status: int
    headers: dict[str, str]  # names in lower case; a repeated one keeps its last value
    rest: bytes  # body bytes that came with the head


def request(target: Target) -> bytes:
    """The request that a probe sends: no cookie, no keep-alive; headers of the app's file override
    the defaults."""
    headers = {
        "host": ("Host", target.host_header),
        "user-agent": ("User-Agent", f"svc/{__version__} (health)"),
        "accept": ("Accept", "text/html,*/*;q=0.1"),
    }
    headers |= {name.lower(): (name, value) for name, value in target.headers.items()}
    headers["connection"] = ("Connection", "close")
    lines = [f"{target.method} {quote(target.path, safe=URL_SAFE)} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.values()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")


async def read_head(reader: asyncio.StreamReader) -> Head:
    """The head of the final answer; interim answers are skipped, within the same 64 KiB."""
    data = bytearray()
    left, seen = HEAD_BYTES, 0  # no end begins before `seen`, so slow bytes are searched once
    while True:
        while end := _HEAD_END.search(data, seen):
            head = _parse_head(bytes(data[: end.start()]), bytes(data[end.end() :]))
            if head.status >= 200 or head.status == 101:
                return head
            data, seen = bytearray(head.rest), 0
        seen = max(0, len(data) - 3)
        if not left:
            raise NotHttp("the head of the answer is longer than 64 KiB")
        more = await reader.read(left)
        if not more:
            raise NotHttp(CUT if data else NO_ANSWER)
        left -= len(more)
        data += more
        if data.startswith(_TLS_ALERT):
            raise NotHttp(SPEAKS_TLS)
        if not data.startswith(b"HTTP/"[: len(data)]):
            raise NotHttp("it answers, but not in HTTP")


def _parse_head(head: bytes, rest: bytes) -> Head:
    first, *lines = re.split(rb"\r?\n", head)
    found = _STATUS.match(first)
    if found is None:
        raise NotHttp("its status line is not one of HTTP/1.1")
    pairs = (line.decode("latin-1").partition(":") for line in lines)
    return Head(
        int(found[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}, rest
    )


async def read_body(reader: asyncio.StreamReader, head: Head, seconds: float) -> bytes:
    """The body as far as it arrives in that time, at most 64 KiB, without chunk sizes."""
    data = bytearray(head.rest)
    chunked = "chunked" in head.headers.get("transfer-encoding", "").lower()
    length = head.headers.get("content-length", "")
    told = int(length) if _LENGTH.fullmatch(length) and not chunked else BODY_BYTES
    most = min(BODY_BYTES, told)

    def whole() -> bool:
        return len(data) >= most or (chunked and data.endswith(b"0\r\n\r\n"))

    if not whole():  # usually it came with the head, and no timer is needed
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(seconds):
                while not whole() and (more := await reader.read(most - len(data))):
                    data += more
    return (_dechunk(bytes(data)) if chunked else bytes(data))[:most]


def _dechunk(data: bytes) -> bytes:
    """The complete and partial chunks received so far; stops at malformed framing."""
    body, at = b"", 0
    while (line := data.find(b"\r\n", at)) >= 0:
        try:
            size = int(data[at:line].partition(b";")[0], 16)
        except ValueError:
            break
        if size <= 0:
            break
        body += data[line + 2 : line + 2 + size]
        at = line + 2 + size + 2
    return body


def title(headers: dict[str, str], body: bytes) -> str | None:
    """The text of <title> with white space collapsed, at most 200 characters. A charset in the
    header takes precedence over one in the page."""
    told = (headers.get("content-type", ""), body[:_META].decode("latin-1"))
    charset = next(filter(None, map(_CHARSET.search, told)), None)
    try:
        text = body.decode(charset[1] if charset else "utf-8", errors="replace")
    except (LookupError, UnicodeError):  # not a charset; Python's "undefined" decodes nothing
        text = body.decode("utf-8", errors="replace")
    begin = _TITLE.search(text)
    inner = text[begin.end() : begin.end() + _TITLE_SOURCE] if begin else ""
    end = _TITLE_END.search(inner)
    named = inner[: end.start()] if end else inner.partition("<")[0]
    words = " ".join(html.unescape(named).split())
    return "".join(c for c in words if c.isprintable())[:TITLE_CHARS] or None
