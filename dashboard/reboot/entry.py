"""One listener: as a scan shows it, and as it is stored over a reboot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from config.logs import timestamp
from dashboard.files import masks
from dashboard.listeners.printable import masked_argv, plain

ARGV, IDENTITY = 32 << 10, 16 << 10  # bytes
SECRET = "its command line holds a secret, which is never kept"  # noqa: S105
LONG = "its command line is too long to be kept"
BROKEN = "its command line or its directory is not text"
UNKNOWN = "its command line or its directory is not known"
CONTAINER = "it is a container; start it with its engine"
TITLED = "it wrote a title over its command line, which is lost; start it by hand"


@dataclass(frozen=True, slots=True)
class Listening:
    """A listener of the last scan that is to be stored.

    `slug` is that of its app, declared or discovered; `argv` starts it again, in `cwd`. `service`:
    it belongs to a service of ours, and `autostart` is what the file says about that. `identity`
    is the record Identity, masked. `pid`: the process that `argv` started, whose environment is
    stored; `titled`: the program has overwritten its arguments.
    """

    id: str
    slug: str | None
    name: str
    port: int
    argv: tuple[str, ...]
    cwd: str
    identity: Mapping[str, Any] | None
    service: bool = False
    autostart: bool = False
    pid: int | None = None
    titled: bool = False


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One listener as the journal stores it.

    `withheld` says why its command cannot be run again; `argv` is then masked, and only for
    people.
    """

    id: str
    slug: str | None
    name: str
    port: int
    argv: tuple[str, ...]
    cwd: str
    last_seen: datetime
    identity: dict[str, Any] | None = None
    service: bool = False
    autostart: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    withheld: str | None = None

    @classmethod
    def of(cls, one: Listening, at: datetime) -> JournalEntry:
        """The entry of a listener, without what must not be stored."""
        shown = tuple(masked_argv(one.argv))
        withheld = _withheld(one)
        identity = dict(one.identity) if one.identity else None
        fits = identity is not None and len(orjson.dumps(identity)) <= IDENTITY
        return cls(
            id=one.id,
            slug=one.slug,
            name=one.name,
            port=one.port,
            argv=shown if withheld else one.argv,
            cwd=plain(one.cwd) if withheld else one.cwd,
            last_seen=at,
            identity=identity if fits else None,
            service=one.service,
            autostart=one.autostart,
            withheld=withheld,
        )

    @property
    def started_as(self) -> tuple[str, tuple[str, ...]]:
        """Where and how it was started: another listener with the same value is the same program
        on another port."""
        return self.cwd, self.argv

    def as_record(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "slug": self.slug,
            "name": self.name,
            "port": self.port,
            "argv": list(self.argv),
            "cwd": self.cwd,
            "envKept": dict(self.env),
            "service": self.service,
            "autostart": self.autostart,
            "identity": self.identity,
            "withheld": self.withheld,
            "lastSeen": timestamp(self.last_seen),
        }

    @classmethod
    def load(cls, value: Mapping[str, Any]) -> JournalEntry:
        """The inverse of `as_record`. Raises ValueError, TypeError or KeyError on anything else."""
        port, identity = value["port"], value["identity"]
        if type(port) is not int or not isinstance(identity, dict | None):
            raise ValueError("a port or an identity is none")
        return cls(
            id=text(value["id"]),
            slug=optional(value["slug"]),
            name=text(value["name"]),
            port=port,
            argv=tuple(text(argument) for argument in value["argv"]),
            cwd=text(value["cwd"]),
            last_seen=moment(value["lastSeen"]),
            identity=identity,
            service=bool(value["service"]),
            autostart=bool(value["autostart"]),
            env={text(name): text(one) for name, one in value["envKept"].items()},
            withheld=optional(value["withheld"]),
        )


def text(value: object) -> str:
    """The value, which must be text. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError("a text is none")
    return value


def optional(value: object) -> str | None:
    return None if value is None else text(value)


def moment(value: object) -> datetime:
    """A time with its zone. Raises ValueError for any other text."""
    found = datetime.fromisoformat(text(value))
    if found.tzinfo is None:
        raise ValueError("a time has no zone")
    return found


def _withheld(one: Listening) -> str | None:
    if one.identity and one.identity.get("container"):
        return CONTAINER  # the command is that of the engine's proxy
    if one.titled and not one.argv:
        return TITLED
    if not one.argv or not one.argv[0] or not one.cwd.startswith("/"):
        return UNKNOWN
    try:
        size = sum(len(argument.encode()) + 1 for argument in (*one.argv, one.cwd))
    except UnicodeEncodeError:
        return BROKEN
    if size > ARGV:
        return LONG
    return SECRET if masks.argv(one.argv) != list(one.argv) else None
