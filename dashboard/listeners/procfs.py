"""What /proc says: the listening sockets if netlink is refused, and which process holds a
socket."""

# ruff: noqa: PTH115, PTH116, PTH208 - thousands of descriptors a walk: paths stay text here

from __future__ import annotations

import os
import stat as modes
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dashboard.listeners.sockets import Socket, address

PROC = Path("/proc")
LISTEN = "0A"
_DELETED = " (deleted)"


class OpenDescriptor(NamedTuple):
    """A process that has the socket open, as descriptor `fd`."""

    pid: int
    fd: int


def listening() -> list[Socket]:
    """Every TCP socket in LISTEN, from /proc/net/tcp and tcp6. OSError if there is no
    /proc/net/tcp."""
    found = list(_table(PROC / "net/tcp"))
    if (PROC / "net/tcp6").exists():
        found += _table(PROC / "net/tcp6")
    return found


def _table(path: Path) -> Iterator[Socket]:
    """The listening sockets come first in the file, so reading ends at the first other one."""
    with path.open(encoding="ascii") as lines:
        next(lines, None)
        for line in lines:
            words = line.split()
            if words[3] != LISTEN:
                return
            packed, port = words[1].split(":")
            yield Socket(address(_pack(packed)), int(port, 16), int(words[7]), int(words[9]))


def _pack(digits: str) -> bytes:
    """The bytes of an address: the file has 32-bit numbers in the machine's own byte order."""
    parts = (int(digits[at : at + 8], 16) for at in range(0, len(digits), 8))
    return b"".join(part.to_bytes(4, sys.byteorder) for part in parts)


def holders(inodes: set[int]) -> dict[int, list[OpenDescriptor]]:
    """Which processes hold these sockets: a walk over all visible descriptors (30 ms and more)."""
    names = {f"socket:[{inode}]": inode for inode in inodes}
    found: dict[int, list[OpenDescriptor]] = {}
    for pid in filter(str.isdigit, os.listdir(PROC)):
        for fd, name in _descriptors(f"{PROC}/{pid}/fd"):
            if (inode := names.get(name)) is not None:
                found.setdefault(inode, []).append(OpenDescriptor(int(pid), int(fd)))
    return found


def _descriptors(folder: str) -> Iterator[tuple[str, str]]:
    """Number and target of each descriptor; none for another user's or an ended process."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        for fd in os.listdir(opened):
            try:
                yield fd, os.readlink(fd, dir_fd=opened)
            except OSError:
                continue
    except OSError:
        return
    finally:
        os.close(opened)


def holds(held: OpenDescriptor, inode: int) -> bool:
    """Whether that descriptor of that process is still this socket: one system call."""
    try:
        found = os.stat(f"{PROC}/{held.pid}/fd/{held.fd}")
    except OSError:
        return False
    return found.st_ino == inode and modes.S_ISSOCK(found.st_mode)


class Stat(NamedTuple):
    """`name`: its first 15 bytes at most; `started`: clock ticks since boot."""

    name: str
    parent: int
    started: int


def stat(pid: int) -> Stat | None:
    """The line of the system about a process; None if the process has ended."""
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    begin, end = text.index(b"(") + 1, text.rindex(b")")  # the name may contain anything
    words = text[end + 2 :].split()
    return Stat(os.fsdecode(text[begin:end]), int(words[1]), int(words[19]))


def start_time(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if it has ended."""
    found = stat(pid)
    return found.started if found is not None else None


def link(pid: int, name: str) -> str:
    """The target of /proc/<pid>/exe or cwd, without the "deleted" mark; "" if unreadable."""
    try:
        target = os.readlink(f"{PROC}/{pid}/{name}")
    except OSError:
        return ""
    if target.endswith(_DELETED) and _is_unlinked(pid, name):
        return target.removesuffix(_DELETED)
    return target


def _is_unlinked(pid: int, name: str) -> bool:
    try:
        return os.stat(f"{PROC}/{pid}/{name}").st_nlink == 0
    except OSError:
        return True


def argv(pid: int, limit: int) -> tuple[list[bytes], bool]:
    """The arguments the process was started with, at most `limit` bytes, and whether these are
    all.

    Empty for a zombie or a kernel thread. OSError if it may not be read.
    """
    with (PROC / str(pid) / "cmdline").open("rb") as file:
        text = file.read(limit + 1)
    whole = len(text) <= limit
    return (text.removesuffix(b"\0").split(b"\0") if text else []), whole
