"""Who listens on a port of this machine, as far as a local browser would reach it."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import psutil

from config.process.listening import Listening, listening, of
from dashboard.listeners.printable import plain


@dataclass(frozen=True, slots=True)
class Holder:
    """A listening process; all None when it belongs to another user."""

    name: str | None = None
    pid: int | None = None
    cwd: str | None = None

    @property
    def text(self) -> str:
        if self.pid is None:
            return "a process of another user"
        return f"{self.name} (pid {self.pid}{f', {self.cwd}' if self.cwd else ''})"

    def wire(self) -> dict[str, Any]:
        return {"name": self.name, "pid": self.pid, "cwd": self.cwd}


def holder(port: int) -> Holder | None:
    """Who listens there, None when the port is free."""
    pids = _listening(port)
    if not pids:
        return None
    known = [pid for pid in pids if pid is not None]
    return _described(min(known)) if known else Holder()


def listener(port: int, among: Iterable[int]) -> int | None:
    """The first of the processes that listens there."""
    return next((one.pid for one in of(among) if _is(one, port)), None)


def _listening(port: int) -> list[int | None]:
    seen, whole = listening()
    found = [one.pid for one in seen if _is(one, port)]
    return found if found or whole or not _accepts(port) else [None]


def _is(one: Listening, port: int) -> bool:
    return one.port == port and _local(one.ip)


def _local(address: str) -> bool:
    """Whether `localhost` leads there."""
    found = ipaddress.ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None) or found
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _accepts(port: int) -> bool:
    for host in ("127.0.0.1", "::1"):
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
            return True
    return False


def _described(pid: int) -> Holder:
    """Its name and directory are data of a stranger, and need not even be text."""
    try:
        process = psutil.Process(pid)
        name = plain(process.name())
    except psutil.Error:
        return Holder(name="a process", pid=pid)
    try:
        return Holder(name=name, pid=pid, cwd=plain(process.cwd()))
    except psutil.Error:
        return Holder(name=name, pid=pid)
