"""Which processes listen on TCP ports, by psutil.

Where only root may list all sockets (macOS), the processes that this user may inspect are asked
one by one: this is slower and leaves out listeners of other users.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import psutil


class Listening(NamedTuple):
    """One listening socket. `pid` is None where this user may not see its process."""

    ip: str
    port: int
    pid: int | None


def listening() -> tuple[list[Listening], bool]:
    """Return every visible listening socket, and whether these are all there are. For a socket
    that several processes share, one of them is given."""
    try:
        return list(_listening(psutil.net_connections("tcp"), None)), True
    except psutil.Error:
        return list(of(psutil.pids())), False


def of(pids: Iterable[int]) -> Iterator[Listening]:
    """All listening sockets of each of these processes."""
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            yield from _listening(psutil.Process(pid).net_connections("tcp"), pid)


def _listening(connections: list[Any], pid: int | None) -> Iterator[Listening]:
    for one in connections:
        if one.status == psutil.CONN_LISTEN and one.laddr:
            yield Listening(one.laddr.ip, one.laddr.port, getattr(one, "pid", None) or pid)
