"""Globs of paths and command lines, compiled once: they are compared many times a second."""

from __future__ import annotations

import glob
import os
import re
from fnmatch import translate
from functools import lru_cache
from itertools import takewhile

KEPT = 8192  # more than all apps and ignore rules of a usual home have
_MAGIC = re.compile(r"[*?[]")
_ESCAPED = re.compile(r"\[([*?[])\]")


def fits(pattern: str, text: str) -> bool:
    """Whether the pattern matches the whole text; `*` also matches slashes."""
    return _compile(pattern).match(text) is not None


def covers(pattern: str, path: str) -> bool:
    """Whether the pattern matches the path or a folder above it."""
    return fits(pattern, path) or fits(f"{pattern}/*", path) or fits(pattern, "/")


def literal(pattern: str) -> str | None:
    """The only text that the pattern matches; None when it matches several."""
    text = _ESCAPED.sub(r"\1", pattern)
    return text if not _MAGIC.search(_ESCAPED.sub("", pattern)) else None


def resolve(pattern: str) -> str:
    """The glob with the symlinks in its literal folders resolved, because only the real path of a
    process is known. Reads the disk."""
    parts = pattern.split("/")
    named = [*takewhile(lambda text: text is not None, map(literal, parts))]
    head, rest = "/".join(filter(None, named)), parts[len(named) :]
    try:
        real = os.path.realpath(f"/{head}")
    except ValueError:  # no file system can have this name
        return pattern
    return "/".join([glob.escape(real.rstrip("/") if rest else real), *rest])


@lru_cache(KEPT)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))
