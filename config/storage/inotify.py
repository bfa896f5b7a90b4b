"""Linux reports which entries of a folder change; a waiting thread sleeps until then at no cost.

inotify(7) by its system calls: a library that polls every few milliseconds would take, with
three watchers, a third of the CPU time of an idle service (S13).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import struct
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from config.storage.notify import Wake

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED, CREATE, DELETE = 0xC0, 0x100, 0x200
GONE = 0x400 | 0x800 | 0x8000  # the folder was deleted or moved, or is not watched any more
LOST = 0x4000  # more happened than the queue could hold
WANTED = MODIFY | ATTRIB | CLOSE_WRITE | MOVED | CREATE | DELETE | 0x400 | 0x800 | 0x1000000
OUR_LIMITS = (errno.ENOSPC, errno.ENOMEM)  # errors that are not the folder's fault
QUIET_S, LONGEST_S = 0.025, 0.05  # changes in such quick succession are reported together
BUFFER = 1 << 16
_EVENT = struct.Struct("=iIII")  # watch, what, cookie, length of the name

_libc: Any = ctypes.CDLL(None, use_errno=True)
KNOWN = hasattr(_libc, "inotify_init1")


class Inotify:
    """Watches the entries directly in `folders`. OSError if the system refuses."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders: dict[int, set[Path]] = {}  # two paths may lead to one folder
        self._watches: dict[Path, int] = {}
        self._queue = _call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self.follow(folders)
        except BaseException:
            self.close()
            raise

    def follow(self, folders: Iterable[Path]) -> set[Path]:
        """See Notify."""
        wanted = set(folders)
        for folder in self._watches.keys() - wanted:
            self._drop(folder)
        return {folder for folder in wanted - self._watches.keys() if self._add(folder)}

    def _add(self, folder: Path) -> bool:
        name = os.fsencode(folder)
        try:
            watch = _call("inotify_add_watch", self._queue, name, ctypes.c_uint32(WANTED))
        except OSError as error:
            if error.errno in OUR_LIMITS:
                raise
            return False  # not a folder, or not accessible
        self._folders.setdefault(watch, set()).add(folder)
        self._watches[folder] = watch
        return True

    def wait(self, seconds: float, wake: Wake) -> set[Path] | None:
        """See Notify."""
        found: set[Path] = set()
        ready = self._ready(seconds, wake)
        deadline = time.monotonic() + LONGEST_S
        while self._queue in ready:
            if not self._read(found):
                return None
            pause = min(QUIET_S, deadline - time.monotonic())
            # More changes are collected at once: a wake-up for each would delay other threads.
            if pause <= 0 or wake.wait(pause):
                break
            ready = self._ready(0, wake)
        return found

    def close(self) -> None:
        os.close(self._queue)

    def _ready(self, seconds: float, wake: Wake) -> set[int]:
        poll = select.poll()  # select() cannot handle descriptors above 1023
        for one in (self._queue, wake.fileno()):
            poll.register(one, select.POLLIN)
        return {one for one, _ in poll.poll(seconds * 1000)}

    def _read(self, found: set[Path]) -> bool:
        """Read all that the system has queued; False if it has lost events."""
        full = True
        while full:
            data = b""
            with contextlib.suppress(BlockingIOError):
                data = os.read(self._queue, BUFFER)
            if not self._take_in(data, found):
                return False
            full = len(data) > BUFFER // 2
        return True

    def _take_in(self, data: bytes, found: set[Path]) -> bool:
        at = 0
        while at < len(data):
            watch, what, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size + length
            name = os.fsdecode(data[at - length : at].rstrip(b"\0"))
            if what & LOST:
                return False
            folders = self._folders.get(watch, set())
            if what & GONE:
                found |= self._drop_below(folders)
            else:
                found.update(folder / name for folder in folders if name)
        return True

    def _drop_below(self, folders: set[Path]) -> set[Path]:
        """These folders and those below them, which have moved without an event of their own."""
        tops = tuple(f"{folder}/" for folder in folders)
        gone = {folder for folder in self._watches if f"{folder}/".startswith(tops)}
        for folder in gone:
            self._drop(folder)
        return gone

    def _drop(self, folder: Path) -> None:
        watch = self._watches.pop(folder)
        others = self._folders[watch]
        others.remove(folder)
        if not others:
            del self._folders[watch]
            with contextlib.suppress(OSError):  # the system has dropped it already
                _call("inotify_rm_watch", self._queue, watch)


def _call(name: str, *args: Any) -> int:
    result: int = getattr(_libc, name)(*args)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
