"""Reads `diff-tree --raw -p -U0 -z` while git writes it: the hunks of each file, without text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from review.git import output
from review.git.commits import Changed
from review.git.diffs.hunks import Edit

MARK = re.compile(rb"\n(?:diff --git |@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@)")
LONGEST = 200  # bytes: more than MARK matches of any line


def edits(pieces: Iterable[bytes]) -> Iterator[tuple[Changed, tuple[Edit, ...]]]:
    """Yield each file in git's order, once the next one begins; one piece is held at a time.

    No line of a file is mistaken for one of git's headers, as each starts with its sign.
    """
    source = iter(pieces)
    raw, rest = _raw(source)
    files = iter(output.files(raw))
    current: Changed | None = None
    found: list[Edit] = []
    halves = 0  # left of a file that changes its type: git reports a deleted and an added one
    for hunk in _marks(rest, source):
        if hunk is not None:
            found.append(hunk)
        elif halves:
            halves = 0
        else:
            if current is not None:
                yield current, tuple(found)
            current, found = next(files), []
            halves = int(current.status == "type")
    if current is not None:
        yield current, tuple(found)


def _raw(source: Iterator[bytes]) -> tuple[bytes, bytes]:
    """The raw entries before the patches, and what was read beyond them."""
    data = b""
    for piece in source:
        data += piece
        end = data.find(b"\0\0")
        if end >= 0:
            return data[: end + 1], b"\n" + data[end + 2 :]
    return data, b""


def _marks(rest: bytes, source: Iterator[bytes]) -> Iterator[Edit | None]:
    """The hunks in order; None where a file begins."""
    while True:
        end = rest.rfind(b"\n")
        if len(rest) - end > LONGEST:
            end = len(rest)
        for old, old_count, new, new_count in MARK.findall(rest, 0, end):
            yield (int(old), int(old_count or 1), int(new), int(new_count or 1)) if old else None
        piece = next(source, b"")
        if not piece:
            return
        rest = rest[end:] + piece
