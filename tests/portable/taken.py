"""Takes away what only Linux has, in every process of the Python that tests/portable/python.py
makes. It is imported before anything else is, and imports nothing of the service.

/proc and /sys are not there, but for psutil, which is how other systems are asked here; what macOS
refuses psutil is refused too. `sys.platform` stays: libraries would load what does not exist.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import resource
import select
import signal
import socket
import sys
from types import ModuleType

GONE: dict[ModuleType, tuple[str, ...]] = {
    os: (
        "O_DIRECT", "O_NOATIME", "O_PATH", "O_TMPFILE", "P_PIDFD", "copy_file_range", "eventfd",
        "fdatasync", "getrandom", "getresuid", "getxattr", "listxattr", "memfd_create",
        "pidfd_open", "pipe2", "posix_fadvise", "posix_fallocate", "sched_getaffinity",
        "sched_setaffinity", "setresuid", "setxattr", "splice", "waitid",
    ),
    select: ("epoll",),  # psycopg builds on its numbers alone
    signal: ("pidfd_send_signal", "sigtimedwait", "sigwaitinfo", "SIGPWR", "SIGRTMIN", "SIGRTMAX"),
    socket: (
        "AF_NETLINK", "AF_VSOCK", "MSG_CMSG_CLOEXEC", "SO_PEERCRED", "SOCK_CLOEXEC",
        "SOCK_NONBLOCK",
    ),
    fcntl: ("F_GETPIPE_SZ", "F_SETPIPE_SZ", "F_OFD_SETLK", "F_OFD_SETLKW", "F_OFD_GETLK"),
    resource: ("RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_SIGPENDING", "prlimit"),
}  # fmt: skip
for module, names in GONE.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

# These look at once what there is.
import multiprocessing.synchronize  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import psutil  # noqa: E402

OF_LIBC = frozenset({
    "copy_file_range", "epoll_create1", "eventfd", "fallocate", "fallocate64", "inotify_add_watch",
    "inotify_init", "inotify_init1", "memfd_create", "pidfd_open", "prctl", "renameat2",
    "sched_getaffinity", "setns", "signalfd", "syscall", "unshare",
})  # fmt: skip
FOLDERS = ("/proc", "/sys")
NETLINK = 16
MOST_FILES = 10240  # macOS gives no more than its own OPEN_MAX
NAME = "Elsewhere"


def take() -> None:
    ctypes.CDLL.__getattr__ = _symbol  # type: ignore[method-assign]
    _hide_folders()
    _refuse_sockets()
    _refuse_limits()
    _refuse_psutil()
    here = os.uname()
    os.uname = lambda: os.uname_result((NAME, *here[1:]))
    # as a semaphore of macOS, which does not tell its value
    multiprocessing.synchronize.Semaphore.get_value = _untold  # type: ignore[method-assign,assignment]


_found = ctypes.CDLL.__getattr__


def _symbol(library: ctypes.CDLL, name: str) -> Any:
    if name in OF_LIBC:
        raise AttributeError(f"symbol not found: {name}")
    return _found(library, name)


def _hide_folders() -> None:
    """What opens is caught for all by the interpreter, what only looks is not."""
    sys.addaudithook(_opening)
    for name in ("stat", "lstat", "readlink", "access"):
        setattr(os, name, _looking(getattr(os, name)))


def _opening(event: str, args: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and args and _hidden(args[0]):
        raise _nothing(args[0])


def _looking(call: Callable[..., Any]) -> Callable[..., Any]:
    def looked(path: Any, *args: Any, **named: Any) -> Any:
        if _hidden(path):
            raise _nothing(path)
        return call(path, *args, **named)

    return looked


def _hidden(path: Any) -> bool:
    if isinstance(path, int) or path is None:
        return False
    text = os.fsdecode(path)
    if not any(text == folder or text.startswith(f"{folder}/") for folder in FOLDERS):
        return False
    frame = sys._getframe(2)
    for _ in range(6):
        if f"{os.sep}psutil{os.sep}" in frame.f_code.co_filename:
            return False
        if frame.f_back is None:
            break
        frame = frame.f_back
    return True


def _nothing(path: Any) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fsdecode(path))


def _refuse_sockets() -> None:
    made, pair = socket.socket.__init__, socket.socketpair

    def init(self: socket.socket, family: int = -1, *more: Any, **named: Any) -> None:
        if family == NETLINK:
            raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
        made(self, family, *more, **named)

    def socketpair(*kind: Any) -> Any:
        if socket.SOCK_SEQPACKET in kind:
            raise OSError(errno.EPROTONOSUPPORT, os.strerror(errno.EPROTONOSUPPORT))
        return pair(*kind)

    socket.socket.__init__ = init  # type: ignore[method-assign]
    socket.socketpair = socketpair  # type: ignore[assignment]


def _refuse_limits() -> None:
    allowed = resource.setrlimit

    def setrlimit(kind: int, limits: tuple[int, int]) -> None:
        too_many = kind == resource.RLIMIT_NOFILE and limits[0] > MOST_FILES
        if kind == resource.RLIMIT_AS or too_many:
            raise ValueError("current limit exceeds maximum limit")
        allowed(kind, limits)

    resource.setrlimit = setrlimit


def _refuse_psutil() -> None:
    def net_connections(kind: str = "inet") -> Any:
        raise psutil.AccessDenied

    psutil.net_connections = net_connections


def _untold(_: object) -> int:
    raise NotImplementedError


take()
