"""What a `service` block says, as values: all that is needed to run a command (sections 3.2, 9)."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson

STOP_SIGNALS = ("HUP", "INT", "QUIT", "ALRM", "TERM", "USR1", "USR2", "KILL")


@dataclass(frozen=True, slots=True)
class Ready:
    """When a started command counts as ready: a port accepts, a line matches, a page is fine."""

    port: int | None = None
    log: str | None = None  # a regular expression searched in what the command wrote since
    http: str | None = None  # a path on the service's port, or an http:// URL of this machine
    timeout: float = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Service:
    """One service; durations in seconds, None where the file says nothing."""

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

    @property
    def argv(self) -> list[str]:
        """A text goes to `sh -c`, a list is the arguments themselves."""
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
        """Changes with what a running process would have to be restarted for (9.5)."""
        shown = [self.command, str(self.cwd), dict(self.env), str(self.env_file)]
        options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        return hashlib.sha256(orjson.dumps(shown, option=options)).hexdigest()[:16]
