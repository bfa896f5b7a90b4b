"""What the nodes report about themselves, and when each was last heard.

The clocks of two machines are never compared. A changed report counts as heard now, by this
process's clock; the age of a node's first report is computed by the clock of the Redis alone.
A report is checked field by field, so no node can harm another by its report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from config import jsonio
from config.errors import printable

FORGET_S = 7 * 86_400.0
LONGEST = 4096  # bytes of a value; a longer one is not fetched
ID = re.compile(r"[0-9a-z]{8,64}")
MOST_APPS = 10**6


@dataclass(frozen=True, slots=True)
class Node:
    """One installation of the service: `state/node` is its id, `home` its projects directory.

    `url` is where a person opens it, `dashboard` where they open its dashboard, "" if not reported;
    `apps`: how many of its apps are in each state. `seen`: when it was last heard, Unix seconds of
    this machine. `twin`: the name of another server that uses the same id, "" when there is none.
    """

    id: str
    name: str
    url: str
    version: str
    home: str
    apps: Mapping[str, int]
    seen: float
    alive: bool
    dashboard: str = ""
    twin: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """A report as received. `at` in monotonic seconds, `seen` in Unix seconds, by our clocks."""

    value: bytes
    fields: Mapping[str, Any] | None  # None: the report cannot be parsed
    at: float
    seen: float


@dataclass(slots=True)
class NodeRegistry:
    """Every node heard of. After `silence` seconds without a changed report a node is gone."""

    silence: float
    _heard: dict[str, Heard] = field(default_factory=dict)

    def hear(self, values: Mapping[str, bytes], *, now: float, wall: float, redis: int) -> None:
        """Take the reports that the Redis held at its time `redis`; `now`, `wall`: our clocks."""
        for key, value in values.items():
            known = self._heard.get(key)
            if not ID.fullmatch(key) or (known is not None and known.value == value):
                continue
            told = _parse(value)
            age = _age(told, redis) if known is None else 0
            self._heard[key] = Heard(value, told, now - age, wall - age)

    def forget(self, now: float) -> list[str]:
        """Drop the nodes that have not been heard for a week; return their ids."""
        gone = [key for key, one in self._heard.items() if now - one.at > FORGET_S]
        for key in gone:
            del self._heard[key]
        return gone

    def nodes(self, now: float) -> list[Node]:
        """All of them, by name."""
        found = [
            _node(key, one, alive=now - one.at < self.silence)
            for key, one in self._heard.items()
            if one.fields is not None
        ]
        return sorted(found, key=lambda node: (node.name.casefold(), node.id))

    def report_of(self, key: str) -> Mapping[str, Any]:
        """The last report of this node, unchecked; empty when there is none that can be parsed."""
        one = self._heard.get(key)
        return (one.fields if one is not None else None) or {}


def _parse(value: bytes) -> Mapping[str, Any] | None:
    """The report as a mapping, else None. A newer version may add fields, never drop any."""
    try:
        told = jsonio.loads(value)
    except jsonio.JsonError:
        return None
    return told if isinstance(told, dict) else None


def _age(told: Mapping[str, Any] | None, redis: int) -> int:
    at = told.get("at") if told is not None else None
    return max(0, redis - at) if isinstance(at, int) else 0


def _node(key: str, one: Heard, *, alive: bool) -> Node:
    told = one.fields or {}
    return Node(
        id=key,
        name=_text(told.get("name"), 80) or key[:8],
        url=_address(told.get("url")),
        version=_text(told.get("version"), 40),
        home=_text(told.get("home"), 64),
        apps=_apps(told.get("apps")),
        seen=one.seen,
        alive=alive,
        dashboard=_address(told.get("dashboard")),
        twin=_text(told.get("twin"), 80),
    )


def _text(value: object, most: int) -> str:
    return printable(value, most).strip() if isinstance(value, str) else ""


def _address(value: object) -> str:
    """The http(s) address, else "": it becomes a link."""
    found = _text(value, 500)
    try:
        parts = urlsplit(found)
        return found if parts.scheme in ("http", "https") and parts.hostname else ""
    except ValueError:
        return ""


def _apps(value: object) -> dict[str, int]:
    told = value.items() if isinstance(value, dict) else ()
    return {
        _text(state, 20): count
        for state, count in [*told][:20]
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_APPS
    }
