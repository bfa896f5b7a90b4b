"""Advisory locks by name: between threads of this process, and between processes by flock.

A lock is a file in <SVC_DATA_DIR>/state/locks that exists only while it is held or waited for; for
what hosts may share (homes.py) it is in <projects>/.svc/locks. On a file system without flock, a
lock only excludes the other threads of the process.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.conf import settings

from config.errors import Unavailable
from config.storage import homes

FILE = "file:"  # the prefix of the name of a lock on a path
WAIT_S = 30.0
NO_FLOCK = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}

_threads: dict[str, tuple[threading.Lock, int]] = {}
_guard = threading.Lock()


@contextmanager
def lock(name: str) -> Iterator[None]:
    """Hold the lock `name`. Not re-entrant. Unavailable if it is not free within 30 s."""
    deadline = time.monotonic() + WAIT_S
    with _thread_lock(name, deadline):
        path = _file(name)
        fd = _acquire(path, deadline, name)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # while still held: a waiter notices that and reopens
            os.close(fd)


@contextmanager
def attempt(name: str) -> Iterator[bool]:
    """Hold the lock `name` if it is free at this moment; yield whether it was."""
    now = time.monotonic()
    with ExitStack() as held:
        try:
            held.enter_context(_thread_lock(name, now))
        except Unavailable:
            yield False
            return
        path = _file(name)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = _try(path)
        try:
            yield fd is not None
        finally:
            if fd is not None:
                path.unlink(missing_ok=True)
                os.close(fd)


def sweep_locks() -> int:
    """Remove lock files that no process holds: leftovers of killed ones."""
    removed = 0
    for path in (*_own_folder().glob("*.lock"), *_shared_folder().glob("*.lock")):
        fd = _try(path)
        if fd is not None:
            path.unlink(missing_ok=True)
            os.close(fd)
            removed += 1
    return removed


def _own_folder() -> Path:
    return Path(settings.DATA_DIR) / "state" / "locks"


def _shared_folder() -> Path:
    return Path(settings.PROJECTS_DIR) / homes.FOLDER / "locks"


def _folder(name: str) -> Path:
    """The folder of a lock. Only locks on paths outside the projects are not shared."""
    if not homes.home():
        return _own_folder()
    projects = os.path.realpath(settings.PROJECTS_DIR)
    outside = name.startswith(FILE) and not Path(name[len(FILE) :]).is_relative_to(projects)
    return _own_folder() if outside else _shared_folder()


def _file(name: str) -> Path:
    folder = _folder(name)
    return folder / f"{hashlib.sha256(name.encode(errors='surrogateescape')).hexdigest()[:24]}.lock"


@contextmanager
def _thread_lock(name: str, deadline: float) -> Iterator[None]:
    with _guard:
        mine, users = _threads.get(name, (threading.Lock(), 0))
        _threads[name] = (mine, users + 1)
    try:
        if not mine.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _busy(name)
        try:
            yield
        finally:
            mine.release()
    finally:
        with _guard:
            users = _threads[name][1] - 1
            if users:
                _threads[name] = (mine, users)
            else:
                del _threads[name]


def _acquire(path: Path, deadline: float, name: str) -> int:
    pause = 0.001
    while True:
        fd = _try(path)
        if fd is not None:
            return fd
        if time.monotonic() > deadline:
            raise _busy(name)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def _try(path: Path) -> int | None:
    """An open descriptor that holds the lock, or None if another process holds it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = os.fstat(fd).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        held = False
    except OSError as error:
        held = error.errno in NO_FLOCK
        if not held:
            os.close(fd)
            raise
    if held:
        return fd
    os.close(fd)
    return None


def _busy(name: str) -> Unavailable:
    return Unavailable(f"{name} has been locked for {WAIT_S:.0f} s; try again")


def _forget_after_fork() -> None:
    """Forget the parent's locks: a child has none of the threads that hold them."""
    global _guard  # noqa: PLW0603 - the parent's may be held by a thread that does not exist here
    _guard = threading.Lock()
    _threads.clear()


os.register_at_fork(after_in_child=_forget_after_fork)
