"""The system calls that the file writer uses, all relative to an open directory.

They are in one place so that a test can make any of them fail (promise F3) without other switches.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
NO_LINKS = UNSUPPORTED | {errno.EPERM, errno.EMLINK}

_libc: Any = ctypes.CDLL(None, use_errno=True)
# of Linux and of macOS, with their flags for "never replace" and "exchange"
_RENAMES = {"renameat2": (1, 2), "renameatx_np": (4, 2)}
_rename = next((name for name in _RENAMES if hasattr(_libc, name)), "")
EXCHANGES = bool(_rename)
NOREPLACE, EXCHANGE = _RENAMES.get(_rename, (0, 0))


def again(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Make the call, again each time a signal interrupts it."""
    while True:
        try:
            return call(*args, **kwargs)
        except InterruptedError:
            continue


def open_at(name: str, flags: int, folder: int, mode: int = 0o600) -> int:
    return os.open(name, flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=folder)


def write(fd: int, data: memoryview) -> int:
    return os.write(fd, data)


def fsync(fd: int) -> None:
    os.fsync(fd)


def rename(old: str, new: str, folder: int) -> None:
    """Rename, replacing `new`."""
    os.replace(old, new, src_dir_fd=folder, dst_dir_fd=folder)


def exchange(one: str, other: str, folder: int) -> None:
    """Swap the files of both names atomically. OSError in UNSUPPORTED if impossible."""
    _renameat2(one, other, folder, EXCHANGE)


def move(old: str, new: str, folder: int) -> None:
    """Rename without replacing: FileExistsError instead. OSError in UNSUPPORTED if impossible."""
    _renameat2(old, new, folder, NOREPLACE)


def link(old: str, new: str, folder: int) -> None:
    os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)


def unlink(name: str, folder: int) -> None:
    os.unlink(name, dir_fd=folder)


def _renameat2(old: str, new: str, folder: int, flags: int) -> None:
    if not EXCHANGES:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    call = getattr(_libc, _rename)
    if call(folder, os.fsencode(old), folder, os.fsencode(new), ctypes.c_uint(flags)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), old, None, new)
