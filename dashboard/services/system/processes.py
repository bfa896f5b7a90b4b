"""Which processes belong to a run, and signals that reach them and nobody else.

A process is known by pid and start time together; one that is signalled is first pinned by a
pidfd where the system has them. This process and its ancestors are never touched.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil

from config.kernel.process import tree

MARK = "SVC_RUN"
ROUNDS = 64
PROC = Path("/proc")


class Process(NamedTuple):
    """A living process; `started` is in clock ticks since boot (seconds since 1970 on macOS)."""

    pid: int
    parent: int
    group: int
    started: int


@dataclass(frozen=True, slots=True)
class Family:
    """What tells a run's processes: the mark in their environment, and their process group."""

    run: str
    leader: int  # pid of the wrapper, and the number of its group
    started: int


def living(pid: int) -> Process | None:
    """The process with this number, None when there is none or only its zombie."""
    return _stat(pid) if PROC.joinpath("self").exists() else _foreign_stat(pid)


def same(pid: int, started: int) -> bool:
    """Whether this very process still lives."""
    found = living(pid)
    return found is not None and found.started == started


def members(family: Family, known: Iterable[Process] = ()) -> list[Process]:
    """Everything alive that the run started, oldest first: marked, of its group, or below those.

    `known` were members before: without a mark, and when the leader has gone, nothing else tells.
    """
    processes = {process.pid: process for process in _all()}
    entry = f"{MARK}={family.run}".encode()
    marked = {pid for pid in processes if family.run and entry in environ(pid)}
    marked |= {p.pid for p in known if p.pid in processes and processes[p.pid].started == p.started}
    leader = processes.get(family.leader)
    ours = leader is not None and leader.started == family.started
    # a group's number is not given out again while somebody is in it
    if ours or any(processes[pid].group == family.leader for pid in marked):
        marked |= {p.pid for p in processes.values() if p.group == family.leader}
    parents = {process.pid: process.parent for process in processes.values()}
    found = (marked | tree.descendants(parents, marked)) - tree.ancestry(parents)
    return sorted((processes[pid] for pid in found), key=lambda p: (p.started, p.pid))


def environ(pid: int) -> list[bytes]:
    """`NAME=value` as the process was started with; none of one that is gone or not ours."""
    try:
        if PROC.joinpath("self").exists():
            return PROC.joinpath(str(pid), "environ").read_bytes().split(b"\0")
        environ = psutil.Process(pid).environ()
    except (OSError, psutil.Error):
        return []
    return [f"{name}={value}".encode(errors="surrogateescape") for name, value in environ.items()]


def tell(family: Family, number: signal.Signals) -> list[Process]:
    """Signal the whole group at once, and each member outside of it; returns who was there."""
    found = members(family)
    if any(process.group == family.leader for process in found):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(family.leader, number)
    for process in found:
        if process.group != family.leader:
            _send(process, number)
    return found


def kill(family: Family, known: Iterable[Process] = ()) -> list[Process]:
    """SIGKILL for every member: stopped first, so that none makes another meanwhile."""
    frozen: dict[int, Process] = {}
    for _ in range(ROUNDS):
        fresh = [process for process in members(family, known) if process.pid not in frozen]
        if not fresh:
            break
        for process in fresh:
            frozen[process.pid] = process
            _send(process, signal.SIGSTOP)
    for process in frozen.values():
        _send(process, signal.SIGKILL)
    return list(frozen.values())


def handle(process: Process) -> int | None:
    """A pidfd of surely this process; None when it is gone. OSError where there are no pidfds."""
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    except AttributeError:
        raise OSError("this system has no pidfds") from None
    if same(process.pid, process.started):
        return fd
    os.close(fd)
    return None


def reap(pid: int) -> None:
    """Collect our child if it is one and has ended; somebody else's is none of our business."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _send(process: Process, number: signal.Signals) -> None:
    try:
        fd = handle(process)
    except OSError:
        if same(process.pid, process.started):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)
        return
    if fd is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(fd, number)
        os.close(fd)


def _all() -> Iterator[Process]:
    found: Iterable[Process | None]
    if PROC.joinpath("self").exists():
        names = os.listdir(PROC)  # noqa: PTH208 - names are all that is wanted
        found = (_stat(int(name)) for name in names if name.isdigit())
    else:
        found = (_foreign_stat(pid) for pid in psutil.pids())
    return (process for process in found if process is not None)


def _stat(pid: int) -> Process | None:
    try:
        fields = PROC.joinpath(str(pid), "stat").read_bytes().rpartition(b")")[2].split()
        if fields[0] in b"ZX":
            return None
        return Process(pid, int(fields[1]), int(fields[2]), int(fields[19]))
    except (OSError, IndexError, ValueError):
        return None


def _foreign_stat(pid: int) -> Process | None:
    """The same without /proc."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Process(pid, process.ppid(), os.getpgid(pid), int(process.create_time()))
    except (psutil.Error, OSError):
        return None
