"""The setting `notify` of svc.config.yaml: a list of channels, each with the events it is sent.

    - {name: desk, command: [program, argument], env: [NAME], events: [asked]}
    - {name: hook, url: http(s) URL or env:NAME, headers: {Name: "env:VARIABLE"}, events: [failed]}
    - {name: phone, apprise: URL or env:NAME, events: [asked, failed]}

A channel without a name is called by its kind and position (`url-2`). A bad entry is ignored; the
others still work.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from django.conf import settings

from config import servers
from config.servers import BadServer

Kind = Literal["command", "url", "apprise"]
EVENTS = ("asked", "finished", "failed", "app_down", "app_up", "crash_loop", "review")
KINDS: tuple[Kind, ...] = ("command", "url", "apprise")
ALLOWED = {"command": ("env",), "url": ("headers",), "apprise": ()}
CHANNELS_MOST, WORDS_MOST, TEXT_MOST, NAME_MOST = 20, 200, 4000, 32
_NAME = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*")
_REFERENCE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


class BadChannel(ValueError):
    """An entry that cannot be used; the text has the field, the reason and the fix."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel as the file has it. `address`: the URL of a url or apprise, or `env:NAME`."""

    name: str
    kind: Kind
    events: tuple[str, ...]
    command: tuple[str, ...] = ()
    address: str = ""
    headers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    env: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """The variable that holds the address; "" if the address is in the file."""
        found = _REFERENCE.fullmatch(self.address)
        return found[1] if found else ""

    @property
    def variables(self) -> tuple[str, ...]:
        """Every environment variable of the service that the channel names."""
        of_headers = (variable for _, variable in self.headers.values())
        return (*filter(None, [self.reference]), *of_headers, *self.env)

    @property
    def shown(self) -> str:
        """Where it leads, without parts that may be secret: services put tokens into paths."""
        if self.command:
            return shlex.join(self.command)
        if self.reference:
            return self.address
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.hostname if self.kind == 'url' else ''}…"


@dataclass(frozen=True, slots=True)
class Setting:
    """The channels that are used, and by name the reason for each entry that is not."""

    channels: tuple[Channel, ...] = ()
    bad: Mapping[str, str] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        return [f"notify{f' {name}' if name else ''}: {why}" for name, why in self.bad.items()]

    def wanting(self, event: str) -> list[Channel]:
        return [one for one in self.channels if event in one.events]


def current() -> Setting:
    """The setting in svc.config.yaml when this process started."""
    return read(settings.SVC.notify)


def read(value: Any) -> Setting:
    """Check every entry by itself; a bad one does not affect the others."""
    if value is None or value == ():
        return Setting()
    if not isinstance(value, list):
        example = "[{name: desk, command: [notify-me], events: [asked]}]"
        return Setting(bad={"": f"must be a list of channels, e.g. {example}; not used"})
    found: dict[str, Channel] = {}
    bad: dict[str, str] = {}
    for label, entry in _named_entries(value):
        try:
            if len(found) >= CHANNELS_MOST:
                raise BadChannel(f"there are at most {CHANNELS_MOST} channels")
            if label in found:
                raise BadChannel("name: another channel has it; give each its own")
            found[label] = one(label, entry)
        except (BadChannel, BadServer) as error:
            bad[label if label not in bad and label not in found else f"{label} (again)"] = (
                f"{error}; not used"
            )
    return Setting(tuple(found.values()), bad)


def _named_entries(value: list[Any]) -> Iterator[tuple[str, Any]]:
    """The name and the value of each entry."""
    for place, entry in enumerate(value, 1):
        given = entry.get("name") if isinstance(entry, Mapping) else None
        kinds = [kind for kind in KINDS if isinstance(entry, Mapping) and kind in entry]
        usual = f"{kinds[0] if kinds else 'channel'}-{place}"
        yield (str(given)[:100] if given is not None else usual), entry


def one(name: str, entry: Any) -> Channel:
    """Return the channel. Raises BadChannel or BadServer if the entry cannot be used."""
    if not isinstance(entry, Mapping):
        raise BadChannel("must be a mapping, e.g. {command: [notify-me], events: [asked]}")
    if not _NAME.fullmatch(name) or len(name) > NAME_MOST:
        text = f"1 to {NAME_MOST} letters and digits with single - or _ between them"
        raise BadChannel(f"name: must be {text}, e.g. phone")
    kinds = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1:
        raise BadChannel("must have exactly one of command, url and apprise")
    kind = kinds[0]
    known = ("name", "events", kind, *ALLOWED[kind])
    if unknown := [str(key)[:40] for key in entry if key not in known]:
        raise BadChannel(f"{unknown[0]}: is not a key of a {kind} channel ({', '.join(known)})")
    wanted = events(entry.get("events"))
    if kind == "command":
        argv = words(entry["command"])
        return Channel(name, kind, wanted, argv, env=servers.variables(entry.get("env")))
    at = address(kind, entry[kind])
    return Channel(name, kind, wanted, address=at, headers=servers.headers(entry.get("headers")))


def events(value: Any) -> tuple[str, ...]:
    """The events that a channel wants, without duplicates. Raises BadChannel."""
    if not isinstance(value, list) or not value:
        raise BadChannel("events: must be a list of what it is notified of, e.g. [asked, failed]")
    for event in value:
        if event not in EVENTS:
            raise BadChannel(f'events: "{str(event)[:40]}" is none of {", ".join(EVENTS)}')
    return tuple(dict.fromkeys(cast("list[str]", value)))


def words(value: Any) -> tuple[str, ...]:
    """A program and its arguments; no shell is involved. Raises BadChannel."""
    if not isinstance(value, list) or not value or len(value) > WORDS_MOST:
        text = "must be a list, the program and its arguments, e.g. [notify-me, --loud]"
        raise BadChannel(f"command: {text}; no shell reads it")
    for word in value:
        if not isinstance(word, str) or not 0 < len(word) <= TEXT_MOST or "\0" in word:
            raise BadChannel("command: each word must be a text, in quotes where it is a number")
    return tuple(value)


def address(kind: str, value: Any) -> str:
    """An address, or `env:` and the name of the variable that holds it. Raises BadChannel."""
    if not isinstance(value, str) or not 0 < len(value) <= TEXT_MOST:
        raise BadChannel(f"{kind}: must be a URL, or env:VARIABLE with the URL in that variable")
    if found := _REFERENCE.fullmatch(value):
        servers.check_variable(kind, found[1])
        return value
    check_address(kind, value)
    return value


def check_address(kind: str, value: str) -> None:
    """Raise BadChannel if this is not an address of this kind; the error never repeats it."""
    if kind == "apprise":
        if not _SCHEME.fullmatch(value):
            raise BadChannel("apprise: must be one URL of Apprise, e.g. ntfy://topic")
        return
    try:
        servers.url(value)
    except BadServer:
        login = "without a login in it" if "@" in value else "e.g. https://example.com/hook"
        raise BadChannel(f"url: must be one http or https URL, {login}") from None
