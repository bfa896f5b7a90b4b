"""What the command line shows people: tables that fit their terminal, and no control characters."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Container, Iterable, Sequence

GAP = "  "
LEAST = 8  # columns that a cut column keeps
WIDE = {"W", "F"}


def plain(value: object) -> str:
    """One line without anything a terminal would obey."""
    text = "" if value is None else str(value)
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def terminal() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, width: int, whole: Container[str] = ()
) -> list[str]:
    """The lines of a table of at most `width` columns; the widest columns are cut first.

    The columns under the heads of `whole` are never cut: what a person copies from them must be
    all of it, and the table may be wider for it.
    """
    cells = [list(head), *([plain(value) for value in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    room = width - len(GAP) * (len(widths) - 1)
    cut = [index for index, name in enumerate(head) if name not in whole]
    while sum(widths) > room and any(widths[index] > LEAST for index in cut):
        widths[max(cut, key=widths.__getitem__)] -= 1
    return [_row(row, widths) for row in cells]


def pairs(rows: Iterable[tuple[str, object]]) -> list[str]:
    """Names and values, one a line; what has no value is left out."""
    shown = [(name, plain(value)) for name, value in rows if value not in (None, "", [])]
    widest = max((len(name) for name, _ in shown), default=0)
    return [f"{name:{widest}}  {value}" for name, value in shown]


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    parts = (_padded(_cut(cell, width), width) for cell, width in zip(row, widths, strict=True))
    return GAP.join(parts).rstrip()


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    """Columns of a terminal: a wide character takes two, a combining one none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in WIDE else 1
        for char in text
    )
