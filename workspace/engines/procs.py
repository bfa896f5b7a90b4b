"""Nothing outlives its turn: finding and killing a turn's processes.

A process belongs to a turn by descent or by the tag in its environment. Where orphans are not
reparented to us (not Linux), a process that left its family and hides its environment is not found.
See docs/design/engines.md#nothing-outlives-its-turn.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection

from config.process import prctl, tree
from config.process.table import DEAD, Process, environ, scan, send

TAG = "SVC_TURN_ID"
_ROUNDS, _PAUSE_S = 5, 0.02


def kill_rest(turn: str) -> None:
    """Kill what a turn left below this process; by its tag too, where orphans go elsewhere."""
    kill_tree(turn=None if prctl.KNOWN else turn, below=(os.getpid(),))


def kill_tree(
    *, turn: str | None = None, roots: Collection[int] = (), below: Collection[int] = ()
) -> int:
    """Kill `roots` and their descendants, the descendants of `below`, and what is tagged `turn`.

    This process and its ancestors are always spared. Killed processes that became children of ours
    are reaped. `roots` are not reaped, because the process that started them wants their exit
    status. Returns how many died.
    """
    if turn is None and not roots and set(below) == {os.getpid()} and not _has_children():
        return 0
    dead: set[int] = set()
    for _ in range(_ROUNDS):
        frozen = _freeze(turn, roots, below)
        for process in frozen:
            send(process, signal.SIGKILL)
            dead.add(process.pid)
        if not frozen:
            break
        time.sleep(_PAUSE_S)
    _reap(set(roots), everything=os.getpid() in below, dead=dead)
    return len(dead)


def pids_by_turn(run_root: str) -> dict[str, list[int]]:
    """Turn id -> pids of the processes whose TMPDIR lies below this service's run directory."""
    found: dict[str, list[int]] = {}
    mine = f"TMPDIR={run_root.rstrip('/')}/".encode()
    processes = scan()
    for pid in processes.keys() - tree.ancestry(_parents(processes)):
        entries = environ(pid)
        turn = next((e for e in entries if e.startswith(f"{TAG}=".encode())), None)
        if turn and any(entry.startswith(mine) for entry in entries):
            found.setdefault(turn.split(b"=", 1)[1].decode(errors="replace"), []).append(pid)
    return found


def _freeze(turn: str | None, roots: Collection[int], below: Collection[int]) -> list[Process]:
    """SIGSTOP the set until nothing new appears: a stopped process makes no more children."""
    frozen: list[Process] = []
    seen: set[int] = set()
    for _ in range(64):
        fresh = [p for p in _belonging(turn, roots, below) if p.pid not in seen]
        if not fresh:
            break
        for process in fresh:
            seen.add(process.pid)
            if send(process, signal.SIGSTOP):
                frozen.append(process)
    return frozen


def _belonging(turn: str | None, roots: Collection[int], below: Collection[int]) -> list[Process]:
    processes = scan()
    parents = _parents(processes)
    spared = tree.ancestry(parents) | set(below)
    members = tree.descendants(parents, {*roots, *below}) | set(roots)
    if turn is not None:
        entry = f"{TAG}={turn}".encode()
        members |= {pid for pid in processes.keys() - members - spared if entry in environ(pid)}
        members |= tree.descendants(parents, members)
    living = (processes[pid] for pid in members - spared if pid in processes)
    return [process for process in living if process.state not in DEAD]


def _parents(processes: dict[int, Process]) -> dict[int, int]:
    return {pid: process.parent for pid, process in processes.items()}


def _has_children() -> bool:
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _reap(kept: set[int], *, everything: bool, dead: set[int]) -> None:
    """Reap dead children of ours except `kept`: those we killed, or with `everything` all."""
    me = os.getpid()
    for process in scan().values():
        ours = process.parent == me and process.state == "Z" and process.pid not in kept
        if ours and (everything or process.pid in dead):
            try:
                os.waitpid(process.pid, os.WNOHANG)
            except ChildProcessError:
                continue
