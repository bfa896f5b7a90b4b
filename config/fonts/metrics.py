"""The fonts of all pictures (DejaVu, shipped with the package), and how wide a text is in them.

Scripts that DejaVu lacks are drawn with fonts of the machine, if it has any.

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
from itertools import groupby
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
CHINESE = (
    '"Noto Sans CJK SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", '
    '"PingFang SC", "Microsoft YaHei"'
)
HINDI = '"Noto Sans Devanagari", "Lohit Devanagari", "Kohinoor Devanagari", "Nirmala UI"'
THAI = '"Noto Sans Thai", "Garuda", "Loma", "Thonburi", "Leelawadee UI"'
EMOJI = '"Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji"'
ELSEWHERE = (  # first and last code point, and the font families known to draw that range
    (0x0900, 0x097F, HINDI), (0x0E00, 0x0E7F, THAI), (0x1100, 0x11FF, CHINESE),
    (0x2E80, 0x9FFF, CHINESE), (0xA960, 0xA97F, CHINESE), (0xAC00, 0xD7FF, CHINESE),
    (0xF900, 0xFAFF, CHINESE), (0xFE30, 0xFE4F, CHINESE), (0xFF00, 0xFFEF, CHINESE),
    (0x1F000, 0x1FBFF, EMOJI), (0x20000, 0x3FFFF, CHINESE),
)  # fmt: skip


def width(text: str, size: float, font: Path = SANS) -> float:
    """How far a text advances at this font size, in the unit of `size`."""
    face = _face(font)
    return sum(face.advance(char) for char in text) * size


def fit(text: str, size: float, room: float, font: Path = SANS) -> str:
    """The text, cut with an ellipsis if it is wider than `room`; never cut inside a character."""
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


def lacking(text: str) -> str:
    """The characters of the text that are in none of the shipped fonts, each once, in order."""
    return "".join(
        char
        for char in dict.fromkeys(text)
        if not char.isspace() and not any(_face(font).covers(char) for font in FILES)
    )


def runs(text: str) -> Iterator[tuple[str, str | None]]:
    """Pieces of the text, any blanks at their end, each with its font families; None for FAMILY."""
    lacks = lacking(text)
    family: str | None = None

    def of(char: str) -> str | None:
        nonlocal family
        if char in lacks or not (_rides(char) or char.isspace()):
            family = _elsewhere(char) if char in lacks else None
        return family

    for found, piece in groupby(text, of):
        yield "".join(piece), found


def _elsewhere(char: str) -> str | None:
    code = ord(char)
    found = (family for first, last, family in ELSEWHERE if first <= code <= last)
    return next((f"{family}, {FAMILY}" for family in found), None)


def _whole(text: str, keep: int) -> str:
    """The first `keep` characters, less those that a mark or a joiner after them would change."""
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
    advances: tuple[float, ...]  # by glyph; the last one holds for all later glyphs

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
