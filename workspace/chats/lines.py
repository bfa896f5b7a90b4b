"""Encode records of a transcript as lines of JSON and decode them, whatever values they hold.

See docs/design/engines.md#one-writer-append-only-lines.
"""

from __future__ import annotations

import codecs
import json
import math
import sys
from itertools import repeat
from operator import contains

from config.process.light_typing import Any

Record = dict[str, Any]

HEAD_BYTES = 16 * 1024  # bytes that stay in the line when the rest is kept elsewhere
REPLACE = "svc-replace"  # an error handler of codecs: lone surrogates become U+FFFD
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LONG = b"0" * 19  # with all digits mapped to 0: may be a number beyond 64 bits
_HALVES = (b"\\ud", b"\\uD", b"\xed")  # there may be a surrogate, in a pair or alone
_TEXT = frozenset((str, type(None)))
_FIELDS = {  # types that readers rely on; fields that may be missing allow None
    "seq": frozenset((int,)), "type": frozenset((str,)), "sender": frozenset((dict, type(None))),
    **dict.fromkeys(("ts", "turn", "text", "call", "tool", "target", "block"), _TEXT),
}  # fmt: skip


def encode(record: dict[str, Any]) -> bytes:
    """One line of JSON; lone surrogates become U+FFFD, NaN and the infinities null."""
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return encode(_finite(record))
    return (text + "\n").encode(errors=REPLACE)


def _finite(value: Any) -> Any:
    """The value with NaN and the infinities, which outside programs may send, replaced by null."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _replacement(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "\ufffd".encode() * (error.end - error.start), error.end


codecs.register_error(REPLACE, _replacement)


def shorten(value: Any, *, inner: bool = False) -> Any:
    """Short values stay as they are; a long one is replaced by the beginning of its text."""
    if isinstance(value, dict) and len(value) <= 16 and not inner:
        return {key[:200]: shorten(entry, inner=True) for key, entry in value.items()}
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= HEAD_BYTES // 2:
        return value
    return f"{text[: HEAD_BYTES // 2]}… [{len(text) - HEAD_BYTES // 2} characters left out]"


def decode(line: bytes) -> Record | None:
    """The record of a line, or None if it is damaged."""
    try:
        record = _parse(line)
    except (ValueError, RecursionError):
        return None
    return record if _is_record(record) else None


def decode_many(lines: list[bytes]) -> list[Record | None]:
    """The records of many lines, None for each damaged one. Most of the cost is function calls, so
    all lines are checked together unless one of them is unusual."""
    quick = sys.modules.get("orjson")
    if quick is not None and _LONG not in b" ".join(lines).translate(_DIGITS):
        try:
            found = [*map(quick.loads, lines)]
            if _are_records(found):
                return found
        except (ValueError, TypeError):
            pass
    return [*map(decode, lines)]


def _is_record(found: Any) -> bool:
    """Whether it has the fields and types that every reader relies on."""
    return (
        isinstance(found, dict)
        and "turn" in found
        and all(map(contains, _FIELDS.values(), map(type, map(found.get, _FIELDS))))
    )


def _are_records(found: list[Any]) -> bool:
    """The same check for all of them at once. TypeError if one is not a dict."""
    for key, types in _FIELDS.items():
        if not types.issuperset(map(type, map(dict.get, found, repeat(key)))):
            return False
    return all(map(contains, found, repeat("turn")))


def _parse(line: bytes) -> Any:
    """Use orjson if this process has loaded it: in a turn process, loading it would take longer
    than parsing all its lines. The standard library takes what orjson would refuse or round."""
    quick = sys.modules.get("orjson")
    if quick is not None and _LONG not in line.translate(_DIGITS):
        try:
            return quick.loads(line)
        except ValueError:
            pass
    found = json.loads(line)
    return json.loads(encode(found)) if any(half in line for half in _HALVES) else found
