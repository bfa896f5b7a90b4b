"""Which process listens on a port of this machine, where a local browser would reach it."""

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

LOCALHOST = ("127.0.0.1", "::1")


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


def holder(port: int, address: str | None = None) -> Holder | None:
    """The process that listens on the port, None when the port is free. `address`: the address in
    question, None for those that `localhost` leads to."""
    pids = _listening(port, address)
    if not pids:
        return None
    known = [pid for pid in pids if pid is not None]
    return _read_holder(min(known)) if known else Holder()


def listener(port: int, address: str | None, among: Iterable[int]) -> int | None:
    """The pid of the first of these processes that listens there; None if none does."""
    return next((one.pid for one in of(among) if _is(one, port, address)), None)


def _listening(port: int, address: str | None) -> list[int | None]:
    seen, whole = listening()
    found = [one.pid for one in seen if _is(one, port, address)]
    return found if found or whole or not _accepts(port, address) else [None]


def _is(one: Listening, port: int, address: str | None) -> bool:
    """Whether it listens there: two programs can share a port, each on its own address."""
    if one.port != port:
        return False
    found = ipaddress.ip_address(one.ip)
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_unspecified or str(found) in _addresses(address)


def _addresses(address: str | None) -> tuple[str, ...]:
    return LOCALHOST if address is None else (address,)


def _accepts(port: int, address: str | None) -> bool:
    for host in _addresses(address):
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
            return True
    return False


def _read_holder(pid: int) -> Holder:
    """Its name and directory as printable text: both are data of an unknown process."""
    try:
        process = psutil.Process(pid)
        name = plain(process.name())
    except psutil.Error:
        return Holder(name="a process", pid=pid)
    try:
        return Holder(name=name, pid=pid, cwd=plain(process.cwd()))
    except psutil.Error:
        return Holder(name=name, pid=pid)
