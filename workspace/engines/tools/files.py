"""Read, Write and Edit."""

from __future__ import annotations

import os

from config.process.light_typing import IO, TYPE_CHECKING, Any
from workspace.engines.tools import Output, ToolContext, ToolError, opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

LINE_CHARACTERS, LINES = 2000, 2000
NO_TEXT = "not a text file"
_LONGEST = LINE_CHARACTERS * 4


def read(args: Mapping[str, Any], place: ToolContext, cwd: str) -> str:
    """`limit` numbered lines from line `offset`, of a text file of any length."""
    path, start = args["file_path"], args.get("offset", 1)
    stop = start + args.get("limit", LINES)
    shown = []
    try:
        with opening.reading(path, place, cwd) as fd, os.fdopen(os.dup(fd), "rb") as file:
            if b"\0" in file.read(8192):
                raise ToolError(NO_TEXT)
            file.seek(0)
            for number, line in enumerate(_lines(file), 1):
                if number >= stop:
                    break
                if number >= start:
                    text = line.decode(errors="replace").rstrip("\r\n")
                    shown.append(f"{number}\t{text[:LINE_CHARACTERS]}")
    except FileNotFoundError:
        raise ToolError(f"file not found: {path}") from None
    return "\n".join(shown)


def picture(args: Mapping[str, Any], place: ToolContext, cwd: str) -> Output:
    """An image for a model; its bytes are the raw output, in base64."""
    import base64

    from workspace.engines.message import pictures

    path = args["file_path"]
    with opening.reading(path, place, cwd) as fd:
        size = os.fstat(fd).st_size
        if size > pictures.BYTES:
            raise ToolError(f"{NO_TEXT}, and too large to be shown: {size} bytes")
        with os.fdopen(os.dup(fd), "rb") as file:
            data = file.read(pictures.BYTES)
    kind = pictures.kind(data)
    if kind is None:
        raise ToolError(NO_TEXT)
    text = f"[picture: {kind}, {len(data)} bytes]"
    return Output(text, raw=base64.b64encode(data).decode())


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines, each cut to the part that can be shown; the rest of a long line is skipped."""
    while line := file.readline(_LONGEST):
        part = line
        while part and not part.endswith(b"\n"):
            part = file.readline(_LONGEST)
        yield line


def write(args: Mapping[str, Any], place: ToolContext, cwd: str) -> str:
    path, data = args["file_path"], args["content"].encode(errors="replace")
    opening.replace(path, data, place, cwd)
    return f"wrote {len(data)} bytes to {path}"


def edit(args: Mapping[str, Any], place: ToolContext, cwd: str) -> str:
    """Replace one text, once or everywhere; every other byte stays."""
    path, old = args["file_path"], args["old_string"].encode(errors="replace")
    if not old:
        raise ToolError("old_string is empty")
    data = opening.read_whole(path, place, cwd)
    if data is None:
        raise ToolError(f"file not found: {path}")
    new = args["new_string"].encode(errors="replace")
    returns = data.count(b"\r\n")
    if returns and (returns == data.count(b"\n") or old not in data):  # Read shows no \r
        old, new = (text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for text in (old, new))
    count = data.count(old)
    if count == 0:
        raise ToolError("old_string not found")
    if count > 1 and not args.get("replace_all"):
        raise ToolError(f"old_string is not unique ({count} matches)")
    opening.replace(path, data.replace(old, new), place, cwd)
    return f"replaced {count} in {path}"


TOOLS: dict[str, Callable[[Mapping[str, Any], ToolContext, str], str]] = {
    "Read": read,
    "Write": write,
    "Edit": edit,
}
