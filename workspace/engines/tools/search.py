"""Glob and Grep: names and lines below a folder, never through a symlink.

Bounded in answers, in file size and in time; a runaway pattern is interrupted by a timer.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

from config.process.light_typing import Any
from workspace.engines.tools import ToolContext, ToolError, opening

PATHS, HEAD, SECONDS, FILE_BYTES = 500, 200, 20.0, 2 * 1024 * 1024
_SKIPPED = (".git", ".chats")


def glob(args: Mapping[str, Any], place: ToolContext, cwd: str) -> str:
    """Matching paths, sorted by name and written so that the caller can pass them to Read."""
    pattern = _relative(args["pattern"])
    top = args.get("path") or "."
    matches = translate(pattern)
    with _Timer(SECONDS):
        paths = _walk(top, place, cwd, time.monotonic() + SECONDS)
        found = sorted(_path(top, path) for path in paths if matches.fullmatch(path))
    more = [f"[{len(found) - PATHS} paths left out]"] if len(found) > PATHS else []
    return "\n".join([*found[:PATHS], *more]) or "No files found"


def grep(args: Mapping[str, Any], place: ToolContext, cwd: str) -> str:
    """Matching lines, in one of the three output modes, at most `head_limit` lines of answer."""
    flags = re.IGNORECASE if args.get("-i") else 0
    if args.get("multiline"):
        flags |= re.DOTALL | re.MULTILINE
    try:
        pattern = re.compile(args["pattern"], flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolError(f"unreadable pattern: {error}") from None
    limit = args.get("head_limit", HEAD)
    with _Timer(SECONDS):
        lines: list[str] = []
        for line in _matches(pattern, args, place, cwd):
            if len(lines) == limit:
                lines.append(f"[more than {limit} lines]")
                break
            lines.append(line)
    return "\n".join(lines) or "No matches found"


def _matches(
    pattern: re.Pattern[str], args: Mapping[str, Any], place: ToolContext, cwd: str
) -> Iterator[str]:
    deadline = time.monotonic() + SECONDS
    top = args.get("path") or "."
    for path in _files(top, args.get("glob"), place, cwd, deadline):
        _check_time(deadline)
        text = _text(path, place, cwd)
        if text is None:
            continue
        spans = _lines_hit(pattern, text, whole=bool(args.get("multiline")))
        match args.get("output_mode", "files_with_matches"):
            case "files_with_matches":
                if next(spans, None) is not None:
                    yield path
            case "count":
                count = sum(1 for _ in spans)
                if count:
                    yield f"{path}:{count}"
            case _:
                yield from _content(path, text.split("\n"), list(spans), args)


def _files(
    top: str, wanted: str | None, place: ToolContext, cwd: str, deadline: float
) -> Iterator[str]:
    """The files to search, by name; a pattern without a slash matches at any depth."""
    if os.path.isfile(opening.real(top, cwd)):
        yield top
        return
    matches = None
    if wanted:
        wanted = _relative(wanted)
        matches = translate(wanted if "/" in wanted else f"**/{wanted}")
    for path in sorted(_walk(top, place, cwd, deadline)):
        if matches is None or matches.fullmatch(path):
            yield _path(top, path)


def _text(path: str, place: ToolContext, cwd: str) -> str | None:
    """The text of a file; None if Grep skips it: large, binary, unreadable, or not a file."""
    try:
        with opening.reading(path, place, cwd) as fd:
            if os.fstat(fd).st_size > FILE_BYTES:
                return None
            with os.fdopen(os.dup(fd), "rb") as file:
                data = file.read(FILE_BYTES + 1)
    except (OSError, ToolError):
        return None
    return None if b"\0" in data else data.decode(errors="replace")


def _lines_hit(pattern: re.Pattern[str], text: str, *, whole: bool) -> Iterator[tuple[int, int]]:
    """(first, last) line numbers from 0 of each hit."""
    if not whole:
        for number, line in enumerate(text.removesuffix("\n").split("\n")):
            if pattern.search(line):
                yield number, number
        return
    for hit in pattern.finditer(text):
        first = text.count("\n", 0, hit.start())
        yield first, first + text.count("\n", hit.start(), hit.end())


def _content(
    path: str, lines: list[str], spans: list[tuple[int, int]], args: Mapping[str, Any]
) -> Iterator[str]:
    """`path:line` for a hit, `path-line` around it, `--` between groups."""
    around = args.get("-C", 0)
    before, after = args.get("-B", around), args.get("-A", around)
    hits = {number for first, last in spans for number in range(first, last + 1)}
    shown: set[int] = set()
    for number in hits:
        shown.update(range(max(0, number - before), min(len(lines), number + after + 1)))
    previous = None
    for number in sorted(shown):
        if previous is not None and number > previous + 1 and (before or after):
            yield "--"
        previous = number
        mark = ":" if number in hits else "-"
        place = f"{number + 1}{mark}" if args.get("-n") else ""
        yield f"{path}{mark}{place}{lines[number][:2000]}"


def _walk(top: str, place: ToolContext, cwd: str, deadline: float) -> Iterator[str]:
    """Relative paths of the files below a folder, by descriptors: no link is ever entered."""
    with opening.listing(top, place, cwd) as fd:
        for folder, folders, names, _ in os.fwalk(".", dir_fd=fd):
            _check_time(deadline)
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            inner = folder[2:]
            for name in names:
                yield f"{inner}/{name}" if inner else name


def _path(top: str, path: str) -> str:
    """A path in the form in which the caller can pass it on."""
    return os.path.normpath(os.path.join(top, path))


def _relative(pattern: str) -> str:
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ToolError("the pattern is relative and without ..; name a folder in path")
    return pattern


def translate(pattern: str) -> re.Pattern[str]:
    """The regular expression of a glob over whole relative paths: ** any folders, * and ? within
    one name, [ab], {a,b}."""
    out, at, depth = [], 0, 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if pattern.startswith("**/", at - 1):
            out.append("(?:[^/]+/)*")
            at += 2
        elif char == "*":
            out.append(".*" if pattern.startswith("*", at) else "[^/]*")
            at += pattern.startswith("*", at)
        elif char == "[" and (end := pattern.find("]", at + 1)) > 0:
            body = pattern[at:end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^/{body[1:]}]" if body[0] in "!^" else f"[{body}]")
            at = end + 1
        else:
            depth += (char == "{") - (char == "}" and depth > 0)
            out.append(_plain(char, depth))
    try:
        return re.compile("".join(out) + ")" * depth)
    except re.error as error:
        raise ToolError(f"unreadable pattern: {error}") from None


def _plain(char: str, depth: int) -> str:
    """One character, neither star nor bracket; `depth` counts the braces open after it."""
    match char:
        case "?":
            return "[^/]"
        case "{":
            return "(?:"
        case "}":
            return ")"
        case "," if depth:
            return "|"
    return re.escape(char)


def _check_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise ToolError(f"the search took longer than {SECONDS:g} s")


class _Timer:
    """Interrupts a runaway pattern: the timer counts the CPU time of this process."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        self.before = signal.signal(signal.SIGVTALRM, self._late)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self.before)

    def _late(self, number: int, frame: FrameType | None) -> None:
        raise ToolError(f"the search took longer than {self.seconds:g} s")


TOOLS: dict[str, Callable[[Mapping[str, Any], ToolContext, str], str]] = {
    "Glob": glob,
    "Grep": grep,
}
