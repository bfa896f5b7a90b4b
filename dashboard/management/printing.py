"""What the command line shows people: tables that fit the terminal, and no control characters."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Container, Iterable, Sequence

GAP = "  "
LEAST = 8  # columns that a truncated column keeps
WIDE = {"W", "F"}


def plain(value: object) -> str:
    """The value on one line, without anything that a terminal would interpret."""
    text = "" if value is None else str(value)
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def terminal() -> int:
    """The number of columns of the terminal; 80 if there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, width: int, whole: Container[str] = ()
) -> list[str]:
    """The lines of a table of at most `width` columns; the widest columns are cut first.

    The columns whose heads are in `whole` are never cut, because people copy their values; the
    table may become wider than `width` for them.
    """
    cells = [list(head), *([plain(value) for value in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    room = width - len(GAP) * (len(widths) - 1)
    cut = [index for index, name in enumerate(head) if name not in whole]
    while sum(widths) > room and any(widths[index] > LEAST for index in cut):
        widths[max(cut, key=widths.__getitem__)] -= 1
    return [_row(row, widths) for row in cells]


def pairs(rows: Iterable[tuple[str, object]]) -> list[str]:
    """Names and values, one per line; names without a value are left out."""
    shown = [(name, plain(value)) for name, value in rows if value not in (None, "", [])]
    widest = max((len(name) for name, _ in shown), default=0)
    return [f"{name:{widest}}  {value}" for name, value in shown]


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    parts = (_pad(_cut(cell, width), width) for cell, width in zip(row, widths, strict=True))
    return GAP.join(parts).rstrip()


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    """The terminal columns of a text: a wide character takes two, a combining one none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in WIDE else 1
        for char in text
    )
