"""One look at everything that listens at this moment. No network traffic is sent.

`scan()` caches which process holds a socket, so that a scan without changes costs two netlink
dumps.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from dashboard.listeners import netlink, portable, procfs
from dashboard.listeners.owners import Owner, Owners
from dashboard.listeners.sockets import Scope, Socket, scope

Address = tuple[str, int]
OwnedSocket = tuple[Socket, Owner | None]
_EVERY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound


@dataclass(frozen=True, slots=True)
class Listener:
    """One server on one port; its sockets on several addresses and its forked workers count as
    one.

    `pid` is that of the oldest process, None if unknown; `started` distinguishes it from a later
    process with the same pid. `exe` is a base name; it and `cwd` are "" if unknown.
    """

    id: str
    addresses: tuple[Address, ...]
    port: int
    scope: Scope
    uid: int
    pid: int | None
    started: float | None
    exe: str
    cwd: str

    @property
    def reach(self) -> tuple[Address, ...]:
        """The addresses to connect to, with loopback in place of "every address"."""
        return tuple((_EVERY.get(ip, ip), port) for ip, port in self.addresses)


@dataclass(frozen=True, slots=True)
class Scan:
    """`partial`: sentences that say what could not be seen; `ms`: how long the scan took."""

    listeners: tuple[Listener, ...]
    at: datetime
    ms: float
    partial: tuple[str, ...]


class Scanner:
    """Scans one after another; `owners` is the cache between them."""

    def __init__(self, owners: Owners | None = None) -> None:
        self.owners = owners or Owners()
        self._lock = threading.Lock()
        self._last: tuple[list[OwnedSocket], tuple[Listener, ...]] = ([], ())

    def scan(self) -> Scan:
        at = datetime.now(UTC)
        with self._lock:
            began = time.perf_counter()
            held, lacking = self._owned_sockets()
            if held != self._last[0]:
                self._last = (held, merge_sockets(held))
            listeners = self._last[1]
        hidden = sum(one.pid is None for one in listeners)
        if hidden:
            lacking += (
                f"{hidden} of {len(listeners)} listeners: their processes may not be seen.",
            )
        return Scan(listeners, at, (time.perf_counter() - began) * 1000, lacking)

    def _owned_sockets(self) -> tuple[list[OwnedSocket], tuple[str, ...]]:
        for listening in (netlink.listening, procfs.listening):
            try:
                sockets = listening()
            except OSError:
                continue
            owners = self.owners.of(sockets)
            return [(socket, owners[socket.inode]) for socket in sockets], ()
        found, whole = portable.owned_sockets()
        return [*found], (() if whole else (portable.ONLY_MINE,))


_SCANNER = Scanner()


def scan() -> Scan:
    """What listens at this moment, with the cache of the earlier scans of this process."""
    return _SCANNER.scan()


def observed_id(port: int, exe: str, cwd: str) -> str:
    """An id that survives restarts, as it has no pid. The port comes last, so that the same
    program in the same directory is recognised on another port too (`program`)."""
    key = f"{exe}\0{cwd}".encode(errors="surrogateescape")
    return f"o-{hashlib.sha256(key).hexdigest()[:8]}{port:04x}"


def program(id: str) -> str:  # noqa: A002
    """The part of an id that all ports of one program in one directory share."""
    return id[:-4]


def former_id(port: int, exe: str, cwd: str) -> str:
    """The id as it was made before 0.50; some histories are still bound to such ids."""
    key = f"{port}\0{exe}\0{cwd}".encode(errors="surrogateescape")
    return "o-" + hashlib.sha256(key).hexdigest()[:12]


def merge_sockets(held: Iterable[OwnedSocket]) -> tuple[Listener, ...]:
    """Sockets of the same port, program and directory as one listener, ordered by port."""
    groups: dict[tuple[int, str, str], list[OwnedSocket]] = {}
    for socket, owner in held:
        key = (socket.port, owner.exe, owner.cwd) if owner else (socket.port, "", "")
        groups.setdefault(key, []).append((socket, owner))
    return tuple(_listener(key, groups[key]) for key in sorted(groups))


def _listener(key: tuple[int, str, str], held: list[OwnedSocket]) -> Listener:
    port, exe, cwd = key
    oldest = min(
        (owner for _, owner in held if owner), key=lambda o: (o.started, o.pid), default=None
    )
    ips = sorted({socket.ip for socket, _ in held}, key=lambda ip: (":" in ip, ip))
    return Listener(
        id=observed_id(port, exe, cwd),
        addresses=tuple((ip, port) for ip in ips),
        port=port,
        scope=scope(ips),
        uid=held[0][0].uid,
        pid=oldest.pid if oldest else None,
        started=oldest.started if oldest else None,
        exe=exe,
        cwd=cwd,
    )
