"""Which processes listen on TCP ports, by psutil.

Where only root is shown everybody's sockets (macOS), those of the processes this user may look
into: slower, and others' listeners are not among them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import psutil


class Listening(NamedTuple):
    """`pid`: None where the holder may not be seen."""

    ip: str
    port: int
    pid: int | None


def listening(among: Iterable[int] | None = None) -> tuple[list[Listening], bool]:
    """Every listening socket that can be seen, and whether these are all. `among`: the processes
    that are wanted, so that others need not be looked into."""
    try:
        return list(_listening(psutil.net_connections("tcp"), None)), True
    except psutil.Error:
        return list(_of_processes(among)), False


def _of_processes(among: Iterable[int] | None) -> Iterator[Listening]:
    for pid in psutil.pids() if among is None else among:
        with contextlib.suppress(psutil.Error):
            yield from _listening(psutil.Process(pid).net_connections("tcp"), pid)


def _listening(connections: list[Any], pid: int | None) -> Iterator[Listening]:
    for one in connections:
        if one.status == psutil.CONN_LISTEN and one.laddr:
            yield Listening(one.laddr.ip, one.laddr.port, getattr(one, "pid", None) or pid)
