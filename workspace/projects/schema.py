"""The valid values of each key of project.yaml, and its default.

The same table serves both directions: a value written through the API must pass the key's reader,
and a hand-written value that does not pass counts as absent.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from config import network as networks
from config import readers, zones
from config import servers as tool_servers
from config.errors import Invalid

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
SLUG_MAX = 64
Status = Literal["idea", "active", "paused", "blocked", "done", "abandoned"]
PermissionMode = Literal["default", "acceptEdits", "bypassPermissions", "plan"]
STATUSES: tuple[Status, ...] = get_args(Status)
PERMISSION_MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)
_BY_RIGHTS = ("plan", "default", "acceptEdits", "bypassPermissions")
NO_SLUG = 'name: no usable letters or digits for a slug; pass slug (e.g. "notes-2")'


class Unfit(ValueError):
    """A value that a key cannot have; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: how its value is read, its default, and whether PATCH may change it. `write` reads
    what the API writes, if not everything that a file may hold."""

    name: str
    read: Callable[[Any], Any]
    default: Any = ""
    immutable: bool = False
    example: str | None = None
    write: Callable[[Any], Any] | None = None


def line(least: int = 0, most: int = 200) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise Unfit("must be text")
        text = value.strip()
        if not least <= len(text) <= most or any(unicodedata.category(c) == "Cc" for c in text):
            raise Unfit(f"must be one line of {least} to {most} characters")
        return text

    return read


def prose(most: int) -> Callable[[Any], str]:
    """Several lines of text."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise Unfit("must be text")
        told = value.replace("\r\n", "\n")
        odd = any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in told)
        if odd or len(told) > most:
            raise Unfit(f"must be text of at most {most} characters, without control characters")
        return told

    return read


def one_of(*words: str, fold: bool = False) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        word = value.strip().lower() if fold and isinstance(value, str) else value
        if word not in words:
            raise Unfit(f'"{str(value)[:100]}" is not one of {", ".join(words)}')
        return str(word)

    return read


def whole(least: int, most: int | None = None) -> Callable[[Any], int]:
    allowed = f"from {least} to {most}" if most is not None else f"of {least} or more"

    def read(value: Any) -> int:
        fits = isinstance(value, int) and not isinstance(value, bool)
        if not fits or value < least or (most is not None and value > most):
            raise Unfit(f"{str(value)[:40]} is not a whole number {allowed}")
        return int(value)

    return read


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit("must be true or false")
    return value


def date(value: Any) -> str:
    text = str(value)
    try:
        dt.date.fromisoformat(text[:10])
    except ValueError:
        raise Unfit("must be a date") from None
    return text


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > 200:
        raise Unfit("must be a list of at most 200 entries")
    return value


def lines(value: Any) -> list[str]:
    return [line(1)(entry) for entry in _list(value)]


def links(value: Any) -> list[dict[str, str]]:
    return [_link(entry) for entry in _list(value)]


def _link(entry: Any) -> dict[str, str]:
    if not isinstance(entry, Mapping) or set(entry) != {"label", "url"}:
        raise Unfit("entries must be {label, url}")
    url = line(1, 2000)(entry["url"])
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise Unfit(f'"{url[:100]}" must be an http or https URL')
    return {"label": line(1)(entry["label"]), "url": url}


def relative_paths(value: Any) -> list[str]:
    paths = [line(1, 500)(entry) for entry in _list(value)]
    for path in paths:
        if path.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path):
            raise Unfit(f'"{path[:100]}" must be a path inside the project')
    return paths


def folder(value: Any) -> str:
    """The path of a directory as written; folders.py decides whether agents may work there."""
    text = line(1, 4096)(value)
    if not (text == "~" or text.startswith(("/", "~/"))):
        raise Unfit("must be a whole path, from / or ~/ on; no variable in it is read")
    return text


def variable_names(value: Any) -> list[str]:
    """The names in `turnEnv`; variables with secrets of the service are never passed on."""
    names = lines(value)
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise Unfit(f'"{name[:100]}" is not the name of an environment variable')
    return names


def group(value: Any) -> str:
    return line(0, 100)(value).lower()


def curation(value: Any) -> dict[str, Any]:
    readers = {
        "enabled": boolean,
        "minIntervalMs": whole(0),
        "overviewMaxTokens": whole(1),
        "changelogMaxTokens": whole(1),
    }
    if not isinstance(value, Mapping) or not set(value) <= set(readers):
        raise Unfit(f"must be a mapping of {', '.join(readers)}")
    return {name: readers[name](inner) for name, inner in value.items()}


def model(value: Any) -> str:
    text = line(0, 200)(value)
    if " " in text:
        raise Unfit("must be one word")
    return text


def engine(value: Any) -> str:
    word = model(value)
    if fault := readers.engine_fault(word):
        raise Unfit(fault)
    return word


def network(value: Any) -> str | dict[str, Any] | None:
    """The network setting of turns as written to the file; None for an empty mapping."""
    try:
        return networks.read(value).plain()
    except networks.BadNetwork as error:
        raise Unfit(str(error)) from None


def servers(value: Any) -> dict[str, Any]:
    """MCP servers for agents as written to the file; Unfit unless all are usable."""
    found, bad = tool_servers.read(value)
    for name, reason in bad.items():
        raise Unfit(f"{name}: {reason}" if name else reason)
    return {name: one.plain() for name, one in found.items()}


def timezone(value: Any) -> str:
    try:
        return zones.iana_zone(line(1)(value)).key
    except zones.BadZone as error:
        raise Unfit(str(error)) from None


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("name", line(1), None, example='"Notes"'),
        Key("slug", line(1, SLUG_MAX), None, immutable=True),
        Key("status", one_of(*STATUSES, fold=True), "active"),
        Key("summary", line(0, 2000)),
        Key("group", group),
        Key("domain", lines, ()),
        Key("links", links, ()),
        Key("visibility", one_of("public", "private"), "private"),
        Key("pinned", relative_paths, ()),
        Key("started", date, immutable=True),
        Key("updated", date, immutable=True),
        Key("engine", line(), write=engine),
        Key("model", model),
        Key("models", lines, ()),
        Key("permissionMode", one_of(*PERMISSION_MODES), "acceptEdits"),
        Key("maxTurns", whole(1, 1000), 200),
        Key("maxSpawnDepth", whole(0), None),
        Key("hooksMcpEnabled", boolean, None),
        Key("curation", curation, None),
        Key("repo", line(0, 2000), immutable=True),
        Key("path", folder, example='"~/code/notes"'),
        Key("turnEnv", variable_names, ()),
        Key("instructions", prose(20_000)),
        Key("readInstructions", boolean, True),
        Key("network", network, None, example='"off"'),
        Key("mcpServers", servers, None, example='{"mine": {"command": "my-server"}}'),
        Key("timezone", timezone, None, example=zones.EXAMPLE),
    )
}


def rights(mode: str) -> int:
    """The rank of a permission mode: higher ones allow more; an unknown one is lowest."""
    return _BY_RIGHTS.index(mode) if mode in _BY_RIGHTS else -1


def cap_mode(mode: str, cap: str | None) -> str:
    """The mode, or `cap` if the mode allows more than that."""
    return mode if cap is None else min(mode, cap, key=rights)


def derive_slug(name: str) -> str:
    """The slug made from a name; Invalid if nothing is left of it."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")[:SLUG_MAX].strip("-")
    if not slug:
        raise Invalid(NO_SLUG)
    return slug


def is_slug(text: str) -> bool:
    return len(text) <= SLUG_MAX and SLUG.fullmatch(text) is not None
