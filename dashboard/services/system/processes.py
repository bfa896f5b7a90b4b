"""Which processes belong to a run, and signals that reach no other.

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
YOUNG_S = 60.0  # of a run; who puts himself into the background does it as he starts


@dataclass(frozen=True, slots=True)
class Family:
    """What tells a run's processes: the mark in their environment, and their process group.

    `heir`: who goes on as the service since its first process ended, by pid and start; its group
    is the run's too, as workers outlive one that was killed.
    """

    run: str
    leader: int  # pid of the wrapper, and the number of its group
    started: int
    heir: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What lived at one moment, and which of it carries the mark of each run."""

    processes: Mapping[int, Process]
    marked: Mapping[bytes, Set[int]]


def look() -> Snapshot:
    """One look for any number of families: to read the environments of all is what it costs."""
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
    """Everything alive that the run started, oldest first: marked, of its group, or below those.

    `known` were members before: without a mark, and when the leader has gone, nothing else tells.
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
    # a group's number is not given out again while a process is in it
    if ours or any(processes[pid].group == family.leader for pid in marked):
        groups.add(family.leader)
    marked |= {p.pid for p in processes.values() if p.group in groups}
    found = (marked | tree.descendants(parents, marked)) - above
    return sorted((processes[pid] for pid in found), key=lambda p: (p.started, p.pid))


def strays(family: Family) -> list[Process]:
    """What may be of a young run though no mark tells, oldest first: a server that writes a title
    writes over its environment. Begun with the run, left by its parent to one of ours, in our
    control group, and without an environment. Only one that listens on its port surely is."""
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
    """Units of systemd have others than what is started here."""
    try:
        return Path(f"/proc/{pid}/cgroup").read_bytes()
    except OSError:
        return None


def tell(family: Family, number: signal.Signals) -> list[Process]:
    """Signal the whole group at once, and each member outside of it; returns who was there."""
    found = members(family)
    if any(process.group == family.leader for process in found):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(family.leader, number)
    for process in found:
        now = table.find(process.pid)  # it may have left the group since it was seen
        if now is not None and now.group != family.leader:
            send(process, number)
    return found


def kill(family: Family, known: Iterable[Process] = ()) -> list[Process]:
    """SIGKILL for every member: stopped first, so that none starts a new one meanwhile."""
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
    """Collect our child if it is one and has ended; children of others are left alone."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
