"""The lines of one blob, and finding lines in it that were written down (contract 4, rule 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

CONTEXT = 3  # lines kept above and below
MOST_LINES, MOST_CHARS = 200, 4000  # of the commented text that is kept (contract 3.6)
MOST_CONTEXT_CHARS = 500  # of each line above and below
TELLING_CHARS = 4  # a text with fewer of them could stand anywhere
SNIFFED = 8000  # bytes in which git looks for a NUL


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines to look for, which stood for `span` lines, with those above and below them."""

    lines: Sequence[str]
    before: Sequence[str]
    after: Sequence[str]
    span: int

    @property
    def telling(self) -> bool:
        return sum(len("".join(line.split())) for line in self.lines) >= TELLING_CHARS


class Text:
    """A blob as lines, split when first asked for. What is not UTF-8 is replaced."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @property
    def binary(self) -> bool:
        return b"\0" in self.data[:SNIFFED]

    @cached_property
    def count(self) -> int:
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))

    @cached_property
    def lines(self) -> list[str]:
        return self.data.decode(errors="replace").split("\n")[: self.count]

    @cached_property
    def trimmed(self) -> list[str]:
        return [line.strip() for line in self.lines]

    def snippet(self, start: int, line: int) -> Snippet:
        """Lines `start` to `line`, as far as there are such, with their surroundings."""
        return Snippet(
            lines=self.lines[start - 1 : line],
            before=self.lines[max(0, start - 1 - CONTEXT) : start - 1],
            after=self.lines[line : line + CONTEXT],
            span=line - start + 1,
        )

    def find(self, wanted: Snippet, near: int) -> tuple[int, int] | None:
        """First and last line of the place that has these lines: equal ones before ones that are
        equal when trimmed, then the most equal lines around, then the nearest to `near`."""
        if not wanted.lines:
            return None
        start = _best(self.lines, self._rows, wanted, near, _as_is)
        if start is None:
            start = _best(self.trimmed, self._trimmed_rows, wanted, near, str.strip)
        if start is None:
            return None
        return start, min(start + wanted.span - 1, self.count)

    @cached_property
    def _rows(self) -> Mapping[str, list[int]]:
        return _rows(self.lines)

    @cached_property
    def _trimmed_rows(self) -> Mapping[str, list[int]]:
        return _rows(self.trimmed)


def _as_is(line: str) -> str:
    return line


def _rows(lines: Sequence[str]) -> Mapping[str, list[int]]:
    """The places, from 0, of each line."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, line in enumerate(lines):
        rows[line].append(row)
    return rows


def _best(
    lines: list[str],
    rows: Mapping[str, list[int]],
    wanted: Snippet,
    near: int,
    form: Callable[[str], str],
) -> int | None:
    """The line, from 1, where the best place starts."""
    text = [form(line) for line in wanted.lines]
    offset = min(range(len(text)), key=lambda at: len(rows.get(text[at], ())))
    starts = [row - offset for row in rows.get(text[offset], ()) if row >= offset]
    hits = [at for at in starts if lines[at : at + len(text)] == text]
    above = [form(line[:MOST_CONTEXT_CHARS]) for line in reversed(wanted.before)]
    below = [form(line[:MOST_CONTEXT_CHARS]) for line in wanted.after]
    ranked = []
    for at in hits:
        up = lines[max(0, at - len(above)) : at][::-1]
        end = at + wanted.span
        down = lines[end : end + len(below)]
        if wanted.telling or _neighbour(up, above) or _neighbour(down, below):
            ranked.append((-_equal(up, above) - _equal(down, below), abs(at + 1 - near), at + 1))
    return min(ranked)[2] if ranked else None


def _neighbour(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the next line is the same, and says something."""
    return bool(wanted and wanted[0].strip() and _equal(lines[:1], wanted[:1]))


def _equal(lines: Sequence[str], wanted: Sequence[str]) -> int:
    pairs = zip(lines, wanted, strict=False)
    return sum(line[:MOST_CONTEXT_CHARS] == other for line, other in pairs)
