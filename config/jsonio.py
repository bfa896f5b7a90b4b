"""JSON as the service writes and reads it: compact UTF-8 out, strict and bounded in.

NaN, Infinity, lone surrogates and endless nesting do not get through in either direction.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from itertools import accumulate
from typing import Any, Never

import orjson

from config.errors import Invalid

DEPTH = 100
SHOWN_DEPTH = 250  # of output: about as deep as orjson goes
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile("[\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


class JsonError(ValueError):
    """Why the bytes are not JSON; the text may be shown to a caller."""


def dumps(value: Any, *, indent: bool = False) -> bytes:
    """JSON, compact unless `indent`; non-ASCII unescaped, key order and big numbers kept.

    Any value of a file or record can be dumped: what is nested deeper than SHOWN_DEPTH levels is
    replaced by a text that says so.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None)
    except TypeError:
        separators = (",", ": ") if indent else (",", ":")
        return json.dumps(
            _plain(value), ensure_ascii=False, separators=separators, indent=2 if indent else None
        ).encode()


def column(value: Any, encoder: type[json.JSONEncoder] | None = None) -> str:
    """A value as a JSON column stores it: the result of Django's own encoding, in a tenth of the
    time. What databases do not accept as JSON, or what cannot be encoded, is stored as `dumps`
    writes it."""
    if encoder is None:
        with suppress(TypeError):  # a number of any size, a lone surrogate, a time
            return orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_DATETIME).decode()
    try:
        return json.dumps(value, cls=encoder, allow_nan=False)
    except (ValueError, RecursionError):
        return json.dumps(_plain(value), cls=encoder)


def loads(data: bytes, *, depth: int = DEPTH) -> Any:
    """Parse, or raise JsonError. Of duplicate keys the last one wins, as everywhere."""
    if nesting(data, limit=depth) > depth:
        raise JsonError(f"nested deeper than {depth} levels")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _slowly(data, error)


def clean(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def visible(text: str) -> str:
    """The text with invisible characters that have an effect replaced by names, `«U+202E»`:
    controls that reverse the text after them, line ends that are not displayed as such, tag
    characters."""
    return _UNSEEN.sub(lambda found: f"«U+{ord(found[0]):04X}»", text)


def nesting(data: bytes, *, limit: int) -> int:
    """The deepest nesting of brackets outside strings; 0 when there are too few to matter."""
    if data.count(b"[") + data.count(b"{") <= limit:
        return 0
    marks = _STRING.sub(b"", data).translate(None, delete=_OTHERS)
    return max(accumulate(map(_STEP.__getitem__, marks)), default=0)


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_STEP = [{"[": 1, "{": 1, "]": -1, "}": -1}.get(chr(byte), 0) for byte in range(256)]
_OTHERS = bytes(byte for byte in range(256) if not _STEP[byte])


def _slowly(data: bytes, refused: orjson.JSONDecodeError) -> Any:
    """orjson refuses escaped lone surrogates, which are JSON; the slower reader decides."""
    try:
        return json.loads(data.decode(), parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError:
        raise JsonError("not valid UTF-8") from None
    except JsonError:
        raise
    except (ValueError, RecursionError):
        raise JsonError(str(refused)) from None


def _no_constant(name: str) -> Never:
    raise JsonError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonError(f"{digits[:40]} is not a finite number")
    return number


def _plain(value: Any, level: int = 0) -> Any:
    if level >= SHOWN_DEPTH and isinstance(value, dict | list | tuple):
        return f"[nested deeper than {SHOWN_DEPTH} levels]"
    match value:
        case str():
            return clean(value)
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {clean(str(key)): _plain(inner, level + 1) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner, level + 1) for inner in value]
        case _:
            return value


def text_or_null(name: str, value: Any) -> str | None:
    """A field that is a text, cleaned, or null; Invalid for anything else."""
    if not isinstance(value, str | None):
        raise Invalid(f'"{name}" must be a string or null')
    return value if value is None else clean(value)
