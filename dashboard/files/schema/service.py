"""The `service` block of an app: a command the dashboard starts, stops and restarts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dashboard.files import convert
from dashboard.files.fields import Fields

Restart = Literal["no", "on-failure", "always"]

COMMAND = 16 << 10
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OURS = ("SVC_APP", "SVC_RUN")  # set for every service


@dataclass(frozen=True, slots=True)
class Ready:
    """When a started service counts as ready: exactly one of port, log and http."""

    port: int | None = None
    log: str | None = None  # a regular expression, searched in its output
    http: str | None = None  # a path on the app's port, or a URL
    timeout: float | None = None  # seconds


@dataclass(frozen=True, slots=True)
class Service:
    """`command`: a text is for `sh -c`, a tuple is argv. Paths are absolute, times in seconds."""

    command: str | tuple[str, ...]
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    env_file: str | None = None
    restart: Restart = "no"
    autostart: bool = False
    stop_signal: str = "TERM"
    stop_timeout: float | None = None  # None: config.yaml decides
    ready: Ready | None = None
    max_restarts: int | None = None


def read_service(fields: Fields | None) -> Service | None:
    """The service; None also when it has no usable command."""
    if fields is None:
        return None
    command = _command(fields)
    autostart = fields.read("autostart", convert.flag) or False
    service = Service(
        command=command or "",
        cwd=fields.text("cwd", convert.path),
        env=_env(fields),
        env_file=fields.text("envFile", convert.path),
        restart=fields.read("restart", restart) or ("on-failure" if autostart else "no"),
        autostart=autostart,
        stop_signal=fields.text("stopSignal", convert.signal) or "TERM",
        stop_timeout=fields.read("stopTimeout", stop_timeout),
        ready=_ready(fields.table("ready")),
        max_restarts=fields.read("maxRestarts", convert.whole(0, 1000)),
    )
    if "user" in fields.value:
        fields.read("user", lambda _: None)
        fields.wrong("is not supported: services run as the user of the dashboard", "user")
    fields.finish()
    return service if command else None


stop_timeout = convert.duration("0s", "10m")


def restart(value: Any) -> Restart:
    """`no` is text here, but other tools write it as false."""
    return _RESTART("no" if value is False else value)


_RESTART: Callable[[str], Restart] = convert.word("no", "on-failure", "always")


def _command(fields: Fields) -> str | tuple[str, ...] | None:
    value = fields.value.get("command")
    if isinstance(value, list):
        argv = fields.texts_of("command", convert.prose(COMMAND), most=1000)
        if not argv or not argv[0]:
            fields.wrong("must begin with a program", "command")
            return None
        return argv
    found = fields.text("command", convert.prose(COMMAND))
    if found is None or not found.strip():
        if value is None or found is not None:
            fields.wrong("must be a command line, or a list of program and arguments", "command")
        return None
    return found


def _env(fields: Fields) -> tuple[tuple[str, str], ...]:
    found = fields.entries("env", convert.prose(COMMAND))
    for name in found:
        if not NAME.fullmatch(name):
            fields.wrong("is not the name of a variable", "env", name)
        if name in OURS:
            fields.wrong("is set by the dashboard; this value is not used", "env", name,
                         level="warning")  # fmt: skip
    return tuple(found.items())


def _ready(fields: Fields | None) -> Ready | None:
    if fields is None:
        return None
    ready = Ready(
        port=fields.read("port", convert.port),
        log=fields.text("log", convert.pattern),
        http=fields.text("http", _http),
        timeout=fields.read("timeout", convert.duration("100ms", "1h")),
    )
    if sum(fields.value.get(key) is not None for key in ("port", "log", "http")) != 1:
        fields.wrong("must have exactly one of port, log and http")
    fields.finish()
    return ready


def _http(value: str) -> str:
    return convert.below_root(value) if value.startswith("/") else convert.web(value)
