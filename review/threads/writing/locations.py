"""Where a new thread may be placed: paths and lines that the trees of the commit have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from config.errors import Invalid
from config.jsonio import clean
from review.git import objects
from review.git.ranges import name_text
from review.threads.placement import follow
from review.threads.placement.follow import Spot
from review.threads.placement.text import Text
from review.threads.schema import normal_side
from review.threads.target import Target
from review.threads.writing import limits


@dataclass(frozen=True, slots=True)
class Location:
    """As in a review file: all None for a general thread, `line` None for a whole file."""

    path: str | None = None
    side: str | None = None
    line: int | None = None
    start_line: int | None = None
    start_side: str | None = None


def parse(
    target: Target, *, path: Any, side: Any, line: Any, start_line: Any, start_side: Any
) -> Location:
    """The place that a caller asks for. Raises Invalid, which says what is wrong with it."""
    side, start_side = limits.side("side", side), limits.side("start_side", start_side)
    line, start_line = limits.line("line", line), limits.line("start_line", start_line)
    _needs({"line": line, "side": side}, "path", path)
    _needs({"start_line": start_line}, "line", line)
    _needs({"start_side": start_side}, "start_line", start_line)
    if path is None:
        return Location()
    if not isinstance(path, str) or clean(path) != path:
        raise Invalid('"path" must be a string')
    side = side or _default_side(target, path)
    found = _file(target, path, side)
    if line is None:
        return Location(found.path, side)
    _check_line(target, "line", line, path, found)
    if start_line is None:
        return Location(found.path, side, line)
    start_side = start_side or side
    if normal_side(start_side) != normal_side(side):
        found_start = _file(target, path, start_side)
        _check_line(target, "start_line", start_line, path, found_start)
    elif start_line <= line:
        _check_line(target, "start_line", start_line, path, found)
    else:
        raise Invalid('"start_line" must not be after "line"')
    return Location(found.path, side, line, start_line, start_side)


def _needs(given: dict[str, Any], other: str, there: Any) -> None:
    for name, value in given.items():
        if value is not None and there is None:
            raise Invalid(f'"{name}" needs "{other}"')


def _default_side(target: Target, path: str) -> str:
    deleted = any(file.path == path and file.new_oid is None for file in target.shown_commit.files)
    return "LEFT" if deleted else "RIGHT"


def _file(target: Target, path: str, side: str) -> Spot:
    """The file of that path on that side; the old path of a rename leads to its new one."""
    found = follow.spot(target.repository, target.shown_commit, path, normal_side(side))
    if found is None:
        raise Invalid(f"No such file in this commit: {name_text(path)}")
    return found


def _check_line(target: Target, name: str, line: int, path: str, found: Spot) -> None:
    reason = f'"{name}" cannot be given: {name_text(path)} is '
    if found.oid is None:
        raise Invalid(reason + "a submodule")
    data = objects.blob(target.repository, found.oid)
    if data is None:
        raise Invalid(reason + "missing in this clone")
    text = Text(data)
    if text.binary:
        raise Invalid(reason + "a binary file")
    if not text.count:
        raise Invalid(reason + "empty")
    if not 1 <= line <= text.count:
        raise Invalid(f'"{name}" must be between 1 and {text.count} for {name_text(path)}')
