"""What a process says of itself: program, arguments, directory, user, and who started it (7.8)."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import PurePath
from typing import Any, TypeVar

import psutil

from config.kernel.logs import timestamp
from dashboard.files import masks
from dashboard.listeners import procfs
from dashboard.listeners.shown import masked_argv, plain

T = TypeVar("T")
ARGV_BYTES = 128 * 1024
MOST_PARENTS = 16
NAME = 255


@dataclass(frozen=True, slots=True)
class Parent:
    """One of the processes above, which may be the wrapper the user really typed."""

    pid: int
    name: str
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Process:
    """Facts as the system tells them, unmasked; None, "" or () where it does not.

    `parents` go from the nearest up, without pid 1. `whole` is false when arguments were cut or
    something was refused.
    """

    pid: int | None
    ppid: int | None = None
    name: str = ""
    exe: str = ""
    argv: tuple[str, ...] = ()
    user: str = ""
    started_at: datetime | None = None
    cwd: str = ""
    parents: tuple[Parent, ...] = ()
    whole: bool = False

    def wire(self) -> dict[str, Any]:
        return {
            "pid": self.pid,
            "ppid": self.ppid,
            "name": _title(self.name) or None,
            "exe": plain(self.exe) or None,
            "argv": masked_argv(self.argv),
            "user": self.user or None,
            "startedAt": timestamp(self.started_at) if self.started_at else None,
            "parents": [{"pid": p.pid, "name": _title(p.name)} for p in self.parents],
        }


def read(pid: int | None, uid: int | None = None) -> Process:
    """The facts of a process; of an unknown or gone one the user of its socket at most."""
    nobody = Process(pid, user=user(uid) if uid is not None else "")
    if pid is None:
        return nobody
    try:
        return _read(psutil.Process(pid))
    except psutil.Error:
        return nobody


def _read(process: psutil.Process) -> Process:
    refused: list[str] = []
    nothing: tuple[tuple[str, ...], bool] = ((), False)

    def told(ask: Callable[[], T], otherwise: T) -> T:
        try:
            return ask()
        except (psutil.AccessDenied, psutil.ZombieProcess, OSError):
            refused.append("")
            return otherwise

    with process.oneshot():
        argv, whole = told(lambda: arguments(process.pid), nothing)
        exe, cwd = told(process.exe, ""), told(process.cwd, "")
        return Process(
            pid=process.pid,
            ppid=process.ppid(),
            name=_name(process.name(), exe),
            exe=exe,
            argv=argv,
            user=user(process.uids().real),
            started_at=datetime.fromtimestamp(process.create_time(), UTC),
            cwd=cwd,
            parents=_parents(process),
            whole=whole and not refused,
        )


def _name(told: str, exe: str) -> str:
    """The kernel cuts a name at 15 bytes; the program's file has it whole."""
    full = PurePath(exe).name
    return full if len(told.encode(errors="replace")) >= 15 and full.startswith(told) else told


def arguments(pid: int) -> tuple[tuple[str, ...], bool]:
    """The arguments, at most 128 KiB of them, and whether these are all."""
    if not procfs.PROC.joinpath(str(pid)).exists():
        return tuple(psutil.Process(pid).cmdline()), True
    raw, whole = procfs.argv(pid, ARGV_BYTES)
    if len(raw) > 2 and not any(raw[1:]):  # a title written over the arguments, as npm does
        raw = _npm(raw[0].split())
    return tuple(os.fsdecode(argument) for argument in raw), whole


def _npm(words: list[bytes]) -> list[bytes]:
    """npm leaves the `--` and its own options out of its title: what is left is the script's."""
    option = next((i for i, word in enumerate(words) if word.startswith(b"-")), None)
    if words[:1] == [b"npm"] and option is not None:
        return [*words[:option], b"--", *words[option:]]
    return words


def _parents(process: psutil.Process) -> tuple[Parent, ...]:
    found: list[Parent] = []
    try:
        pid = process.ppid()
        while pid > 1 and len(found) < MOST_PARENTS:
            name, above = _named(pid)
            argv = arguments(pid)[0]
            found.append(Parent(pid, _name(name, argv[0] if argv else ""), argv))
            pid = above
    except (psutil.Error, OSError):
        pass
    return tuple(found)


def _named(pid: int) -> tuple[str, int]:
    """Its name and the process above; without psutil, which takes ten times as long, where /proc
    has them: every listener's are read again once a minute."""
    if (stat := procfs.stat(pid)) is not None:
        return stat.name, stat.parent
    process = psutil.Process(pid)
    return process.name(), process.ppid()


def _title(name: str) -> str:
    """A process may put its whole command line into its name."""
    return plain(masks.within(name), NAME)


@lru_cache(256)
def user(uid: int) -> str:
    """The name of a user, its number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
