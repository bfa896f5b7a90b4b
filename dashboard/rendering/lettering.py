"""The text on cards and its fonts: DejaVu, as shipped, laid out without libraries of the
system."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from PIL import ImageFont

from config.fonts import metrics

REGULAR, BOLD = metrics.SANS, metrics.BOLD
ELLIPSIS = "…"
_MISSING = "\uffff"
_WORDS = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[a-z](?=[A-Z])")


@cache
def font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    """BASIC layout: a card's bytes must not depend on the shaping libraries of the system."""
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


def title(name: str, slug: str) -> str:
    """The name on one line, or the slug if the fonts cannot write the name."""
    line = " ".join(unicodedata.normalize("NFC", name).split())
    return line if line and all(map(drawable, line)) else slug


def initials(text: str) -> str:
    """One or two capital letters: of the first two words, camel-case parts counting as words."""
    words = _WORDS.findall(_HUMP.sub(r"\g<0> ", text)) or ["?"]
    return "".join(word[0].upper()[0] for word in words[:2])


def fit(text: str, face: ImageFont.FreeTypeFont, room: float) -> str:
    """The text, cut with an ellipsis if it is wider than `room` pixels."""
    if face.getlength(text) <= room:
        return text
    while text and face.getlength(text + ELLIPSIS) > room:
        text = text[:-1].rstrip()
    return text + ELLIPSIS


@cache
def drawable(char: str) -> bool:
    """Whether the fonts have the character, and it needs no joining or right-to-left layout."""
    if char == " ":
        return True
    if unicodedata.bidirectional(char) in {"R", "AL", "AN"} or not char.isprintable():
        return False
    if unicodedata.category(char).startswith("M"):
        return False
    return _pixels(char) != _pixels(_MISSING)


def _pixels(char: str) -> tuple[tuple[int, int], bytes]:
    mask = font(BOLD, 24).getmask(char)
    return mask.size, bytes(mask)
