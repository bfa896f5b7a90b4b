"""Pictures for a model: which files count as one, how large they may be, and how many at a time.

Only the bytes decide what a file is. A picture that cannot be shown is named, and never an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from config.process.light_typing import NamedTuple
from config.storage import opening

MOST, BYTES, ALL_BYTES = 20, 5 * 1024 * 1024, 20 * 1024 * 1024
SIGNATURES = (
    ("image/png", "png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", "jpg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", "gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", "webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)
UNSEEN, LEFT_OUT = "pictures_unseen", "pictures_left_out"
_ABOUT_THEM = re.compile(r"image|vision|picture|multi-?modal|mmproj", re.IGNORECASE)


class Picture(NamedTuple):
    path: str
    type: str
    data: bytes


def kind(data: bytes) -> str | None:
    """The media type of these bytes; None if they are not a known image."""
    return next((name for name, _, signature in SIGNATURES if signature.match(data)), None)


def read(path: str) -> Picture | None:
    """A picture that can be shown, read without following a link out of its folder; else None."""
    try:
        data = opening.contents(path, limit=BYTES, within=Path(path).parent)
    except OSError:
        return None
    found = kind(data)
    return Picture(path, found, data) if found else None


def read_fitting(paths: Sequence[str]) -> tuple[list[Picture], list[str]]:
    """The pictures that fit into one message, and the names of the others."""
    found: list[Picture] = []
    others = [Path(path).name for path in paths[MOST:]]
    left = ALL_BYTES
    for path in paths[:MOST]:
        picture = read(path)
        if picture is None or len(picture.data) > left:
            others.append(Path(path).name)
            continue
        left -= len(picture.data)
        found.append(picture)
    return found, others


def too_much(names: Sequence[str]) -> str:
    """A sentence for the chat: which pictures were not shown."""
    most = f"up to {BYTES // 1024**2} MiB, {MOST} and {ALL_BYTES // 1024**2} MiB of them together"
    return f"Not shown to the model, which receives their paths: {', '.join(names)} ({most})."


def unseen(who: str) -> str:
    return f"{who} takes no pictures; it receives their paths."


def is_refusal(text: str) -> bool:
    """Whether the error of a server that was sent pictures is about the pictures."""
    return bool(_ABOUT_THEM.search(text))
