"""The `scope` of a management client, read so that no mistake ever grants anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workspace.access.policy import READ_ONLY_DEFAULT, Scope
from workspace.access.records import ERROR, Record, unknown_keys, words
from workspace.projects import schema

_NOTHING, _EVERYTHING = "it grants nothing", "it denies everything"
_FIELDS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    # key: (field of Scope, value when absent, value when unusable)
    "projects": ("projects", ("*",), ()),
    "allow": ("allow", READ_ONLY_DEFAULT, ()),
    "deny": ("deny", (), ("*",)),
    "denyProjects": ("deny_projects", (), ("*",)),
}
NOTHING = Scope(
    projects=(),
    allow=(),
    deny=("*",),
    deny_projects=("*",),
    max_spawn_depth=0,
    permission_mode="plan",
)


def read(client: str, node: Any) -> tuple[Scope, list[Record]]:
    """The scope, and log records about it; `client` is the client's place in the file."""
    place = f"{client}.scope"
    if node is None:
        return Scope(), []
    if not isinstance(node, dict):
        return NOTHING, [Record(ERROR, f"{place}: not usable, it grants nothing")]
    records = unknown_keys(place, node, [*_FIELDS, "maxSpawnDepth", "permissionMode"])
    values: dict[str, Any] = {}
    for key, (field, absent, unusable) in _FIELDS.items():
        value = node.get(key)
        found = absent if value is None else words(value)
        if found is None:
            effect = _EVERYTHING if unusable else _NOTHING
            records.append(_unusable(f"{place}.{key}", f"{effect}; write a list of names"))
            found = unusable
        values[field] = tuple(found)
    depth = node.get("maxSpawnDepth")
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 0):
        text = "it counts as 0; write a whole number of 0 or more"
        records.append(_unusable(f"{place}.maxSpawnDepth", text))
        depth = 0
    mode = node.get("permissionMode")
    mode = Scope().permission_mode if mode is None else mode
    if mode not in schema.PERMISSION_MODES:
        text = f"it counts as plan; write one of {', '.join(schema.PERMISSION_MODES)}"
        records.append(_unusable(f"{place}.permissionMode", text))
        mode = "plan"
    return Scope(**values, max_spawn_depth=depth, permission_mode=mode), records


def _unusable(place: str, effect: str) -> Record:
    return Record(ERROR, f"{place}: not usable, {effect}")
