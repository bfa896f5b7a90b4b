"""Reads `diff-tree --raw -p -U0 -z`: the patch of each file and the numbers of its hunks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review.git import output
from review.git.commits import Changed

Edit = tuple[int, int, int, int]  # old_start, old_count, new_start, new_count as git's -U0 says

HUNK = re.compile(rb"\n@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
HUNK_LINE = re.compile(rb"\n@@ [^\n]*")
FILE = b"diff --git "


def sections(data: bytes) -> Iterator[tuple[Changed, bytes]]:
    """Each file with its patch from the first hunk on, or with `Binary files …` or nothing instead.

    No line of a file is mistaken for one of git's headers, as each starts with its sign.
    """
    end = data.find(b"\0\0") + 1 or len(data)
    parts = _parts(data, end)
    for file in output.files(data[:end]):
        patch = _hunks(next(parts, b""))
        if file.status == "type":  # reported as a deleted and an added file
            patch += _hunks(next(parts, b""))
        yield file, patch


def _parts(data: bytes, at: int) -> Iterator[bytes]:
    """The output for one file after the other, sliced lazily because it may be large."""
    at = data.find(FILE, at)
    while at >= 0:
        end = data.find(b"\n" + FILE, at)
        yield data[at:end] if end >= 0 else data[at:]
        at = end + 1 if end >= 0 else -1


def edits(patch: bytes) -> tuple[Edit, ...]:
    """The hunks of one file's patch."""
    return tuple(
        (int(old), int(old_count or 1), int(new), int(new_count or 1))
        for old, old_count, new, new_count in HUNK.findall(patch)
    )


def is_binary(patch: bytes) -> bool:
    return patch.startswith(b"\nBinary files ")


def without_numbers(patch: bytes) -> bytes:
    """The hunk lines without their numbers: equal for the same change at any position."""
    return HUNK_LINE.sub(b"\n@@", patch).strip(b"\n")


def _hunks(part: bytes) -> bytes:
    """The part from the line feed before the first hunk or before `Binary files`; else empty."""
    start = part.find(b"\n@@ ")
    if start < 0:
        start = part.find(b"\nBinary files ")
    return part[start:] if start >= 0 else b""
