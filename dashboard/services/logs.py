"""What a service wrote: the end of it, or what follows a position.

A position is a number of bytes since the first one ever written; rotations do not change it. The
kept bytes are the archives `@<stamp>-<start>.log` in order, then `current`.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from config.errors import Invalid
from config.storage import opening
from dashboard.services import layout

MOST_LINES, DEFAULT_LINES = 5000, 200
LINE_BYTES = 16 * 1024
READ_BYTES = 8 * 1024 * 1024  # of one answer, however long its lines are
BLOCK = 64 * 1024
ARCHIVE = re.compile(r"@[0-9]{8}T[0-9]{6}Z-([0-9]{1,18})\.log")

_locks: dict[str, threading.RLock] = {}


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a log; `start` is the position of its first byte."""

    path: Path
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


_From = TypedDict("_From", {"from": int})


class Log(_From):
    """Whole lines of a log; `partial` is the beginning of an unfinished line after them."""

    slug: str
    lines: list[str]
    partial: str | None
    truncated: bool
    bytes: int


@dataclass(frozen=True, slots=True)
class Tail:
    """Whole lines between two positions, and the beginning of an unfinished line after them."""

    slug: str
    start: int
    data: bytes
    partial: bytes
    truncated: bool  # lines before `start` were left out or are no longer kept

    @property
    def end(self) -> int:
        """The `after` to continue with; an unfinished line is sent again when it is whole."""
        return self.start + len(self.data)

    @property
    def lines(self) -> list[str]:
        return [_decode(line) for line in self.data.split(b"\n")[:-1]]

    def wire(self) -> Log:
        return {
            "slug": self.slug,
            "lines": self.lines,
            "partial": _decode(self.partial) if self.partial else None,
            "truncated": self.truncated,
            "from": self.start,
            "bytes": self.end,
        }


def tail(
    slug: str,
    lines: int | str = DEFAULT_LINES,
    after: int | str | None = None,
    before: int | str | None = None,
) -> Tail:
    """Return at most `lines` lines: the last ones, with `after` the first ones after that position,
    with `before` the last ones before it. Raises Invalid `bad_query`.

    A line of more than 8 MiB without an end comes in pieces.
    """
    count = _number("lines", lines, 1, MOST_LINES)
    since = None if after is None else _number("after", after, 0, 2**63)
    until = None if before is None else _number("before", before, 0, 2**63)
    if since is not None and until is not None:
        raise Invalid('Send "after" or "before", not both.', code="bad_query")
    with holding(slug):
        parts = list_parts(slug)
        first, end = parts[0].start, parts[-1].end
        if until is not None:
            return _last(slug, parts, count, max(first, min(until, end)))
        if since is None or since > end:  # a position in a log that has been removed since
            return _last(slug, parts, count, end)
        return _newer(slug, parts, count, max(since, first), gap=since < first)


def last(slug: str, count: int, *, since: int = 0) -> list[str]:
    """At most `count` lines at the end and after `since`, including an unfinished one."""
    with holding(slug):
        parts = list_parts(slug)
        found = _last(slug, parts, count, parts[-1].end, since=since)
    lines = [*found.lines, _decode(found.partial)] if found.partial else found.lines
    return lines[-count:]


def read(slug: str, start: int) -> tuple[bytes, int]:
    """At most 8 MiB of the kept bytes from a position on, and the position after them."""
    with holding(slug):
        parts = list_parts(slug)
        begin = min(max(start, parts[0].start), parts[-1].end)
        data = _bytes(parts, begin, begin + READ_BYTES)
    return data, begin + len(data)


def end(slug: str) -> int:
    """The position after the last byte written."""
    with holding(slug):
        return list_parts(slug)[-1].end


def append_to(slug: str) -> tuple[int, int]:
    """The open log to append to, and where its next line begins; an unfinished one is ended."""
    with holding(slug):
        path = layout.current(slug)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(path, flags, 0o600)
        parts = list_parts(slug)
        position = parts[-1].end
        if _bytes(parts, position - 1, position) not in (b"", b"\n"):
            position += os.write(fd, b"\n")
        return fd, position


@contextmanager
def holding(slug: str) -> Iterator[None]:
    """Prevent a rotation between finding the files of a log and reading them."""
    with _locks.setdefault(slug, threading.RLock()):
        yield


def archives(slug: str) -> list[Part]:
    """Finished parts, oldest first."""
    found = []
    folder = layout.logs(slug)
    for name in os.listdir(folder) if folder.is_dir() else ():  # noqa: PTH208
        match = ARCHIVE.fullmatch(name)
        if match:
            path = folder / name
            found.append(Part(path, int(match[1]), path.stat().st_size))
    return sorted(found, key=lambda part: part.start)


def list_parts(slug: str) -> list[Part]:
    """Every part in order; the last is `current`, also when there is none yet."""
    done = archives(slug)
    path = layout.current(slug)
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        size = 0
    return [*done, Part(path, done[-1].end if done else 0, size)]


def _last(slug: str, parts: list[Part], count: int, end: int, *, since: int = 0) -> Tail:
    first = min(max(parts[0].start, since), end)
    begin, span, data = end, BLOCK, b""
    while begin > first and data.count(b"\n") <= count and len(data) < READ_BYTES:
        step = max(first, begin - span)
        data = _bytes(parts, step, begin) + data
        begin, span = step, min(2 * span, READ_BYTES)
    whole, partial = _split(data)
    pieces = whole.split(b"\n")
    if whole and begin > first:
        begin += len(pieces.pop(0)) + 1  # a line that may begin further back
    extra = b"".join(piece + b"\n" for piece in pieces[: max(0, len(pieces) - 1 - count)])
    kept_bytes = b"\n".join(pieces)[len(extra) :]
    start = begin + len(extra)
    return Tail(slug, start, kept_bytes, partial, truncated=start > first)


def _newer(slug: str, parts: list[Part], count: int, begin: int, *, gap: bool) -> Tail:
    data = _bytes(parts, begin, begin + READ_BYTES)
    whole, partial = _split(data)
    if not whole and len(partial) == READ_BYTES:
        return Tail(slug, begin, partial, b"", truncated=gap)
    lines = whole.split(b"\n")
    if len(lines) - 1 > count:
        whole, partial = b"\n".join(lines[:count]) + b"\n", b""
    return Tail(slug, begin, whole, partial, truncated=gap)


def _split(data: bytes) -> tuple[bytes, bytes]:
    """Whole lines, and the unfinished one after them."""
    cut = data.rfind(b"\n") + 1
    return data[:cut], data[cut:]


def _bytes(parts: list[Part], start: int, end: int) -> bytes:
    found = []
    for part in parts:
        low, high = max(start, part.start), min(end, part.end)
        if low < high:
            with opening.reading(part.path) as file:
                file.seek(low - part.start)
                found.append(file.read(high - low))
    return b"".join(found)


def _decode(line: bytes) -> str:
    return line[:LINE_BYTES].removesuffix(b"\r").decode(errors="replace")


def _number(name: str, value: int | str, least: int, most: int) -> int:
    text = str(value)
    if text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most:
        return int(text)
    allowed = f"{least} to {most}" if name == "lines" else "a number of bytes, 0 or more"
    raise Invalid(f'Query "{name}" must be {allowed}.', code="bad_query")
