"""Live values as data in Markdown: on one line, truncated, and with all markup escaped."""

from __future__ import annotations

import re
import shlex
from typing import Any
from urllib.parse import quote

from dashboard.files import masks

TITLE = 80  # characters of a name, title, branch or message
EXACT = 200  # of a path, command or address, which must remain usable
NOTE = 8 << 10
URL = 2000
_MARKS = re.compile(r"([\\`*_\[\]<>|~])")
_RUNS = re.compile(r"`+")
_RESERVED = "%:/?#[]@!$&'*+,;=~"


def text(value: object, most: int = TITLE) -> str:
    """The value as running text: every character with a meaning in Markdown is escaped. "" for
    None."""
    return _escape_marks(_line(value, most))


def code(value: object, most: int = EXACT) -> str:
    """The value in a table cell, verbatim, between as many backticks as it needs."""
    line = _line(value, most)
    if not line:
        return ""
    fence = "`" * (max(map(len, _RUNS.findall(line)), default=0) + 1)
    pad = " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}".replace("|", r"\|")


def link(name: object, url: object) -> str:
    """A link to a web page, or the name alone when the address is not one."""
    label, target = text(name), masks.text(str(url or ""))
    if not re.match(r"https?://\S", target) or len(target) > URL:
        return label
    return f"[{label}]({quote(target, safe=_RESERVED)})"


def command(value: str | list[str] | None) -> str:
    """A start command as it would be typed."""
    return shlex.join(map(str, value)) if isinstance(value, list) else value or ""


def block_quote(value: str, most: int = NOTE) -> str:
    """Several lines of a person's text as a block quote."""
    return "\n".join(
        f"> {_escape_marks(_printable(line))}".rstrip() for line in value[:most].splitlines()
    )


def _escape_marks(line: str) -> str:
    return _MARKS.sub(r"\\\1", line)


def _line(value: Any, most: int) -> str:
    line = " ".join(_printable("" if value is None else str(value)[: 8 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _printable(line: str) -> str:
    """The text without control characters, direction marks and other invisible characters."""
    return "".join(char if char.isprintable() else " " for char in line)
