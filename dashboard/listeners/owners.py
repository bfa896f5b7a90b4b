"""Which process a listening socket belongs to, cached from scan to scan.

The descriptors of all processes are walked only for a socket not seen before. Sockets whose
process this user may not see are tried again after 30 s at the earliest, all in one walk.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath

from dashboard.listeners import procfs
from dashboard.listeners.procfs import OpenDescriptor
from dashboard.listeners.sockets import Socket

RETRY_S = 30.0


@dataclass(frozen=True, slots=True)
class Owner:
    """The oldest process that holds a socket. `exe` is a base name; "" if it cannot be read."""

    pid: int
    started: float
    exe: str
    cwd: str


@dataclass(frozen=True, slots=True)
class _KnownOwner:
    held: OpenDescriptor
    owner: Owner


class Owners:
    """A cache; `walks` counts the walks over all descriptors."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.walks = 0
        self._clock = clock
        self._seen: dict[int, _KnownOwner | None] = {}
        self._walked = self._checked = float("-inf")

    def of(self, sockets: Iterable[Socket]) -> dict[int, Owner | None]:
        """The owner of each inode; None if this user may not know it."""
        uids = {socket.inode: socket.uid for socket in sockets}
        self._check(uids)
        if self._must_walk(uids):
            self._walk(uids)
        found = ((inode, self._seen.get(inode)) for inode in uids)
        return {inode: seen.owner if seen else None for inode, seen in found}

    def _check(self, uids: dict[int, int]) -> None:
        """Drop outdated entries: one socket of each process is checked each time, all of them
        every 30 s."""
        if thorough := self._clock() - self._checked >= RETRY_S:
            self._checked = self._clock()
        kept: dict[int, _KnownOwner | None] = {}
        lives: dict[int, bool] = {}
        for inode, seen in self._seen.items():
            if inode not in uids:
                continue
            if seen is not None and (thorough or seen.owner.pid not in lives):
                lives[seen.owner.pid] = procfs.holds(seen.held, inode)
            if seen is None or lives[seen.owner.pid]:
                kept[inode] = seen
        self._seen = kept

    def _must_walk(self, uids: dict[int, int]) -> bool:
        """Whether to walk: at once for a new socket of a user whose processes are visible, else
        every 30 s."""
        if all(self._seen.get(inode) for inode in uids):
            return False
        mine = os.geteuid()
        if any(inode not in self._seen and mine in {0, uid} for inode, uid in uids.items()):
            return True
        return self._clock() - self._walked >= RETRY_S

    def _walk(self, inodes: Iterable[int]) -> None:
        self.walks += 1
        self._walked = self._clock()
        unknown = [inode for inode in inodes if not self._seen.get(inode)]
        found = procfs.holders(set(unknown))
        owner = cache(_owner)
        for inode in unknown:
            known = ((owner(held.pid), held) for held in found.get(inode, ()))
            alive = [_KnownOwner(held, one) for one, held in known if one]
            self._seen[inode] = min(alive, key=_age, default=None)


def _age(seen: _KnownOwner) -> tuple[float, int]:
    return seen.owner.started, seen.owner.pid


def _owner(pid: int) -> Owner | None:
    """None if the process has ended since."""
    started = procfs.start_time(pid)
    if started is None:
        return None
    exe = PurePath(procfs.link(pid, "exe")).name
    return Owner(pid, started, exe, procfs.link(pid, "cwd"))
