"""The fonts of all pictures: DejaVu, shipped with the package, and how wide a text is in them.

Widths and coverage are read from the font files themselves (tables `cmap` and `hmtx`), so they
cannot differ from what is drawn.
"""

from __future__ import annotations

import struct
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
SANS = FOLDER / "DejaVuSans.ttf"
BOLD = FOLDER / "DejaVuSans-Bold.ttf"
MONO = FOLDER / "DejaVuSansMono.ttf"
FILES = (SANS, BOLD, MONO)
FAMILY = '"DejaVu Sans", Verdana, sans-serif'
MONO_FAMILY = '"DejaVu Sans Mono", monospace'
ELLIPSIS = "…"
JOINER = "\u200d"


def width(text: str, size: float, font: Path = SANS) -> float:
    """How far a text advances at this font size, in the unit of `size`."""
    face = _face(font)
    return sum(face.advance(char) for char in text) * size


def fit(text: str, size: float, room: float, font: Path = SANS) -> str:
    """The text, cut with an ellipsis where it is wider than `room`; never inside a character."""
    face = _face(font)
    most = room / size
    left = most - face.advance(ELLIPSIS)
    used, keep = 0.0, 0
    for place, char in enumerate(text):
        used += face.advance(char)
        if used <= left:
            keep = place + 1
        elif used > most:
            return _whole(text, keep).rstrip() + ELLIPSIS
    return text


def lacks(text: str) -> bool:
    """Whether a character of the text is in none of the shipped fonts."""
    return any(
        not any(_face(font).covers(char) for font in FILES)
        for char in set(text)
        if not char.isspace()
    )


def _whole(text: str, keep: int) -> str:
    """The first `keep` characters, less those that a mark or a joiner behind them would change."""
    while keep and (_rides(text[keep]) or text[keep - 1] == JOINER):
        keep -= 1
    return text[:keep]


def _rides(char: str) -> bool:
    """Whether the character only changes the one before it and takes no room."""
    return unicodedata.category(char) in {"Mn", "Me", "Cf"}


@dataclass(frozen=True, slots=True)
class _Face:
    """What a font says of each character: whether it has it, and its advance in ems."""

    starts: tuple[int, ...]  # first code point of each run, ascending
    runs: tuple[tuple[int, int], ...]  # (last code point, glyph of the first one)
    advances: tuple[float, ...]  # by glyph; the last one holds for all glyphs behind it

    def glyph(self, char: str) -> int | None:
        code = ord(char)
        place = bisect_right(self.starts, code) - 1
        if place < 0 or code > self.runs[place][0]:
            return None
        return self.runs[place][1] + code - self.starts[place]

    def covers(self, char: str) -> bool:
        return self.glyph(char) is not None

    def advance(self, char: str) -> float:
        glyph = self.glyph(char)
        if glyph is not None:
            return self.advances[min(glyph, len(self.advances) - 1)]
        if _rides(char):
            return 0.0
        return 1.0 if unicodedata.east_asian_width(char) in "WF" else 0.7


@cache
def _face(font: Path) -> _Face:
    data = font.read_bytes()
    tables = {
        data[at : at + 4]: struct.unpack_from(">II", data, at + 8)
        for at in range(12, 12 + 16 * struct.unpack_from(">H", data, 4)[0], 16)
    }
    per_em = struct.unpack_from(">H", data, tables[b"head"][0] + 18)[0]
    count = struct.unpack_from(">H", data, tables[b"hhea"][0] + 34)[0]
    pairs = struct.iter_unpack(">HH", data[tables[b"hmtx"][0] :][: 4 * count])
    runs = list(_runs(data, tables[b"cmap"][0]))
    return _Face(
        starts=tuple(first for first, _, _ in runs),
        runs=tuple((last, glyph) for _, last, glyph in runs),
        advances=tuple(advance / per_em for advance, _ in pairs),
    )


def _runs(data: bytes, cmap: int) -> Iterator[tuple[int, int, int]]:
    """(first, last, glyph of first) of the full Unicode table: cmap format 12, platform 3, 10."""
    count = struct.unpack_from(">H", data, cmap + 2)[0]
    for number in range(count):
        platform, encoding, offset = struct.unpack_from(">HHI", data, cmap + 4 + 8 * number)
        if (platform, encoding) == (3, 10):
            groups = struct.unpack_from(">I", data, cmap + offset + 12)[0]
            yield from struct.iter_unpack(">III", data[cmap + offset + 16 :][: 12 * groups])
