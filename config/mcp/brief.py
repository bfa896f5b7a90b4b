"""Short results for models: of each record the fields that matter, or those asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from config.errors import Invalid
from config.mcp.operations import Argument

ALL = "*"
FIELDS = Argument("fields", "list", "Only these keys of each; * for all")


def pick(
    records: Iterable[Mapping[str, Any]],
    fields: Sequence[str],
    usual: Sequence[str],
    *,
    telling: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Of each record, the `fields` if any are given, else those of `usual` that have a value. For
    keys in `telling`, False, 0 and empty count as a value; None never does.

    Raises Invalid for a field that no record has.
    """
    rows = list(records)
    if not fields:
        return [
            {key: row[key] for key in usual if _says(row.get(key), key in telling)} for row in rows
        ]
    if ALL in fields:
        return [dict(row) for row in rows]
    known = list(dict.fromkeys(key for row in rows for key in row))
    for key in fields:
        if rows and key not in known:
            raise Invalid(f"`fields` names `{key}`; there are {', '.join(known)} and {ALL}.")
    return [{key: row[key] for key in fields if key in row} for row in rows]


def _says(value: Any, telling: bool) -> bool:
    return bool(value) or (telling and value is not None)
