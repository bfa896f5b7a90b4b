"""What a `service` block says, as values: all that is needed to run a command."""

from __future__ import annotations

import hashlib
import ipaddress
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from dashboard.files.schema import service as schema

GRACE_S = 60.0  # how long a start may take before it counts as down
STOP_SIGNALS = ("HUP", "INT", "QUIT", "ALRM", "TERM", "USR1", "USR2", "KILL")


@dataclass(frozen=True, slots=True)
class Ready:
    """When a started command counts as ready: a port accepts, a line matches, a page is fine."""

    port: int | None = None
    log: str | None = None  # a regular expression, searched in the output since the start
    http: str | None = None  # a path on the service's port, or an http:// URL of this machine
    timeout: float = GRACE_S


@dataclass(frozen=True, slots=True)
class Service:
    """One service; durations in seconds, None where the file says nothing.

    `address`: the address that its port is on, None for those `localhost` leads to.
    """

    command: str | tuple[str, ...]
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    env_file: Path | None = None
    restart: str | None = None  # no | on-failure | always
    autostart: bool = False
    stop_signal: str = "TERM"
    stop_timeout: float | None = None
    ready: Ready | None = None
    max_restarts: int | None = None
    port: int | None = None
    address: str | None = None

    @classmethod
    def of(cls, block: schema.Service, port: int | None, host: str | None) -> Service:
        """The `service` block of an app on this port of this host."""
        return cls(
            command=block.command,
            cwd=Path(block.cwd) if block.cwd else None,
            env=dict(block.env),
            env_file=Path(block.env_file) if block.env_file else None,
            restart=block.restart,
            autostart=block.autostart,
            stop_signal=block.stop_signal,
            stop_timeout=block.stop_timeout,
            ready=_ready(block.ready),
            max_restarts=block.max_restarts,
            port=port,
            address=address_of(host) if port is not None else None,
        )

    @property
    def argv(self) -> list[str]:
        """The arguments to run: a text goes to `sh -c`, a list is taken as it is."""
        if isinstance(self.command, str):
            return ["/bin/sh", "-c", self.command]
        return list(self.command)

    @property
    def policy(self) -> str:
        return self.restart or ("on-failure" if self.autostart else "no")

    @property
    def signal(self) -> signal.Signals:
        return signal.Signals[f"SIG{self.stop_signal.upper().removeprefix('SIG')}"]

    @property
    def fingerprint(self) -> str:
        """Changes with everything that requires a restart of a running process."""
        shown = [self.command, str(self.cwd), dict(self.env), str(self.env_file)]
        options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        digest = hashlib.sha256(orjson.dumps(shown, option=options)).hexdigest()[:16]
        return f"{digest}:{self.port or ''}"  # PORT depends on it

    def started_as(self, fingerprint: str) -> bool:
        """Whether the fingerprint is of this definition; those made up to 0.49 have no port."""
        return fingerprint in {self.fingerprint, self.fingerprint.partition(":")[0]}


def address_of(host: str | None) -> str | None:
    """The specific IP address that `host` names, on which another program may have the same port.
    None for a host name, and for the addresses that `localhost` leads to."""
    try:
        found = ipaddress.ip_address((host or "").strip("[]"))
    except ValueError:
        return None
    usual = found.is_unspecified or str(found) in {"127.0.0.1", "::1"}
    return None if usual else str(found)


def _ready(block: schema.Ready | None) -> Ready | None:
    if block is None:
        return None
    limit = GRACE_S if block.timeout is None else block.timeout
    return Ready(port=block.port, log=block.log, http=block.http, timeout=limit)
