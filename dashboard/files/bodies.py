"""What a caller may send to be written: checked completely before any file is read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from config.storage import yamlio
from dashboard.files import entries, errors
from dashboard.files.entries import DEPTH, LIMIT
from dashboard.files.errors import BadValues
from dashboard.files.fields import Issue, Path
from dashboard.files.layout import DashboardFile

OWN_KEY = {"apps": "slug", "bookmarks": "group"}  # may be sent, is never written
SURROGATE = re.compile("[\ud800-\udfff]")
KEY = 500  # characters
INT64 = 2**63


def mapping(place: DashboardFile, sent: object) -> dict[str, Any]:
    """The mapping without the file's own name. BadValues when a file could not hold it."""
    if not isinstance(sent, dict):
        raise BadValues([Issue((), "must be a JSON object")])
    refuse(list(_unfit(sent, ())))
    own = OWN_KEY.get(place.kind, "")
    if own in sent and sent[own] != place.name:
        refuse([Issue((own,), f'must be "{place.name}", the name in the path')])
    return {key: value for key, value in sent.items() if key != own}


def text(place: DashboardFile, sent: object) -> bytes:
    """The bytes of a text that is a valid file. BadValues with line and column when it is not."""
    if not isinstance(sent, str) or SURROGATE.search(sent):
        raise BadValues([Issue(("text",), "must be text")])
    data = sent.encode()
    if len(data) > LIMIT:
        raise errors.too_large()
    try:
        found = entries.read(place, data)
    except yamlio.YamlError as error:
        place_ = {"line": error.line, "column": error.column}
        raise BadValues([Issue(("text",), str(error))], **place_) from None
    if found.wrong:
        line, column = found.at(found.wrong[0])
        raise BadValues(found.wrong, line=line, column=column)
    return data


def refuse(issues: Sequence[Issue]) -> None:
    """Raise BadValues if there are any issues."""
    if issues:
        raise BadValues(issues)


def refuse_unreadable(place: DashboardFile, made: bytes, wanted: dict[str, Any]) -> None:
    """The last check before the disk: the bytes must read back as the wanted mapping."""
    try:
        found = entries.parse(made)
    except yamlio.YamlError as error:
        raise errors.not_editable(place.file, error.line, error.column, error.reason) from error
    if not yamlio.same(found.value or {}, wanted):
        raise errors.not_editable(place.file, 1, 1, "the result would not say what was meant")


def _unfit(value: Any, path: Path) -> Iterator[Issue]:
    """The values that JSON can express and these files cannot."""
    if isinstance(value, dict | list):
        if len(path) >= DEPTH:
            yield Issue((), f"is nested deeper than {DEPTH} levels")
            return
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            if isinstance(key, str) and (len(key) > KEY or SURROGATE.search(key)):
                yield Issue(path, f"has a key that is not text of at most {KEY} characters")
            yield from _unfit(inner, (*path, key))
    elif isinstance(value, str) and SURROGATE.search(value):
        yield Issue(path, "must be valid Unicode")
    elif isinstance(value, float) and not math.isfinite(value):
        yield Issue(path, "must be a finite number")
    elif isinstance(value, int) and not -INT64 <= value < INT64:
        yield Issue(path, "must be a number of at most 64 bits")
