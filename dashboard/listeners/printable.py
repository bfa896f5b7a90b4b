"""Values of other people's processes and files as they may leave the machine's memory.

Names, titles and arguments are data of strangers: control characters and broken text become
U+FFFD, long values are cut, and secrets are masked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from dashboard.files import masks

CUT = "…"
REPLACED = "\N{REPLACEMENT CHARACTER}"
ARGUMENT, ARGUMENTS, PATH = 1_000, 200, 4_096  # characters, how many, characters

_UNSAFE = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str, limit: int = PATH) -> str:
    """Text that can be printed on one line and sent as UTF-8, cut to `limit` characters."""
    cut = text[: limit - 1] + CUT if len(text) > limit else text
    if cut.isprintable():  # nearly every one, and at once
        return cut
    return "".join(REPLACED if _unsafe(char) else char for char in cut)


def _unsafe(char: str) -> bool:
    return char in _TURNING or unicodedata.category(char) in _UNSAFE


def masked_argv(argv: Sequence[str]) -> list[str]:
    """Arguments fit to be shown: masked, plain, at most 200 of at most 1,000 characters."""
    shown = [plain(one, ARGUMENT) for one in masks.argv(argv[:ARGUMENTS])]
    return [*shown, CUT] if len(argv) > ARGUMENTS else shown
