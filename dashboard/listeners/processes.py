"""The facts of a process: program, arguments, directory, user, and its parents."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PurePath
from typing import NamedTuple, TypeVar

import psutil

from config.process import table
from dashboard.listeners import procfs

T = TypeVar("T")
ARGV_BYTES = 128 * 1024
MOST_PARENTS = 16


@dataclass(frozen=True, slots=True)
class Parent:
    """One of the parent processes, which may be what the user really typed."""

    pid: int
    name: str
    argv: tuple[str, ...]
    exe: str = ""
    cwd: str = ""
    titled: bool = False


@dataclass(frozen=True, slots=True)
class Process:
    """Facts as the system reports them, unmasked; None, "" or () if it does not.

    `started` distinguishes it from another process with the same pid, as in config.process.table;
    `started_at` changes when the clock is set. `parents` begin with the nearest and end before pid
    1. `titled`: the process has written a title over its arguments, so that `argv` cannot start it
    again. `whole` is False if arguments were cut or something could not be read.
    """

    pid: int | None
    ppid: int | None = None
    name: str = ""
    exe: str = ""
    argv: tuple[str, ...] = ()
    user: str = ""
    started_at: datetime | None = None
    started: int | None = None
    cwd: str = ""
    parents: tuple[Parent, ...] = ()
    titled: bool = False
    whole: bool = False


def read(pid: int | None, uid: int | None = None) -> Process:
    """The facts of a process; for an unknown or ended one, at most the user of its socket."""
    nobody = Process(pid, user=user(uid) if uid is not None else "")
    if pid is None:
        return nobody
    try:
        return _read(psutil.Process(pid))
    except psutil.Error:
        return nobody


def _read(process: psutil.Process) -> Process:
    refused: list[str] = []
    nothing = Arguments((), whole=False)

    def answer_or(ask: Callable[[], T], otherwise: T) -> T:
        try:
            return ask()
        except (psutil.AccessDenied, psutil.ZombieProcess, OSError):
            refused.append("")
            return otherwise

    with process.oneshot():
        known = table.find(process.pid)
        said = answer_or(lambda: arguments(process.pid), nothing)
        exe, cwd = answer_or(process.exe, ""), answer_or(process.cwd, "")
        return Process(
            pid=process.pid,
            ppid=process.ppid(),
            name=_name(process.name(), exe),
            exe=exe,
            argv=said.argv,
            user=user(process.uids().real),
            started_at=datetime.fromtimestamp(process.create_time(), UTC),
            started=known.started if known else None,
            cwd=cwd,
            parents=_parents(process),
            titled=said.titled,
            whole=said.whole and not refused,
        )


def _name(told: str, exe: str) -> str:
    """The full name: the kernel cuts a name at 15 bytes, but not that of the program's file."""
    full = PurePath(exe).name
    return full if len(told.encode(errors="replace")) >= 15 and full.startswith(told) else told


class Arguments(NamedTuple):
    """The arguments a process was started with; `titled`: it has replaced them with a title."""

    argv: tuple[str, ...]
    whole: bool = True
    titled: bool = False


def arguments(pid: int) -> Arguments:
    """The arguments, at most 128 KiB of them, and whether these are all."""
    if not procfs.PROC.joinpath(str(pid)).exists():
        return Arguments(tuple(psutil.Process(pid).cmdline()))
    raw, whole = procfs.argv(pid, ARGV_BYTES)
    return parse_arguments(raw, whole=whole)


def parse_arguments(raw: list[bytes], *, whole: bool = True) -> Arguments:
    """The arguments as the kernel has them, unless a title was written over them.

    A shorter title leaves empty arguments after it. With at most one of them, which may have been
    given, it is a title if it has spaces and is not a file. The titles of npm and nginx contain
    what they were started with.
    """
    alone = bool(raw) and not any(raw[1:])
    spaced = alone and b" " in raw[0] and not Path(os.fsdecode(raw[0])).exists()
    if not (spaced or (alone and len(raw) > 2)):
        return Arguments(tuple(map(os.fsdecode, raw)), whole)
    words = raw[0].split()
    started = _npm(words) or _nginx(words)
    return Arguments(tuple(map(os.fsdecode, started or words)), whole, titled=not started)


def _npm(words: list[bytes]) -> list[bytes]:
    """npm omits `--` and its own options from its title: the rest are options of the script."""
    if words[:1] != [b"npm"]:
        return []
    option = next((i for i, word in enumerate(words) if word.startswith(b"-")), len(words))
    return [*words[:option], b"--", *words[option:]] if option < len(words) else words


def _nginx(words: list[bytes]) -> list[bytes]:
    return words[3:] if words[:3] == [b"nginx:", b"master", b"process"] else []


def _parents(process: psutil.Process) -> tuple[Parent, ...]:
    found: list[Parent] = []
    try:
        pid = process.ppid()
        while pid > 1 and len(found) < MOST_PARENTS:
            name, above = _name_and_parent(pid)
            argv, _, titled = arguments(pid)
            full = _name(name, argv[0] if argv else "")
            found.append(Parent(pid, full, argv, *_places(pid), titled))
            pid = above
    except (psutil.Error, OSError):
        pass
    return tuple(found)


def _places(pid: int) -> tuple[str, str]:
    """The program and the directory of a process; "" if unreadable."""
    if procfs.PROC.joinpath(str(pid)).exists():
        return procfs.link(pid, "exe"), procfs.link(pid, "cwd")
    try:
        process = psutil.Process(pid)
        return process.exe(), process.cwd()
    except psutil.AccessDenied:
        return "", ""


def _name_and_parent(pid: int) -> tuple[str, int]:
    """The name of a process and its parent. Read from /proc where there is one, because psutil
    takes ten times as long, and the parents of every listener are read again once a minute."""
    if (stat := procfs.stat(pid)) is not None:
        return stat.name, stat.parent
    process = psutil.Process(pid)
    return process.name(), process.ppid()


@lru_cache(256)
def user(uid: int) -> str:
    """The name of a user, or the number if there is no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
