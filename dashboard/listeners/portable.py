"""Listeners by psutil alone, process by process, for systems without /proc (macOS)."""

from __future__ import annotations

import contextlib
from pathlib import PurePath

import psutil

from config.process.listening import listening
from dashboard.listeners.owners import Owner
from dashboard.listeners.sockets import Socket

ONLY_MINE = "This system shows only root what the processes of other users listen on."


def owned_sockets() -> tuple[list[tuple[Socket, Owner]], bool]:
    """The sockets in LISTEN of every process this user may inspect, and whether these are all."""
    found = []
    seen, whole = listening()
    for one in seen:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(one.pid) if one.pid else None
            if process is not None:
                socket = Socket(_plain(one.ip), one.port, process.uids().real, 0)
                found.append((socket, _owner(process)))
    return found, whole


def _owner(process: psutil.Process) -> Owner:
    try:
        exe, cwd = PurePath(process.exe()).name, process.cwd()
    except psutil.AccessDenied:
        exe, cwd = "", ""
    return Owner(process.pid, process.create_time(), exe, cwd)


def _plain(ip: str) -> str:
    """The address without the zone of a link-local one; a mapped IPv4 address as IPv4."""
    return ip.partition("%")[0].removeprefix("::ffff:")
