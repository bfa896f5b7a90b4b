"""JSON with one possible meaning: no duplicate key, no NaN, no deep nesting; errors have a
position.

Line and column count from 1, in characters (`bad_json`).
"""

from __future__ import annotations

import json
import re
from typing import Any, Never

from config.errors import Invalid, printable
from dashboard.files.entries import DEPTH

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|-?(?:NaN|Infinity)', re.DOTALL)


def loads(data: bytes) -> dict[str, Any]:
    """The object that the text holds. Invalid `bad_json` for anything else."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        good = data[: error.start].decode()
        raise refusal("it is not UTF-8", good, len(good)) from None
    _walk(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise refusal(error.msg[:1].lower() + error.msg[1:], text, error.pos) from None
    except (ValueError, RecursionError):  # a number with thousands of digits
        raise refusal("a number is too long", text, 0) from None
    if not isinstance(value, dict):
        raise refusal("it must be an object", text, 0)
    return value


def refusal(detail: str, text: str = "", at: int = 0) -> Invalid:
    """The refusal; `at` is the index of the first wrong character."""
    error = Invalid(f"The body is not valid JSON: {detail}.", code="bad_json")
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    error.extra = {"line": line, "column": column}
    return error


def _walk(text: str) -> None:
    """Refuse what the parser would accept; text that is not JSON at all is left to the parser."""
    open_: list[set[str] | None] = []  # the keys of each enclosing object, None for a list
    key_due = False
    for match in TOKEN.finditer(text):
        mark, at = match[0], match.start()
        if mark in "{[":
            open_.append(set() if mark == "{" else None)
            if len(open_) > DEPTH:
                raise refusal(f"it is nested deeper than {DEPTH} levels", text, at)
        elif mark in "}]" and open_:
            open_.pop()
        elif mark[-1] in "Ny":
            _no_number(mark, text, at)
        elif mark[0] == '"' and key_due and open_:
            _check_key(mark, open_[-1], text, at)
        key_due = mark in "{," and bool(open_) and open_[-1] is not None


def _check_key(mark: str, keys: set[str] | None, text: str, at: int) -> None:
    try:
        key = json.loads(mark)
    except json.JSONDecodeError:
        return
    if keys is not None and key in keys:
        raise refusal(f'duplicate key "{printable(key)}"', text, at)
    if keys is not None:
        keys.add(key)


def _no_number(mark: str, text: str, at: int) -> Never:
    raise refusal(f"{mark} is not a number of JSON", text, at)
