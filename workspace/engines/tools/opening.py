"""Opening files so that a swapped symlink leads nowhere (promise G6).

Every file is opened by name relative to a directory descriptor, without following a link, and the
path that the kernel reports for the descriptor is judged before the first byte is read or written.
"""

from __future__ import annotations

import os
import stat

from config.storage.opening import path_of
from workspace.engines.tools import ToolContext, ToolError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LIMIT = 64 * 1024 * 1024


def real(path: str, cwd: str) -> str:
    """The path a call means: absolute or relative to cwd, with every link resolved."""
    try:
        return os.path.realpath(os.path.join(cwd, path))
    except ValueError:
        raise ToolError("the path holds characters no path can hold") from None


class Opened:
    """A descriptor that is closed at the end of its `with`."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __enter__(self) -> int:
        return self.fd

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def reading(path: str, place: ToolContext, cwd: str) -> Opened:
    """A descriptor of a regular file, open for reading."""
    target = real(path, cwd)
    with _folder(os.path.dirname(target), place, make=False) as folder:
        fd = _open(os.path.basename(target), folder, path)
    try:
        _judge(path_of(fd, target), place, write=False)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ToolError(f"not a regular file: {path}")
    except BaseException:
        os.close(fd)
        raise
    return Opened(fd)


def listing(path: str, place: ToolContext, cwd: str) -> Opened:
    """A descriptor of a folder whose names may be listed."""
    target = real(path, cwd)
    folder = _folder(target, place, make=False)
    try:
        _judge(path_of(folder.fd, target), place, write=False)
    except BaseException:
        os.close(folder.fd)
        raise
    return folder


def read_whole(path: str, place: ToolContext, cwd: str) -> bytes | None:
    """The bytes of a file that is to be changed; None if it does not exist."""
    try:
        with reading(path, place, cwd) as fd:
            if os.fstat(fd).st_size > LIMIT:
                raise ToolError(f"file is larger than {LIMIT} bytes: {path}")
            with os.fdopen(os.dup(fd), "rb") as file:
                return file.read()
    except FileNotFoundError:
        return None


def replace(path: str, data: bytes, place: ToolContext, cwd: str) -> None:
    """Replace or create the file atomically: temp file, same mode, rename; parents are created."""
    target = real(path, cwd)
    name = os.path.basename(target)
    with _folder(os.path.dirname(target), place, make=True) as folder:
        there = path_of(folder, os.path.dirname(target))
        _judge(os.path.join(there, name), place, write=True)
        draft = f".svc-tmp-{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(draft, flags, 0o666, dir_fd=folder)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                mode = _mode(name, folder, path)
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(draft, dir_fd=folder)
            raise


def _mode(name: str, folder: int, path: str) -> int | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(f"not a regular file: {path}")
    return stat.S_IMODE(found.st_mode)


def _folder(path: str, place: ToolContext, *, make: bool) -> Opened:
    """A descriptor of the directory; with `make`, missing folders are created on the way."""
    missing: list[str] = []
    while make and not os.path.lexists(path):
        path, name = os.path.split(path)
        missing.insert(0, name)
    fd = os.open(path, _FOLDER)
    try:
        for name in missing:
            inner = os.path.join(path_of(fd, path), name)
            _judge(inner, place, write=True)
            _mkdir(name, fd)
            fd, outer = os.open(name, _FOLDER, dir_fd=fd), fd
            os.close(outer)
            path = inner
    except BaseException:
        os.close(fd)
        raise
    return Opened(fd)


def _mkdir(name: str, folder: int) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return  # opened without following links, which decides


def _open(name: str, folder: int, path: str) -> int:
    """Open for reading, with O_NONBLOCK so that a FIFO is refused and does not hang."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(name or ".", flags, dir_fd=folder)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ToolError(f"{error.strerror}: {path}") from None


def _judge(path: str, place: ToolContext, *, write: bool) -> None:
    denied = place.denial(path, write=write)
    if denied:
        raise ToolError(denied)
