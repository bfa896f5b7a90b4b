"""The possible values of one field. Each function returns the value meant, or raises Unfit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from dashboard.files import durations, globs, layout
from dashboard.files.durations import Unfit

W = TypeVar("W", bound=str)
Ranges = tuple[tuple[int, int], ...]
RANGE = re.compile(r"\s*([0-9]{1,5})(?:\s*-\s*([0-9]{1,5}))?\s*")
LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
COLOR = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|[a-z]{3,24}")
EMOJI = 16  # characters: the emoji of a family has many
URL = 2048
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def text(most: int) -> Callable[[str], str]:
    """One line."""

    def convert(value: str) -> str:
        if len(value) > most:
            raise Unfit(f"must have at most {most} characters, not {len(value)}")
        if CONTROL.search(value):
            raise Unfit("must be one line without control characters")
        return value

    return convert


def lines(most: int) -> Callable[[str], str]:
    """Text of any number of lines, its length counted in characters."""

    def convert(value: str) -> str:
        if len(value) > most:
            raise Unfit(f"must have at most {most} characters, not {len(value)}")
        return prose(4 * most)(value)

    return convert


def prose(most_bytes: int) -> Callable[[str], str]:
    """Text of any number of lines."""

    def convert(value: str) -> str:
        if len(value.encode(errors="replace")) > most_bytes:
            raise Unfit(f"must have at most {most_bytes} bytes")
        if "\0" in value:
            raise Unfit("must not hold a NUL character")
        return value

    return convert


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit("must be true or false")
    return value


def whole(low: int, high: int) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Unfit(f"must be a whole number from {low} to {high}")
        return value

    return convert


port = whole(1, 65535)


def number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unfit("must be a number")
    return value


def word(*words: W) -> Callable[[str], W]:
    def convert(value: str) -> W:
        for one in words:
            if one == value:
                return one
        raise Unfit(f"must be {', '.join(words[:-1])} or {words[-1]}")

    return convert


def duration(low: str, high: str) -> Callable[[Any], float]:
    """Seconds, at least the first and at most the second limit."""

    def convert(value: Any) -> float:
        seconds = durations.read(value)
        if not durations.read(low) <= seconds <= durations.read(high):
            raise Unfit(f"must be from {low} to {high}")
        return seconds

    return convert


def size(low: str, high: str) -> Callable[[Any], int]:
    """Bytes, at least the first and at most the second limit."""

    def convert(value: Any) -> int:
        found = durations.read_size(value)
        if not durations.read_size(low) <= found <= durations.read_size(high):
            raise Unfit(f"must be from {low} to {high}")
        return found

    return convert


def url(*schemes: str) -> Callable[[str], str]:
    def convert(value: str) -> str:
        wanted = f"must be a URL that begins with {', '.join(f'{one}:' for one in schemes)}"
        if len(value) > URL or CONTROL.search(value) or " " in value:
            raise Unfit(f"{wanted}, without blanks, of at most {URL} characters")
        try:
            parts = urlsplit(value)
            host, _port = parts.hostname, parts.port
        except ValueError:
            raise Unfit(wanted) from None
        if parts.scheme not in schemes or (parts.scheme in {"http", "https"} and not host):
            raise Unfit(wanted)
        return value

    return convert


web = url("http", "https")


def host(value: str) -> str:
    labels = value.removesuffix(".").split(".")
    if len(value) <= 253 and all(map(LABEL.fullmatch, labels)):
        return value
    try:
        IPv6Address(value.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise Unfit("must be a host name or an address, without scheme and port") from None
    return value


def path(value: str) -> str:
    """An absolute path, with `~` and `$HOME` expanded."""
    home = str(Path.home())
    found = re.sub(r"\A~(?=/|\Z)|\A\$HOME(?=/|\Z)|\A\$\{HOME\}(?=/|\Z)", lambda _: home, value)
    if "\0" in found or not found.startswith("/"):
        raise Unfit("must be an absolute path, or begin with ~/ or $HOME/")
    return os.path.normpath(found)


def path_glob(value: str) -> str:
    """A glob of absolute real paths, with symlinks resolved. Reads the disk."""
    return globs.resolve(path(value))


def below_root(value: str) -> str:
    """The path of a URL."""
    if not value.startswith("/") or CONTROL.search(value) or " " in value or len(value) > URL:
        raise Unfit("must begin with / and have no blanks")
    return value


def basename(value: str) -> str:
    if not value or "/" in value:
        raise Unfit("must be the name of a program, without a folder")
    return text(255)(value)


def color(value: str) -> str:
    if not COLOR.fullmatch(value):
        raise Unfit("must be a colour such as #3b82f6 or teal")
    return value


def icon(value: str) -> str:
    """A URL, an emoji, or `file:` and a path below home."""
    if value.startswith("file:"):
        home = os.path.realpath(layout.home())
        if not Path(os.path.realpath(Path(home, value[5:]))).is_relative_to(home):
            raise Unfit("a file: icon must lie below the dashboard's folder")
        return text(URL)(value)
    if value and not value.isascii() and len(value) <= EMOJI:
        return text(EMOJI)(value)
    try:
        return web(value)
    except Unfit:
        raise Unfit("must be an http or https URL, one emoji, or file: and a path") from None


def pattern(value: str) -> str:
    """A regular expression on one line."""
    try:
        re.compile(value)
    except re.error as error:
        raise Unfit(f"must be a regular expression ({error.msg})") from None
    return text(500)(value)


def ranges(low: int, high: int) -> Callable[[str], Ranges]:
    """`80,443,1024-65535` as pairs of both ends."""

    def convert(value: str) -> Ranges:
        found = []
        for part in value.split(","):
            match = RANGE.fullmatch(part)
            first = int(match[1]) if match else -1
            last = int(match[2] or first) if match else -1
            if not low <= first <= last <= high:
                raise Unfit(f"must be numbers or ranges from {low} to {high}, such as {low}-{high}")
            found.append((first, last))
        return tuple(found)

    return convert


def viewport(value: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{2,4})x([0-9]{2,4})", value)
    if not match or not all(100 <= int(side) <= 4096 for side in match.groups()):
        raise Unfit("must be width x height in pixels, such as 1280x800")
    return int(match[1]), int(match[2])


def signal(value: str) -> str:
    """TERM for TERM and SIGTERM alike."""
    return word("TERM", "INT", "HUP", "QUIT", "ALRM", "KILL", "USR1", "USR2")(
        value.removeprefix("SIG")
    )


Expected = Literal["always", "sometimes", "never"]


def expected(value: Any) -> Expected:
    """true means always, false sometimes."""
    if isinstance(value, bool):
        return "always" if value else "sometimes"
    return _EXPECTED(value)


_EXPECTED: Callable[[str], Expected] = word("always", "sometimes", "never")
