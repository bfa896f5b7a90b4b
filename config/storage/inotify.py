"""Linux tells which entries of a folder change; a waiting thread sleeps until then at no cost.

inotify(7) by its system calls: a library that looks every few milliseconds whether there is
anything is, with three watchers, a third of all that an idle service uses (S13).
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
GONE = 0x400 | 0x800 | 0x8000  # the folder was deleted, moved, is no longer watched
LOST = 0x4000  # more happened than the system could keep
WANTED = MODIFY | ATTRIB | CLOSE_WRITE | MOVED | CREATE | DELETE | 0x400 | 0x800 | 0x1000000
OUR_LIMITS = (errno.ENOSPC, errno.ENOMEM)  # then it is not for the folder that it cannot be watched
QUIET_S, LONGEST_S = 0.025, 0.05  # changes that follow each other so closely are told together
BUFFER = 1 << 16
_EVENT = struct.Struct("=iIII")  # watch, what, cookie, length of the name

_libc: Any = ctypes.CDLL(None, use_errno=True)
KNOWN = hasattr(_libc, "inotify_init1")


class Inotify:
    """The entries directly in `folders`. OSError where the system refuses."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders: dict[int, set[Path]] = {}  # two paths may lead to one folder
        self._watches: dict[Path, int] = {}
        self._queue = _called("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
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
            watch = _called("inotify_add_watch", self._queue, name, ctypes.c_uint32(WANTED))
        except OSError as error:
            if error.errno in OUR_LIMITS:
                raise
            return False  # no folder, or none of ours
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
            # What comes meanwhile is read at once: to wake up for each would hold others up.
            if pause <= 0 or wake.wait(pause):
                break
            ready = self._ready(0, wake)
        return found

    def close(self) -> None:
        os.close(self._queue)

    def _ready(self, seconds: float, wake: Wake) -> set[int]:
        poll = select.poll()  # select() itself knows no descriptor above 1023
        for one in (self._queue, wake.fileno()):
            poll.register(one, select.POLLIN)
        return {one for one, _ in poll.poll(seconds * 1000)}

    def _read(self, found: set[Path]) -> bool:
        """Take in what the system has; False when it can no longer say everything."""
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
                found |= self._gone(folders)
            else:
                found.update(folder / name for folder in folders if name)
        return True

    def _gone(self, folders: set[Path]) -> set[Path]:
        """These and those below them, which are no longer at their places and are not told so."""
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
            with contextlib.suppress(OSError):  # the system has dropped it
                _called("inotify_rm_watch", self._queue, watch)


def _called(name: str, *args: Any) -> int:
    result: int = getattr(_libc, name)(*args)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
