"""The environment of a service: that of the user's login shell, never the server's."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import pwd
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from config.process import wakeup
from dashboard.services import dotenv
from dashboard.services.definition import Service

log = logging.getLogger(__name__)

LIMIT_S, AGAIN_S = 5.0, 60.0
MOST = 4 * 1024 * 1024
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELL_OWN = {"_", "SHLVL", "PWD", "OLDPWD"}
REFERENCE = re.compile(r"\$(?:(\w+)|\{(\w+)\})(/.*)?", re.ASCII | re.DOTALL)


class Unusable(ValueError):
    """The environment cannot be made as the file says; the text names the key and the fix."""


class _Silent(Exception):
    """The shell runs, but does not print its environment; the text says why."""


@dataclass(frozen=True, slots=True)
class Login:
    """What a login shell exports; the basics alone if it could not be asked, with the `problem`."""

    variables: Mapping[str, str]
    problem: str | None = None


def login(*, limit: float = LIMIT_S) -> Login:
    """Ask the user's login shell, which may take `limit` seconds. Blocks; never raises.

    Keep the answer: the shell is asked once, and again when the configuration changes.
    """
    basics = _basics()
    mark = uuid.uuid4().hex
    ask = f"echo {mark}; env -0; echo {mark}"
    try:
        found = _output_of([basics["SHELL"], "-lc", ask], basics, mark.encode(), limit)
    except OSError as error:
        return Login(basics, f"{basics['SHELL']} cannot be run: {os.strerror(error.errno or 0)}")
    except _Silent as error:
        return Login(basics, f"{basics['SHELL']} {error}")
    told = dict(entry.split("=", 1) for entry in found.split("\0") if "=" in entry)
    kept = {name: value for name, value in told.items() if _meant_for_services(name)}
    return Login({**basics, **kept})


class LoginOnce:
    """Asks the login shell at the first call and after `forget` (a changed configuration). A failed
    attempt is repeated after a minute, since the machine may still be starting."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: Login | None = None
        self._until = math.inf
        self._asking = threading.Lock()

    def __call__(self) -> Mapping[str, str]:
        """The variables; blocks at most 5 s."""
        with self._asking:
            if self._known is None or self._now() >= self._until:
                self._known, self._until = login(), math.inf
                if self._known.problem:
                    self._until = self._now() + AGAIN_S
                    log.warning("the login shell", extra={"why": self._known.problem})
            return self._known.variables

    def forget(self) -> None:
        self._known = None


def compose(login: Mapping[str, str], service: Service, *, slug: str, run: str) -> dict[str, str]:
    """The login variables, updated with the file's, those of `env`, and ours. Raises Unusable.

    PORT is that of `env`, else the port of the app; an empty one in `env` leaves it unset.
    """
    env = {name: value for name, value in login.items() if _meant_for_services(name)}
    if service.env_file is not None:
        try:
            env |= dotenv.read(service.env_file.expanduser())
        except dotenv.Unreadable as error:
            raise Unusable(f"service.envFile: {error}") from None
    env |= {name: _value(name, value, env) for name, value in service.env.items()}
    if service.port is not None and "PORT" not in service.env:
        env["PORT"] = str(service.port)
    if service.env.get("PORT") == "":
        del env["PORT"]
    return env | {"SVC_APP": slug, "SVC_RUN": run}


def _value(name: str, value: str, known: Mapping[str, str]) -> str:
    """The value with a leading `$NAME` replaced by that variable, alone or before a path, so that a
    secret need not be in the file."""
    if not dotenv.NAME.fullmatch(name):
        raise Unusable(
            f'service.env: "{name}" is not a name for a variable; use letters, digits and _'
        )
    if "\0" in value:
        raise Unusable(f"service.env.{name}: must not hold a NUL character")
    match = REFERENCE.fullmatch(value)
    if match is None:
        return value
    wanted = match[1] or match[2]
    if wanted not in known:
        raise Unusable(
            f"service.env.{name}: ${wanted} is set neither by your login shell "
            "nor by service.envFile"
        )
    return known[wanted] + (match[3] or "")


def _meant_for_services(name: str) -> bool:
    """Whether it is for services: a profile may set our own options, which are not."""
    return name not in SHELL_OWN and not name.startswith("SVC_")


def _basics() -> dict[str, str]:
    """What a login program gives a shell; of our own variables only those of the user."""
    user = pwd.getpwuid(os.getuid())
    ours = {"HOME": user.pw_dir, "SHELL": user.pw_shell or "/bin/sh", "LANG": "C.UTF-8"}
    kept = {name: os.environ[name] for name in ours if os.environ.get(name)}
    return {**ours, **kept, "USER": user.pw_name, "LOGNAME": user.pw_name, "PATH": _path()}


def _path() -> str:
    """Our PATH without the folders of the Python environment we run in."""
    own = {str(Path(prefix) / "bin") for prefix in (sys.prefix, os.environ.get("VIRTUAL_ENV"))
           if prefix and prefix != sys.base_prefix}  # fmt: skip
    entries = os.environ.get("PATH", PATH).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if entry not in own) or PATH


def _output_of(argv: list[str], env: Mapping[str, str], mark: bytes, limit: float) -> str:
    """The output between two marks: a profile may print before it, and leave a process behind."""
    shell = subprocess.Popen(
        argv,
        env=dict(env),
        cwd=env["HOME"] if Path(env["HOME"]).is_dir() else "/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + limit
    assert shell.stdout is not None
    try:
        with shell.stdout as pipe:
            data = _between(pipe.fileno(), mark, deadline)
        shell.wait(max(0.1, deadline - time.monotonic()))
    except (_Silent, subprocess.TimeoutExpired) as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
        if isinstance(error, _Silent):
            raise
    return os.fsdecode(data)  # a shell that printed everything and then hangs has answered


def _between(fd: int, mark: bytes, deadline: float) -> bytes:
    data = b""
    while data.count(mark + b"\n") < 2:
        if not wakeup.readable(fd, deadline - time.monotonic()):
            raise _Silent("did not answer in time; look at what its start files wait for")
        part = os.read(fd, 65536)
        if not part:
            raise _Silent("printed no environment; look at what its start files run")
        data += part
        if len(data) > MOST:
            raise _Silent("wrote more than 4 MiB; look at what its start files print")
    return data.split(mark + b"\n")[1]
