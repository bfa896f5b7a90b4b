"""What a caller may write into a review file. Each check raises Invalid with a sentence."""

from __future__ import annotations

from typing import Any

from config.errors import Conflict, Invalid
from review.threads.schema import SIDES

BODY, AUTHOR, THREADS = 65_536, 128, 5_000


def body(value: Any) -> str:
    """The text of a comment, trimmed, with `\\n` as line ends."""
    if value is not None and not isinstance(value, str):
        raise Invalid('"body" must be a string')
    text = (value or "").replace("\r\n", "\n").strip()
    if not text:
        raise Invalid('"body" is required')
    if len(text) > BODY:
        raise Invalid(f'"body" must be at most {BODY:,} characters')
    return text


def author(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if not 1 <= len(text) <= AUTHOR or not text.isprintable():
        raise Invalid(f'"author" must be 1 to {AUTHOR} printable characters')
    return text


def side(name: str, value: Any) -> str | None:
    """A side in any accepted spelling; the spelling is kept."""
    if value is None:
        return None
    if not isinstance(value, str) or value.lower() not in SIDES:
        raise Invalid(f'"{name}" must be LEFT or RIGHT')
    return value


def line(name: str, value: Any) -> int | None:
    """A line number; locations.py checks whether the file has that line."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise Invalid(f'"{name}" must be a whole number')
    return value


def room_for_a_thread(count: int) -> None:
    if count >= THREADS:
        raise Invalid(f"A review holds at most {THREADS:,} threads")


def check_unchanged(now: str, was: Any) -> None:
    """Raise Conflict if a text is no longer the one that was read; with None nothing is checked."""
    if was is not None and now != was:
        raise Conflict("It has been changed since, perhaps in another window.", code="changed")
