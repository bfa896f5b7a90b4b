"""The `scope` of a management client, read so that no mistake ever grants anything (6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workspace.access.policy import READ_ONLY_DEFAULT, Scope
from workspace.access.records import ERROR, Record, unknown_keys, words

_FIELDS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    # key: (field of Scope, value when absent, value when unusable)
    "projects": ("projects", ("*",), ()),
    "allow": ("allow", READ_ONLY_DEFAULT, ()),
    "deny": ("deny", (), ("*",)),
    "denyProjects": ("deny_projects", (), ("*",)),
}
NOTHING = Scope(projects=(), allow=(), deny=("*",), deny_projects=("*",), max_spawn_depth=0)


def read(client: str, node: Any) -> tuple[Scope, list[Record]]:
    """The scope, and what there is to say about it; `client` is the place in the file."""
    place = f"{client}.scope"
    if node is None:
        return Scope(), []
    if not isinstance(node, dict):
        return NOTHING, [Record(ERROR, f"{place}: not usable, it grants nothing")]
    records = unknown_keys(place, node, [*_FIELDS, "maxSpawnDepth"])
    values: dict[str, Any] = {}
    for key, (field, absent, unusable) in _FIELDS.items():
        value = node.get(key)
        found = absent if value is None else words(value)
        if found is None:
            records.append(Record(ERROR, f"{place}.{key}: not usable, it grants nothing"))
            found = unusable
        values[field] = tuple(found)
    depth = node.get("maxSpawnDepth")
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 0):
        records.append(Record(ERROR, f"{place}.maxSpawnDepth: not usable, it grants nothing"))
        depth = 0
    return Scope(**values, max_spawn_depth=depth), records
