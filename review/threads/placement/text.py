"""The lines of one blob, and finding recorded lines in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from review.git import objects

CONTEXT = 3  # lines kept above and below
MOST_LINES, MOST_CHARS = 200, 4000  # of the commented text, how much is kept
MOST_CONTEXT_CHARS = 500  # of each line above and below
TELLING_CHARS = 4  # a text with fewer of them could be anywhere


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines to look for, which covered `span` lines, and the lines above and below them."""

    lines: list[str]
    before: list[str]
    after: list[str]
    span: int

    @property
    def telling(self) -> bool:
        return sum(len("".join(line.split())) for line in self.lines) >= TELLING_CHARS

    @property
    def trimmed(self) -> Snippet:
        lines, before, after = (
            [line.strip() for line in part] for part in (self.lines, self.before, self.after)
        )
        return Snippet(lines, before, after, self.span)


class Text:
    """A blob as lines, split on first use and decoded as answers show it."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @property
    def binary(self) -> bool:
        return objects.is_binary(self.data)

    @cached_property
    def count(self) -> int:
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))

    @cached_property
    def lines(self) -> list[str]:
        return objects.text(self.data)[0].split("\n")[: self.count]

    @cached_property
    def trimmed(self) -> list[str]:
        return list(map(str.strip, self.lines))

    def snippet(self, start: int, line: int) -> Snippet:
        """Lines `start` to `line`, as far as they exist, with the lines around them."""
        return Snippet(
            lines=self.lines[start - 1 : line],
            before=self.lines[max(0, start - 1 - CONTEXT) : start - 1],
            after=self.lines[line : line + CONTEXT],
            span=line - start + 1,
        )

    def find(self, wanted: Snippet, near: int) -> tuple[int, int] | None:
        """First and last line of the place with these lines, None without one: exact matches before
        those that are equal when trimmed, then the most equal lines around, then the nearest to
        `near`."""
        hits = self._hits([line.strip() for line in wanted.lines]) if wanted.lines else []
        equal = [at for at in hits if self.lines[at : at + len(wanted.lines)] == wanted.lines]
        start = _best(self.lines, equal, wanted, near)
        if start is None:
            start = _best(self.trimmed, hits, wanted.trimmed, near)
        if start is None:
            return None
        return start, min(start + wanted.span - 1, self.count)

    def _hits(self, text: list[str]) -> list[int]:
        """The rows, from 0, where these lines begin, compared when trimmed."""
        if not all(line in self._last for line in text):
            return []
        offset = max(range(len(text)), key=lambda at: len(text[at]))  # long lines are rare
        starts = [row - offset for row in self._rows(text[offset]) if row >= offset]
        return [at for at in starts if self.trimmed[at : at + len(text)] == text]

    def _rows(self, line: str) -> Iterator[int]:
        at, last = -1, self._last[line]
        while at < last:
            at = self.trimmed.index(line, at + 1)
            yield at

    @cached_property
    def _last(self) -> dict[str, int]:
        """The last row of each trimmed line, as most lines looked for do not occur at all."""
        return dict(zip(self.trimmed, range(self.count), strict=True))


def _best(lines: Sequence[str], hits: Sequence[int], wanted: Snippet, near: int) -> int | None:
    """The line, from 1, where the best of the hits begins; None without a usable one."""
    above, below = wanted.before[::-1], wanted.after
    ranked = []
    for at in hits:
        up = lines[max(0, at - len(above)) : at][::-1]
        end = at + wanted.span
        down = lines[end : end + len(below)]
        if wanted.telling or _neighbour(up, above) or _neighbour(down, below):
            ranked.append((-_equal(up, above) - _equal(down, below), abs(at + 1 - near), at + 1))
    return min(ranked)[2] if ranked else None


def _neighbour(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the next line is equal and not blank."""
    return bool(wanted and wanted[0].strip() and _equal(lines[:1], wanted[:1]))


def _equal(lines: Sequence[str], wanted: Sequence[str]) -> int:
    """How many lines are equal, compared as far as they are kept."""
    pairs = zip(lines, wanted, strict=False)
    return sum(
        line == other
        or (len(other) >= MOST_CONTEXT_CHARS and line.startswith(other[:MOST_CONTEXT_CHARS]))
        for line, other in pairs
    )
