"""Nothing outlives its turn (engine.md 3.5): finding and killing a turn's processes, and prctl.

A process belongs to a turn by descent or by the tag in its environment. Before a signal is sent
each pid is pinned by a pidfd and its start time, so a reused number is never hit.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Collection

from config.kernel.process import tree
from workspace.engines.light_typing import NamedTuple

TAG = "SVC_TURN_ID"
_PDEATHSIG, _DUMPABLE, _SUBREAPER = 1, 4, 36
_ROUNDS, _PAUSE_S = 5, 0.02


class Process(NamedTuple):
    pid: int
    parent: int
    state: str
    started: str  # clock ticks since boot: with the pid, the identity of a process


def become_subreaper() -> None:
    """Orphans of our descendants come to us instead of to init."""
    _prctl(_SUBREAPER, 1)


def die_with_parent() -> None:
    """SIGTERM when the thread that started us ends; the caller then checks who its parent is."""
    _prctl(_PDEATHSIG, signal.SIGTERM)


def hide_memory() -> None:
    """Same-uid commands cannot read our environment and memory (12.3); no core dumps."""
    _prctl(_DUMPABLE, 0)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):  # Linux; elsewhere the guarantee is weaker, and said so (head)
        libc.prctl(option, value, 0, 0, 0)


def kill_tree(
    *, turn: str | None = None, roots: Collection[int] = (), below: Collection[int] = ()
) -> int:
    """Kill `roots` and what descends from them, what descends from `below`, what is tagged `turn`.

    This process and its ancestors are always spared. What became a child of ours on the way is
    reaped, `roots` are not: whoever started them wants their exit status. Returns how many died.
    """
    if not os.path.isdir("/proc/self"):
        return _kill_groups(roots)
    if turn is None and not roots and set(below) == {os.getpid()} and not _has_children():
        return 0
    dead: set[int] = set()
    for _ in range(_ROUNDS):
        frozen = _freeze(turn, roots, below)
        for process, handle in frozen:
            _send(handle, signal.SIGKILL)
            os.close(handle)
            dead.add(process.pid)
        if not frozen:
            break
        time.sleep(_PAUSE_S)
    _reap(set(roots), everything=os.getpid() in below, dead=dead)
    return len(dead)


def _kill_groups(roots: Collection[int]) -> int:
    """Without /proc (not Linux) a process group is all that can be found."""
    for pid in roots:
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    return len(roots)


def tagged(run_root: str) -> dict[str, list[int]]:
    """Turn id -> pids of the processes whose TMPDIR lies below this service's run directory."""
    found: dict[str, list[int]] = {}
    mine = f"TMPDIR={run_root.rstrip('/')}/".encode()
    processes = scan()
    for pid in processes.keys() - tree.ancestry(_parents(processes)):
        entries = _environ(pid)
        turn = next((e for e in entries if e.startswith(f"{TAG}=".encode())), None)
        if turn and any(entry.startswith(mine) for entry in entries):
            found.setdefault(turn.split(b"=", 1)[1].decode(errors="replace"), []).append(pid)
    return found


def scan() -> dict[int, Process]:
    """Every process of this machine, zombies too."""
    found = {}
    for name in os.listdir("/proc"):
        process = _stat(int(name)) if name.isdigit() else None
        if process:
            found[process.pid] = process
    return found


def _stat(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read().rpartition(b")")[2].split()
        return Process(pid, int(fields[1]), fields[0].decode(), fields[19].decode())
    except (OSError, IndexError, ValueError):
        return None


def _environ(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _freeze(
    turn: str | None, roots: Collection[int], below: Collection[int]
) -> list[tuple[Process, int]]:
    """SIGSTOP the set until nothing new appears: a stopped process makes no more children."""
    frozen: list[tuple[Process, int]] = []
    seen: set[int] = set()
    for _ in range(64):
        fresh = [p for p in _belonging(turn, roots, below) if p.pid not in seen]
        if not fresh:
            break
        for process in fresh:
            seen.add(process.pid)
            handle = _pin(process)
            if handle is not None:
                frozen.append((process, handle))
                _send(handle, signal.SIGSTOP)
    return frozen


def _belonging(turn: str | None, roots: Collection[int], below: Collection[int]) -> list[Process]:
    processes = scan()
    parents = _parents(processes)
    spared = tree.ancestry(parents) | set(below)
    members = tree.descendants(parents, {*roots, *below}) | set(roots)
    if turn is not None:
        entry = f"{TAG}={turn}".encode()
        members |= {pid for pid in processes.keys() - members - spared if entry in _environ(pid)}
        members |= tree.descendants(parents, members)
    living = (processes[pid] for pid in members - spared if pid in processes)
    return [process for process in living if process.state not in "ZX"]


def _parents(processes: dict[int, Process]) -> dict[int, int]:
    return {pid: process.parent for pid, process in processes.items()}


def _pin(process: Process) -> int | None:
    """A pidfd that is surely this process, None when it is gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return None
    now = _stat(process.pid)
    if now is None or now.started != process.started:
        os.close(handle)
        return None
    return handle


def _send(handle: int, number: signal.Signals) -> None:
    try:
        signal.pidfd_send_signal(handle, number)
    except (ProcessLookupError, PermissionError):  # gone, or set-uid and not ours to kill
        return


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _reap(kept: set[int], *, everything: bool, dead: set[int]) -> None:
    """Collect dead children of ours but `kept`: those we killed, or every one."""
    me = os.getpid()
    for process in scan().values():
        ours = process.parent == me and process.state == "Z" and process.pid not in kept
        if ours and (everything or process.pid in dead):
            try:
                os.waitpid(process.pid, os.WNOHANG)
            except ChildProcessError:
                continue
