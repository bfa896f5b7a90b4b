"""Where the lines of an old text are in the new one, from the `-U0` edits between the two.

Pure. An edit is git's `@@ -old_start,old_count +new_start,new_count @@`: with `old_count` 0 it
inserts after line `old_start`, with `new_count` 0 the new text continues after line `new_start`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

Edit = tuple[int, int, int, int]


class Shift:
    """The line map of one pair of texts; each query takes O(log edits)."""

    __slots__ = ("_edits", "_firsts", "_lasts", "_shifts")

    def __init__(self, edits: Sequence[Edit]) -> None:
        """`edits` in the order of the text, as git gives them."""
        self._edits = edits
        self._firsts = [old + (not count) for old, count, _, _ in edits]
        self._lasts = [old + count - bool(count) for old, count, _, _ in edits]
        self._shifts = [0]  # of lines before each edit, and after the last one
        total = 0
        for _, old_count, _, new_count in edits:
            total += new_count - old_count
            self._shifts.append(total)

    def find_range(self, start: int, line: int) -> tuple[int, int] | None:
        """Where the range is now, including lines inserted inside it; None if it was changed."""
        first = bisect_left(self._lasts, start)
        behind = bisect_right(self._firsts, line)
        if any(self._edits[n][1] for n in range(first, behind)):
            return None
        return start + self._shifts[first], line + self._shifts[behind]

    def nearest(self, line: int) -> int:
        """The line where `line` was: row k of a changed block maps to row k of its new one (or its
        last row), a deleted block to the line after it. May be past the end of the text."""
        first = bisect_left(self._lasts, line)
        if first == len(self._edits) or line < self._firsts[first]:
            return line + self._shifts[first]
        old, _, new, count = self._edits[first]
        return new + min(line - old, count - 1) if count else new + 1
