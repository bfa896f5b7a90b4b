"""What a ```suggestion block asks for: its lines instead of those that its thread is about."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass

from config.errors import Conflict
from review import markdown
from review.git import objects


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines `first` to `last` of a file become `lines`; `thread` asks for it."""

    first: int
    last: int
    lines: tuple[str, ...]
    thread: str


def blocks(body: str) -> list[tuple[str, ...]]:
    """The lines of each suggestion in a comment; an unclosed block ends with the comment."""
    found = markdown.blocks(body, markdown.SUGGESTION)
    return [tuple(text.removesuffix("\n").split("\n") if text else ()) for text in found]


def apply(data: bytes, edits: Sequence[Edit], name: str) -> bytes:
    """The file with all edits applied. Conflict if two overlap, or its encoding cannot hold one."""
    mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    lines = _split(data.removeprefix(mark))
    encoding = _encoding(data, name)
    below = len(lines) + 1
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last), reverse=True):
        if edit.last >= below:
            raise Conflict(f"Two suggestions change line {edit.last} of {name}; apply one of them.")
        below = edit.first
        lines[edit.first - 1 : edit.last] = _lines(edit, lines, encoding, name)
    return mark + b"".join(lines).removeprefix(mark)


def plain(lines: Sequence[str]) -> list[str]:
    """The lines for a comparison: without line ends and byte order mark, which a suggestion never
    changes."""
    return [line.removeprefix("\ufeff").removesuffix("\r") for line in lines]


def stands(lines: Sequence[str], wanted: Sequence[str], line: int) -> bool:
    """Whether `lines` contain the wanted ones in a place that includes `line`, counted from 1."""
    held, count = plain(lines), len(wanted)
    starts = range(max(0, line - count), line)
    return count > 0 and any(held[at : at + count] == plain(wanted) for at in starts)


def _split(data: bytes) -> list[bytes]:
    """The lines with their ends, split as git counts them."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + [part for part in parts[-1:] if part]


def _lines(edit: Edit, lines: Sequence[bytes], encoding: str, name: str) -> list[bytes]:
    """The new lines, with the line end of the old ones or, if they have none, of the line above."""
    ended = next((one for one in reversed(lines[: edit.first]) if one.endswith(b"\n")), b"\n")
    end = b"\r\n" if ended.endswith(b"\r\n") else b"\n"
    try:
        made = [line.removesuffix("\r").encode(encoding) + end for line in edit.lines]
    except UnicodeEncodeError:
        raise Conflict(
            f"{name} is encoded as {encoding}, which has no sign for some of the suggestion."
        ) from None
    if made and not lines[edit.last - 1].endswith(b"\n"):
        made[-1] = made[-1].removesuffix(end)
    return made


def _encoding(data: bytes, name: str) -> str:
    found = objects.text(data)[1]
    if found == "unknown" or objects.is_binary(data):
        raise Conflict(f"{name} is not text that could be changed here.")
    return found
