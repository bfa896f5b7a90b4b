"""The setting `network` as it is written for an instance, a project or a trigger.

A word, or a map of the word and lists. How several levels combine: access/reach.py.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MODES = ("off", "guarded", "host")  # from the narrowest to the widest
KEYS = ("mode", "hostPorts", "allow", "deny")
MOST = 200  # entries of one list
_SWITCHED_OFF = ("false", "no", "n", "none", "0")
_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NAME = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*")
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")  # what resolvers read as an address
_PORT = re.compile(r"[^:]*:[0-9]*|\[.*\](?::[0-9]*)?")


class BadNetwork(ValueError):
    """A value that is not allowed for the setting; the text is the reason."""


@dataclass(frozen=True, slots=True)
class NetworkSetting:
    """The setting of one level. `mode` None: as the level above; `allow` None: no list."""

    mode: str | None = None
    ports: tuple[int, ...] = ()
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()

    def plain(self) -> str | dict[str, Any] | None:
        """The value as it is written to a file: only the word if there are no lists."""
        lists: dict[str, Any] = {
            "hostPorts": list(self.ports),
            "allow": self.allow and list(self.allow),
            "deny": list(self.deny),
        }
        given = {key: value for key, value in lists.items() if value}
        if self.allow == ():
            given["allow"] = []
        if not given:
            return self.mode
        return ({"mode": self.mode} if self.mode else {}) | given


def word(value: Any) -> str:
    """One of MODES. Raises BadNetwork."""
    text = value.strip().lower() if isinstance(value, str) else value
    if isinstance(text, str) and text in MODES:
        return text
    hint = '; "off" is the word for no network' if _short(text).strip('"') in _SWITCHED_OFF else ""
    raise BadNetwork(f"{_short(value)} is not one of {', '.join(MODES)}{hint}")


def read(value: Any) -> NetworkSetting:
    """The value for an instance or a project. Raises BadNetwork."""
    if not isinstance(value, Mapping):
        return NetworkSetting(word(value))
    for key in value:
        if key not in KEYS:
            raise BadNetwork(f"{_short(key)} is not one of its keys: {', '.join(KEYS)}")
    given = {key: found for key, found in value.items() if found is not None}
    allow = given.get("allow")
    return NetworkSetting(
        mode=word(given["mode"]) if "mode" in given else None,
        ports=_list("hostPorts", given.get("hostPorts", []), _port),
        allow=None if allow is None else _list("allow", allow, pattern),
        deny=_list("deny", given.get("deny", []), pattern),
    )


def _list(key: str, value: Any, entry: Callable[[Any], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) > MOST:
        raise BadNetwork(f"{key} must be a list of at most {MOST} entries")
    try:
        return tuple(dict.fromkeys(entry(one) for one in value))
    except BadNetwork as error:
        raise BadNetwork(f"{key}: {error}") from None


def _port(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 65535:
        return value
    raise BadNetwork(f"{_short(value)} is not a port, a whole number from 1 to 65535")


def pattern(value: Any) -> str:
    """A host name, `*.` and a name, an address or a network of addresses, in lower case."""
    if not isinstance(value, str):
        raise BadNetwork(f"{_short(value)} is not a host in quotes")
    text = value.strip().lower().removesuffix(".")
    try:
        return _address(text)
    except ValueError:
        why = _why_not(text)
    if why:
        raise BadNetwork(f"{_short(value)} {why}")
    return text


def _address(text: str) -> str:
    """An address or a network in its usual spelling. Raises ValueError if it is neither."""
    if "%" in text:
        raise ValueError
    return str(ipaddress.ip_network(text, strict=False) if "/" in text
               else ipaddress.ip_address(text))  # fmt: skip


def _why_not(text: str) -> str:
    """Why this is not a pattern of host names; empty if it is one."""
    if "://" in text:
        return "has a scheme: give the host alone"
    if _PORT.fullmatch(text):
        return "has a port or brackets: a pattern is about all ports, give the host alone"
    if "/" in text:
        return "is neither a network like 10.0.0.0/8 nor a host name"
    if "*" in text.removeprefix("*."):
        return "has a star where none can be: it stands first, before a dot, as in *.example.com"
    if not text.isascii():
        return "has letters outside ASCII: give the form that is looked up, xn--…"
    if len(text) > 253 or not _NAME.fullmatch(text) or _NUMBER.fullmatch(text):
        return "is not a host name, *.name, an IP address or a network like 10.0.0.0/8"
    return ""


def _short(value: Any) -> str:
    """A value on one short line: JSON, or the name of its type."""
    if not isinstance(value, str | int | float | None):
        return "a map" if isinstance(value, Mapping) else f"a {type(value).__name__}"
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
