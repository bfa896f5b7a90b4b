"""Flags and values between the forked processes of a cluster that no killed process can keep.

Those of multiprocessing are guarded by semaphores, which a process killed at the wrong instant
never gives back: from then on whoever needs one waits for ever. The kernel takes back a record
lock together with its process, and a pipe needs no lock at all.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import select
import tempfile
import weakref
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any, Self


class ProcessLock:
    """A lock between processes, taken again by its holder as an RLock is; not for threads."""

    def __init__(self) -> None:
        self._fd, path = tempfile.mkstemp(prefix="svc-lock-")
        Path(path).unlink()
        weakref.finalize(self, os.close, self._fd)
        self._holder, self._depth = 0, 0

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        if timeout is not None:
            raise NotImplementedError("a record lock is waited for without a limit")
        if self._holder != os.getpid():  # a fork inherits the depth, never the lock
            self._holder, self._depth = os.getpid(), 0
        if self._depth == 0:
            try:
                fcntl.lockf(self._fd, fcntl.LOCK_EX | (0 if block else fcntl.LOCK_NB))
            except BlockingIOError:
                return False
        self._depth += 1
        return True

    def release(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            fcntl.lockf(self._fd, fcntl.LOCK_UN)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def shared_value(kind: str, start: float) -> Synchronized[Any]:
    """multiprocessing.Value with such a lock."""
    lock: Any = ProcessLock()  # typed as a semaphore, used as any lock
    made: Synchronized[Any] = multiprocessing.Value(kind, start, lock=lock)
    return made


class Flag:
    """multiprocessing.Event for one use: raised once, seen by all. Safe in a signal handler."""

    def __init__(self) -> None:
        self._seen, self._raised = os.pipe()
        for end in (self._seen, self._raised):
            weakref.finalize(self, os.close, end)

    def set(self) -> None:
        os.write(self._raised, b"!")

    def is_set(self) -> bool:
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is raised, at the latest after so many seconds."""
        return bool(select.select([self._seen], [], [], timeout)[0])
