"""Intervals such as `30m`: their grammar and length. The grid itself is in clock.py."""

from __future__ import annotations

import re
from datetime import timedelta

EXAMPLE = '"30m"'
LONGEST = timedelta(days=366)
_FORM = re.compile(r"\s*([1-9][0-9]*)\s*([smhd])\s*", re.IGNORECASE | re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class BadInterval(ValueError):
    """The text is not a duration; the message says why."""


def parse(text: str) -> timedelta:
    """The length as a timedelta. Raises BadInterval, which names the reason."""
    shown = text[:100]
    match = _FORM.fullmatch(text) if len(text) <= 100 else None
    if match is None:
        raise BadInterval(f'"{shown}" is not a duration (whole number plus s, m, h or d)')
    seconds = int(match[1]) * _UNITS[match[2].lower()]
    if seconds > LONGEST.total_seconds():
        raise BadInterval(f'"{shown}" is longer than 366d')
    return timedelta(seconds=seconds)


def canonical(text: str) -> str:
    """One spelling for each length: `" 30 M"` becomes `30m`, so that respelling never re-arms."""
    return "".join(text.split()).lower()
