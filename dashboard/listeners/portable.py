"""Listeners by psutil alone, process by process, for systems without /proc (macOS)."""

from __future__ import annotations

from pathlib import PurePath

import psutil

from dashboard.listeners.owners import Owner
from dashboard.listeners.sockets import Socket


def listening() -> list[tuple[Socket, Owner]]:
    """The sockets in LISTEN of every process this user may look into."""
    found = []
    for process in psutil.process_iter():
        try:
            connections = process.net_connections("tcp")
            ports = [c.laddr for c in connections if c.status == psutil.CONN_LISTEN and c.laddr]
            if ports:
                owner, uid = _owner(process), process.uids().real
                found += [(Socket(_plain(at.ip), at.port, uid, 0), owner) for at in ports]
        except psutil.Error:
            continue
    return found


def _owner(process: psutil.Process) -> Owner:
    try:
        exe, cwd = PurePath(process.exe()).name, process.cwd()
    except psutil.AccessDenied:
        exe, cwd = "", ""
    return Owner(process.pid, process.create_time(), exe, cwd)


def _plain(ip: str) -> str:
    """Without the zone of a link-local address, and an IPv4 address as that."""
    return ip.partition("%")[0].removeprefix("::ffff:")
