"""Run by every Python process that has this folder on its path: a system that knows too little.

No renameat2 (so neither exchange nor a rename that never replaces), no flock for the locks of
files, no notification of changes. What was asked for and refused leaves its name in the folder
POOR_SYSTEM. The lock that makes the service the only one of its data directory still works.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["POOR_SYSTEM"])
_flock = fcntl.flock


def refused(what: str, code: int) -> OSError:
    (FOLDER / what).touch()
    return OSError(code, os.strerror(code))


def flock(file: Any, operation: int) -> None:
    descriptor = file if isinstance(file, int) else file.fileno()
    if Path(f"/proc/self/fd/{descriptor}").readlink().parent.name == "locks":
        raise refused("flock", errno.ENOLCK)
    _flock(file, operation)


def blind(*_: object, **__: object) -> None:
    raise refused("inotify", errno.EMFILE)


class Library(ctypes.CDLL):
    def __getattr__(self, name: str) -> Any:
        if name == "renameat2":
            refused(name, errno.ENOSYS)
            raise AttributeError(name)
        if name == "inotify_init1":
            return blind
        return super().__getattr__(name)


fcntl.flock = flock
ctypes.CDLL = Library  # type: ignore[misc]
