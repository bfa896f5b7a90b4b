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


def listening() -> tuple[list[Listening], bool]:
    """Every listening socket that can be seen, and whether these are all. Of one that several
    processes share one of them is told."""
    try:
        return list(_listening(psutil.net_connections("tcp"), None)), True
    except psutil.Error:
        return list(of(psutil.pids())), False


def of(pids: Iterable[int]) -> Iterator[Listening]:
    """The listening sockets of these processes, of each all."""
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            yield from _listening(psutil.Process(pid).net_connections("tcp"), pid)


def _listening(connections: list[Any], pid: int | None) -> Iterator[Listening]:
    for one in connections:
        if one.status == psutil.CONN_LISTEN and one.laddr:
            yield Listening(one.laddr.ip, one.laddr.port, getattr(one, "pid", None) or pid)
