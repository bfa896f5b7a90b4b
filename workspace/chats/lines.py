"""One record of a transcript as a line of JSON, whatever values it was given.

See docs/design/engines.md#one-writer-append-only-lines.
"""

from __future__ import annotations

import codecs
import json
import math

from config.process.light_typing import Any

HEAD_BYTES = 16 * 1024  # of what is kept elsewhere
REPLACE = "svc-replace"  # an error handler of codecs: lone surrogates become U+FFFD


def encode(record: dict[str, Any]) -> bytes:
    """One line of JSON; lone surrogates become U+FFFD, NaN and the infinities null."""
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return encode(_finite(record))
    return (text + "\n").encode(errors=REPLACE)


def _finite(value: Any) -> Any:
    """The value, as programs outside may send it, with what JSON has no number for as null."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _replacement(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "\ufffd".encode() * (error.end - error.start), error.end


codecs.register_error(REPLACE, _replacement)


def shortened(value: Any, *, inner: bool = False) -> Any:
    """Short values stay as they are; a long one becomes the head of its text."""
    if isinstance(value, dict) and len(value) <= 16 and not inner:
        return {key[:200]: shortened(entry, inner=True) for key, entry in value.items()}
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= HEAD_BYTES // 2:
        return value
    return f"{text[: HEAD_BYTES // 2]}… [{len(text) - HEAD_BYTES // 2} characters left out]"
