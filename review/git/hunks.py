"""Reads `diff-tree --raw -p -U0 -z`: the patch of each file and the numbers of its hunks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review.git import output
from review.git.commits import Changed

Edit = tuple[int, int, int, int]  # old_start, old_count, new_start, new_count as git's -U0 says

HUNK = re.compile(rb"\n@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
HUNK_LINE = re.compile(rb"\n@@ [^\n]*")
SECTION = b"\ndiff --git "


def sections(data: bytes) -> Iterator[tuple[Changed, bytes]]:
    """Each file with its patch from the first hunk on; without hunks what git says instead.

    A line of a file never starts one of git's own, as each has its sign before it.
    """
    raw, _, patch = data.partition(b"\0\0")
    parts = iter((b"\n" + patch).split(SECTION)[1:])
    for file in output.files(raw + b"\0"):
        part = next(parts, b"")
        if file.status == "type":  # told as a deleted and an added file
            part = _hunks(part) + _hunks(next(parts, b""))
            yield file, part
        else:
            yield file, _hunks(part)


def edits(patch: bytes) -> tuple[Edit, ...]:
    """The hunks of one file's patch."""
    return tuple(
        (int(old), int(old_count or 1), int(new), int(new_count or 1))
        for old, old_count, new, new_count in HUNK.findall(patch)
    )


def is_binary(patch: bytes) -> bool:
    return patch.startswith(b"\nBinary files ")


def unnumbered(patch: bytes) -> bytes:
    """The hunk lines alone: equal for an equal change, wherever it stands."""
    return HUNK_LINE.sub(b"\n@@", patch).strip(b"\n")


def _hunks(part: bytes) -> bytes:
    """From the line feed before the first hunk, or before `Binary files`; else nothing."""
    start = part.find(b"\n@@ ")
    if start < 0:
        start = part.find(b"\nBinary files ")
    return part[start:] if start >= 0 else b""
