"""The sheet a picture is drawn on: what is shown, in which columns, row by row from the top."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from config.fonts import metrics
from review.stacks.pictures import drawing as pen

WIDTH = 680
NARROW = 320  # as wide as a column beside a page
ROW = 24
LABEL = 28  # a row that names a repo or a stack
PAD = 20
RAIL = PAD + 2  # the line down the left in the colours of the stacks
DOTS = RAIL + 16
WORDS = DOTS + 14
BAR = 112
SHORT = 80  # longest bar of a narrow picture, which has no numbers
SMALL = 11.0
LEAST = 50  # changed lines that a full bar means at least: one line is never a big commit
MINUS = "\u2212"
SCALES = {"sqrt": math.sqrt, "linear": float}


@dataclass(frozen=True, slots=True)
class Row:
    """One commit as it is drawn."""

    title: str
    status: str
    additions: int
    deletions: int
    current: bool
    judged: tuple[str, str] = ("", "")  # the verdicts in words, and the role of their colour

    @property
    def size(self) -> int:
        return self.additions + self.deletions


@dataclass(frozen=True, slots=True)
class Stack:
    """One stack with its rows, the top one first."""

    title: str | None
    colour: str
    follow_on: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One repo with its stacks, the top one first. `above`, `below`: commits that are not drawn."""

    name: str
    base: str | None
    error: str | None
    stacks: tuple[Stack, ...]
    above: int = 0
    below: int = 0


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Columns:
    """The sheet's width, where titles end, where the two numbers end (None without numbers), and
    the length of the longest bar with the number of lines it stands for."""

    width: int
    title_end: float
    numbers: tuple[float, float] | None
    bar_length: int
    longest: int
    scale: str

    @classmethod
    def of(cls, rows: Sequence[Row], scale: str, *, narrow: bool = False) -> Columns:
        longest = max([LEAST, *(row.size for row in rows)])
        if narrow:
            return cls(NARROW, NARROW - PAD - SHORT - 12, None, SHORT, longest, scale)
        removed_end = WIDTH - PAD - BAR - 12
        removed = max(
            (metrics.width(f"{MINUS}{row.deletions:,}", SMALL) for row in rows), default=0
        )
        added = max((metrics.width(f"+{row.additions:,}", SMALL) for row in rows), default=0)
        added_end = removed_end - removed - 8
        numbers = (added_end, removed_end)
        return cls(WIDTH, added_end - added - 16, numbers, BAR, longest, scale)

    def bar(self, row: Row) -> tuple[float, float]:
        """Lengths of the green and the red part: together `bar_length` at most, each at least 1."""
        if not row.size:
            return 0.0, 0.0
        grow = SCALES[self.scale]
        whole = max(1.0, self.bar_length * grow(row.size) / grow(self.longest))
        if not (row.additions and row.deletions):
            return (whole, 0.0) if row.additions else (0.0, whole)
        whole = max(whole, 3.0)  # with a gap of 1 between them
        green = min(max((whole - 1) * row.additions / row.size, 1.0), whole - 2)
        return green, whole - 1 - green


class Sheet:
    """A picture while it is drawn, from the top down."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.width = columns.width
        self.y = PAD - 4.0
        self.parts: list[str] = []
        self.rail_end: float | None = None  # where the rail of this repo ends so far

    def document(self, label: str) -> str:
        return pen.document(self.width, self.y + PAD - 10, label, self.parts)

    def heading(self, title: str, summary: Iterable[tuple[str, str]]) -> None:
        room = self.width - 2 * PAD
        words = pen.clean(title)
        cut = metrics.fit(words, 17, room, metrics.BOLD)
        heading = pen.text(PAD, self.y + 20, cut, "ink", size=17, bold=True)
        x = float(PAD)
        counts = []
        for text, role in summary:
            counts.append(pen.text(x, self.y + 42, text, role))
            x += metrics.width(text, pen.SIZE) + 6
        self.parts += [pen.group(heading, hint=words), *counts]
        self.y += 58

    def repo(self, name: str) -> None:
        y = self.y + 18
        self.parts.append(pen.text(PAD, y, name, "ink2", size=SMALL, mono=True))
        x = PAD + metrics.width(name, SMALL, metrics.MONO) + 10
        self.parts.append(pen.rect((x, y - 4.5), (self.width - PAD - x, 1), 0, "line"))
        self.y += LABEL

    def note(self, words: str, role: str) -> None:
        words = pen.clean(words)
        cut = metrics.fit(words, SMALL, self.width - PAD - DOTS)
        self.parts.append(
            pen.group(pen.text(DOTS - 4, self.y + 16, cut, role, size=SMALL), hint=words)
        )
        self.y += ROW

    def stack(self, stack: Stack, *, named: bool) -> None:
        top = self.y + 4
        if named:
            self._name(stack)
        dashes = "6 4" if stack.follow_on else ""
        paint = pen.stroke("edge", 3, dashes) | {"stroke": stack.colour, "class": "stack"}
        self._rail(top, self.y + ROW * len(stack.rows) - 4, paint)
        for row in stack.rows:
            self._row(row)

    def _name(self, stack: Stack) -> None:
        y = self.y + 18
        words = pen.clean(stack.title or "") or "Other commits"
        behind = count(len(stack.rows), "commit") + (", follow-on" if stack.follow_on else "")
        left = DOTS - 4
        room = self.width - PAD - left - metrics.width(behind, SMALL) - 8
        cut = metrics.fit(words, pen.SIZE, room, metrics.BOLD)
        x = left + metrics.width(cut, pen.SIZE, metrics.BOLD) + 8
        self.parts.append(
            pen.group(
                pen.text(left, y, cut, "ink", bold=True),
                pen.text(x, y, behind, "ink3", size=SMALL),
                hint=words,
            )
        )
        self.y += LABEL

    def _rail(self, top: float, bottom: float, paint: dict[str, pen.Value]) -> None:
        self.parts.append(pen.line(RAIL, top, bottom, paint))
        self.rail_end = bottom

    def _row(self, row: Row) -> None:
        y, columns = self.y + ROW / 2, self.columns
        merged = row.status == "merged"
        font = metrics.BOLD if row.current else metrics.SANS
        judged, role = row.judged
        behind = metrics.width(judged, SMALL) + 8 if judged else 0.0
        words = metrics.fit(row.title, pen.SIZE, columns.title_end - WORDS - behind, font)
        after = WORDS + metrics.width(words, pen.SIZE, font) + 8
        verdicts = [pen.text(after, y + 4, judged, role, size=SMALL)] if judged else []

        def number(x: float, digits: str, role: str) -> str:
            role = "ink3" if merged else role
            return pen.text(x, y + 4, digits, role, size=SMALL, end=True)

        numbers: list[str] = []
        if columns.numbers:
            added_end, removed_end = columns.numbers
            if row.additions:
                numbers.append(number(added_end, f"+{row.additions:,}", "addink"))
            if row.deletions:
                numbers.append(number(removed_end, f"{MINUS}{row.deletions:,}", "delink"))
        left = RAIL + 5
        back = (
            [pen.rect((left, self.y), (self.width - 8 - left, ROW), 6, "chosen")]
            if row.current
            else []
        )
        self.parts.append(
            pen.group(
                *back,
                pen.dot(DOTS, y, row.status),
                pen.text(WORDS, y + 4.2, words, "ink3" if merged else "ink", bold=row.current),
                *verdicts,
                *numbers,
                *self._bar(row, y, merged),
                hint=", ".join(filter(None, (f"{row.status.capitalize()}: {row.title}", judged))),
            )
        )
        self.y += ROW

    def _bar(self, row: Row, y: float, merged: bool) -> Iterator[str]:
        x = float(self.width - PAD - self.columns.bar_length)
        green, red = self.columns.bar(row)
        if not row.size:
            yield pen.rect((x, y - 3.5), (1, 7), 0, "edge")
        if green:
            yield pen.rect((x, y - 3.5), (green, 7), 1, "oldadd" if merged else "add")
            x += green + 1
        if red:
            yield pen.rect((x, y - 3.5), (red, 7), 1, "olddel" if merged else "del")

    def end_of_repo(self, base: str | None) -> None:
        """Draw the base below the stacks, and end the repo."""
        if base is not None and self.rail_end is not None:
            y = self.y + ROW / 2
            words = pen.clean(base)
            cut = metrics.fit(words, SMALL, self.width - PAD - WORDS, metrics.MONO)
            self._rail(self.rail_end + 4, y, pen.stroke("edge", 2))
            self.parts.append(pen.rect((RAIL - 5, y - 1), (10, 2), 1, "idle"))
            self.parts.append(pen.text(DOTS - 4, y + 4, cut, "ink3", size=SMALL, mono=True))
            self.y += ROW
        self.rail_end = None
        self.y += 6
