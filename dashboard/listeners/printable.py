"""Values from other people's processes and files, made safe to leave this process.

Names, titles and arguments are untrusted data: control characters and broken text become U+FFFD,
long values are truncated, and secrets are masked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from dashboard.files import masks

CUT = "…"
REPLACED = "\N{REPLACEMENT CHARACTER}"
ARGUMENT, ARGUMENTS, PATH = 1_000, 200, 4_096  # characters; how many; characters

_UNSAFE = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str, limit: int = PATH) -> str:
    """The text printable on one line and valid as UTF-8, cut to `limit` characters."""
    cut = text[: limit - 1] + CUT if len(text) > limit else text
    if cut.isprintable():  # the usual case, which this makes fast
        return cut
    return "".join(REPLACED if _unsafe(char) else char for char in cut)


def _unsafe(char: str) -> bool:
    return char in _TURNING or unicodedata.category(char) in _UNSAFE


def masked_argv(argv: Sequence[str]) -> list[str]:
    """The arguments fit to be shown: masked, plain, at most 200 of at most 1,000 characters."""
    shown = [plain(one, ARGUMENT) for one in masks.argv(argv[:ARGUMENTS])]
    return [*shown, CUT] if len(argv) > ARGUMENTS else shown
