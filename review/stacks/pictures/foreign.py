"""Scripts that the shipped fonts lack: drawn with the machine's fonts, reported if it has none.

A renderer that has to find a font in the middle of a text garbles Hindi, drops joined emoji and
takes Latin letters from that font too. So each run of such a script becomes its own text element,
in its place; its width is measured by drawing it.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from itertools import islice
from xml.sax.saxutils import escape, quoteattr

from PIL import Image

from config.fonts import metrics
from review.stacks.pictures import drawing as pen

TEXT = re.compile(r'<text x="([0-9.]+)"((?:(?!text-anchor)[^>])*)>([^<]+)</text>')
SIZE = re.compile(r'font-size="([0-9.]+)"')
LINE, WIDE = 20, 1000  # px of the sheet for measuring: each run is twice in a line
MOST = 80  # runs that are measured; the width of others is estimated from their letters
ACROSS = WIDE // LINE  # characters tested in one line
NOWHERE = "\U0010fffd"  # in no font: a character drawn like it has no glyph

Render = Callable[[str], bytes]
Run = tuple[str, str, bool]  # words, families, bold


def place_runs(picture: str, render: Render) -> tuple[str, str]:
    """The picture with each run in its place, and the characters that no font here has."""
    texts = [one for one in TEXT.finditer(picture) if metrics.lacking(unescape(one[3]))]
    if not texts:
        return picture, ""
    words = "".join(unescape(one[3]) for one in texts)
    lacking = [char for char in metrics.lacking(words) if _stands(char)]
    runs = list(islice(dict.fromkeys(run for one in texts for run in _runs(one)), MOST))
    widths, missing = _measure(runs, [NOWHERE, *lacking], render)
    known = dict(zip(runs, widths, strict=True))
    return TEXT.sub(lambda one: "".join(_parts(one, known)), picture), missing


def _runs(text: re.Match[str]) -> Iterator[Run]:
    for words, family in metrics.runs(unescape(text[3])):
        if family:
            yield words.rstrip(), family, "bold" in text[2]


def _parts(text: re.Match[str], known: Mapping[Run, float]) -> Iterator[str]:
    """One text as a text element per run, from the left."""
    x, bold = float(text[1]), "bold" in text[2]
    font = metrics.BOLD if bold else metrics.SANS
    size = float(found[1]) if (found := SIZE.search(text[2])) else pen.SIZE
    for words, family in metrics.runs(unescape(text[3])):
        run = words.rstrip()
        yield _text(x, text[2], run, family)
        ems = known.get((run, family, bold)) if family else None
        x += metrics.width(run, size, font) if ems is None else ems * size
        x += metrics.width(words[len(run) :], size, font)


def _text(x: float, attributes: str, words: str, family: str | None) -> str:
    how = f" font-family={quoteattr(family)}" if family else ""
    return f'<text x="{x:.2f}"{attributes}{how}>{escape(words)}</text>'


def _stands(char: str) -> bool:
    """Whether the character is drawn by itself, not combined with another."""
    return unicodedata.category(char) not in {"Mn", "Mc", "Me", "Cf"}


def _measure(runs: Sequence[Run], chars: Sequence[str], render: Render) -> tuple[list[float], str]:
    """The width of each run in ems, and which characters are drawn like the first of them."""
    below = LINE * len(runs)
    spots = [(LINE * (n % ACROSS), below + LINE * (n // ACROSS)) for n in range(len(chars))]
    high = below + LINE * (len(chars) // ACROSS + 1)
    texts = [
        _text(x, f' y="{LINE * n + 14}"{end}' + ' font-weight="bold"' * bold, words, family)
        for n, (words, family, bold) in enumerate(runs)
        for x, end in ((0, ""), (WIDE, ' text-anchor="end"'))
    ]
    texts += [
        _text(x, f' y="{y + 14}"', char, next(metrics.runs(char))[1])
        for (x, y), char in zip(spots, chars, strict=True)
    ]
    head = f'width="{WIDE}" height="{high}" font-size="{pen.SIZE}"'
    sheet = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {head} font-family={quoteattr(metrics.FAMILY)}>'
    )
    drawing = io.BytesIO(render(f"{sheet}{''.join(texts)}</svg>"))
    with Image.open(drawing, formats=["PNG"]) as image:
        ink = image.getchannel("A")
    zoom = ink.width / WIDE

    def box(x: float, y: float, wide: float) -> Image.Image:
        left, top, right, bottom = (side * zoom for side in (x, y, x + wide, y + LINE))
        return ink.crop((left, top, right, bottom))

    def wide(n: int) -> float:
        """The width of a run, drawn from the left edge and again up to the right edge: its ink
        begins equally far from its start in both, so the distance gives the width."""
        left, right = (box(x, LINE * n, WIDE / 2).getbbox() for x in (0, WIDE / 2))
        return WIDE / 2 - (right[0] - left[0]) / zoom if left and right else 0

    drawn = [box(x, y, LINE).tobytes() for x, y in spots]
    missing = [char for char, cell in zip(chars, drawn, strict=True) if cell == drawn[0]]
    return [wide(n) / pen.SIZE for n in range(len(runs))], "".join(missing[1:])
