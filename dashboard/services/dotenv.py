"""Read an environment file: `NAME=value` lines as dotenv and docker write them. Runs nothing."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from config.storage import opening

LIMIT = 256 * 1024
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LINE = re.compile(
    r"""
    (?:export[ \t]+)? (?P<name>[^\s=]+) [ \t]* = [ \t]*
    (?: '(?P<single>[^']*)' (?:[ \t]+\#.*)?
      | "(?P<double>(?:[^"\\]|\\.)*)" (?:[ \t]+\#.*)?
      | (?P<plain>[^'"\s#](?:.*?))?? (?:(?:^|[ \t]+)\#.*)?
    ) [ \t]*
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "$": "$"}


class Unreadable(ValueError):
    """The file cannot be used; the text says where and why."""


def read(path: Path) -> dict[str, str]:
    """The variables of the file; of equal names the last one counts. Raises Unreadable."""
    try:
        data = opening.contents(path, limit=LIMIT)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise Unreadable(f"{path} is larger than 256 KiB") from None
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None
    try:
        return parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is not UTF-8 text") from None
    except Unreadable as error:
        raise Unreadable(f"{path}, {error}") from None


def parse(text: str) -> dict[str, str]:
    """Quoted values may not span lines; `\\n \\t \\" \\\\ \\$` are escapes in double quotes
    only."""
    found = {}
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        match = LINE.fullmatch(bare)
        if match is None or not NAME.fullmatch(match["name"]) or "\0" in bare:
            raise Unreadable(f"line {number} is not NAME=value")
        found[match["name"]] = _value(match)
    return found


def _value(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[0]), match["double"])
    return match["single"] if match["single"] is not None else match["plain"] or ""
