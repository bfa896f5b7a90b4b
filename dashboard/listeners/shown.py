"""Values of other people's processes and files as they may leave the machine's memory (7.7).

Names, titles and arguments are data of strangers: control characters and broken text become
U+FFFD, long values are cut, and what looks like a secret shows as `***`: also inside of an
argument, for a stranger's command line may hold a script, a URL or JSON.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from dashboard.files.masks import MASK, SECRET, is_secret

CUT = "…"
REPLACED = "\N{REPLACEMENT CHARACTER}"
ARGUMENT, ARGUMENTS, PATH = 1_000, 200, 4_096  # characters, how many, characters

_UNSAFE = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Each pattern starts at the start of a word and never gives back: linear in hostile text too.
_SECRETS = rf"(?:{SECRET.pattern})"
_NAMED = re.compile(
    rf"""(?ix) (?<![\w.\-]) (?=[\w.\-]*?{_SECRETS}) ([\w.\-]++ ["']?\s*+ (?:=|:(?!//)) \s*+)
    (?: "[^"]*+"? | '[^']*+'? | [^&\s"']++ )"""
)
_OPTION = re.compile(rf"(?i)(?<!\S)(?=-[\w.\-]*?{_SECRETS})(-[\w.\-]++\s++)\S++")
_OWN = re.compile(r"(-*[\w.\-]++=).+", re.DOTALL)
_USER = re.compile(r"(?i)(?<![a-z0-9+.\-])([a-z][a-z0-9+.\-]*+://)[^/?#\s\"']*@")
_AUTHORIZATION = re.compile(r"(?i)\b(authorization\s*+[=:]\s*+).+")


def plain(text: str, limit: int = PATH) -> str:
    """Text that can be printed on one line and sent as UTF-8, cut to `limit` characters."""
    cut = text[: limit - 1] + CUT if len(text) > limit else text
    return "".join(REPLACED if _unsafe(char) else char for char in cut)


def _unsafe(char: str) -> bool:
    return char in _TURNING or unicodedata.category(char) in _UNSAFE


def masked(text: str) -> str:
    """One argument or URL with its named secrets and its URL user info as `***`."""
    text = _USER.sub(rf"\1{MASK}@", text)
    text = _AUTHORIZATION.sub(rf"\1{MASK}", text)
    return _OPTION.sub(rf"\1{MASK}", _NAMED.sub(rf"\1{MASK}", text))


def masked_argv(argv: Iterable[str]) -> list[str]:
    """Arguments fit to be shown: masked, plain, at most 200 of at most 1,000 characters.

    The value after an option of a secret's name is hidden too, whatever it looks like.
    """
    shown: list[str] = []
    after = False
    for number, argument in enumerate(argv):
        if number == ARGUMENTS:
            shown.append(CUT)
            break
        shown.append(MASK if after else _shown(argument))
        after = number > 0 and argument.startswith("-") and _expects_value(argument)
    return shown


def _shown(argument: str) -> str:
    own = _OWN.fullmatch(argument)
    whole = own is not None and is_secret(own[1])
    return plain(own[1] + MASK if own and whole else masked(argument), ARGUMENT)


def _expects_value(option: str) -> bool:
    return "=" not in option and len(option) <= 100 and is_secret(option)
