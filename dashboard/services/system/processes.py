"""Which processes belong to a run, and signals that reach only these.

This process and its ancestors are never touched. Why a process without a mark can belong to a run:
docs/design/dashboard.md#adoption
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from config.process import table, tree
from config.process.table import DEAD, Process, environ, scan, send

MARK = "SVC_RUN"
ROUNDS = 64
YOUNG_S = 60.0  # of a run; a command that puts itself into the background does it at its start


@dataclass(frozen=True, slots=True)
class Family:
    """What identifies a run's processes: the mark in their environment, and their process group.

    `heir`: the process that went on as the service after the first one ended, by pid and start; its
    group belongs to the run too, as workers outlive a killed heir.
    """

    run: str
    leader: int  # pid of the wrapper, and the number of its group
    started: int
    heir: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All processes at one moment, and by mark of a run those that carry it."""

    processes: Mapping[int, Process]
    marked: Mapping[bytes, Set[int]]


def look() -> Snapshot:
    """One look for any number of families: reading all environments is the costly part."""
    processes = {pid: process for pid, process in scan().items() if process.state not in DEAD}
    marked: dict[bytes, set[int]] = {}
    for pid in processes:
        for entry in environ(pid):
            if entry.startswith(f"{MARK}=".encode()):
                marked.setdefault(entry, set()).add(pid)
    return Snapshot(processes, marked)


def members(
    family: Family, known: Iterable[Process] = (), seen: Snapshot | None = None
) -> list[Process]:
    """All living processes of the run, oldest first: with its mark, of its group, or below those.

    `known` were members before: nothing else finds one without a mark after its leader has ended.
    """
    seen = seen or look()
    processes = seen.processes
    entry = f"{MARK}={family.run}".encode()
    marked = {*seen.marked.get(entry, ())} if family.run else set()
    before = {(process.pid, process.started) for process in known} | {family.heir}
    marked |= {p.pid for p in processes.values() if (p.pid, p.started) in before}
    leader = processes.get(family.leader)
    ours = leader is not None and leader.started == family.started
    parents = {process.pid: process.parent for process in processes.values()}
    above = tree.ancestry(parents)
    groups = {p.group for p in processes.values() if (p.pid, p.started) == family.heir}
    groups -= {processes[pid].group for pid in above if pid in processes}
    # a group's number is not reused while a process is in the group
    if ours or any(processes[pid].group == family.leader for pid in marked):
        groups.add(family.leader)
    marked |= {p.pid for p in processes.values() if p.group in groups}
    found = (marked | tree.descendants(parents, marked)) - above
    return sorted((processes[pid] for pid in found), key=lambda p: (p.started, p.pid))


def strays(family: Family) -> list[Process]:
    """Processes that may belong to a young run although they have no mark, oldest first: a server
    that sets its title overwrites its environment. They began with the run, their parent is now one
    of our ancestors, they are in our control group and their environment is blank. Only one that
    listens on the port certainly belongs to the run."""
    if not (table.PROC and family.started):
        return []
    processes, ours = scan(), _cgroup(os.getpid())
    above = tree.ancestry({process.pid: process.parent for process in processes.values()})
    return sorted(
        (
            process
            for process in processes.values()
            if process.parent in above
            and process.pid not in above
            and process.state not in DEAD
            and 0 <= process.started - family.started <= YOUNG_S * table.PER_S
            and _blank(process.pid)
            and _cgroup(process.pid) == ours
        ),
        key=lambda p: (p.started, p.pid),
    )


def _blank(pid: int) -> bool:
    """Whether nothing is left of the environment it was started with."""
    entries = environ(pid)
    return bool(entries) and not any(e.startswith((b"PATH=", f"{MARK}=".encode())) for e in entries)


def _cgroup(pid: int) -> bytes | None:
    """The control group; units of systemd have another one than what is started here."""
    try:
        return Path(f"/proc/{pid}/cgroup").read_bytes()
    except OSError:
        return None


def tell(family: Family, number: signal.Signals) -> list[Process]:
    """Signal the whole group at once, and each member outside of it; return the members."""
    found = members(family)
    if any(process.group == family.leader for process in found):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(family.leader, number)
    for process in found:
        now = table.find(process.pid)  # it may have left the group since the scan
        if now is not None and now.group != family.leader:
            send(process, number)
    return found


def kill(family: Family, known: Iterable[Process] = ()) -> list[Process]:
    """Send SIGKILL to every member. All are stopped first, so that none starts a new process."""
    frozen: dict[int, Process] = {}
    for _ in range(ROUNDS):
        fresh = [process for process in members(family, known) if process.pid not in frozen]
        if not fresh:
            break
        for process in fresh:
            frozen[process.pid] = process
            send(process, signal.SIGSTOP)
    for process in frozen.values():
        send(process, signal.SIGKILL)
    return list(frozen.values())


def reap(pid: int) -> None:
    """Reap the process if it is a child of ours that has ended; no error for other processes."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
