"""The one way to open a file that an agent, a checkout or a user may have put there.

Only a regular file is opened, so no caller blocks on a FIFO or reads endless data. Below a root, no
link leads out of it: the path is walked from the open root with no link allowed. If there is a
link, links are resolved by name first and the resulting path is walked, so that what was checked is
what is opened. Imports next to nothing, since turn processes read transcripts with it too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat as modes

TYPE_CHECKING = False  # `typing` is not loaded for annotations alone

if TYPE_CHECKING:
    from typing import IO

PIECE = SMALL = 1 << 20
MORE = 1 << 16  # how far to read beyond the size that was reported
_HERE = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_ODD = {"", os.curdir, os.pardir}
_LINK = {
    errno.ELOOP,
    errno.EMLINK,
    errno.ENOTDIR,
}  # errors for a link that is not followed

_NAMED = os.path.isdir("/proc/self/fd")  # noqa: PTH112 - a turn process loads no pathlib
_GETPATH = None if _NAMED else getattr(fcntl, "F_GETPATH", None)  # macOS

Path = str | os.PathLike[str]


class Refused(OSError):
    """The path is not a regular file, or is a loop of links."""


class Outside(Refused):
    """The path leads out of its root."""


def regular(path: Path, *, within: Path | None = None, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the file. Refused for anything else, Outside if it is not below `within`.

    The root itself may be reached by links: its owner wants it to be there. Other errors are the
    system's own, also FileNotFoundError for a link to nothing.
    """
    _check(_stat(path), path)  # first, since opening a device may have an effect
    flags |= _HERE
    fd = os.open(path, flags) if within is None else _beneath(path, within, flags)
    try:
        _check(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def plainly(path: Path) -> int:
    """A descriptor of the file or folder at an absolute path that has no link on the way."""
    names = os.fspath(path).split("/")[1:]
    if not _ODD.isdisjoint(names):
        raise Refused(errno.EINVAL, "is not a whole path", os.fspath(path))
    return _plainly("/", names, os.O_RDONLY | _HERE)


def reading(path: Path, *, within: Path | None = None, buffering: int = -1) -> IO[bytes]:
    """The file, open for reading bytes from its beginning; see `regular`."""
    return os.fdopen(regular(path, within=within), "rb", buffering)


def whole(fd: int, limit: int) -> bytes:
    """All bytes of an open regular file, also of one that grows. EFBIG if there are more than
    `limit`.

    A read allocates no more than the file needs: a large buffer is requested from the system and
    returned each time, which takes ten times as long as reading a small file.
    """
    parts, offset, found = [], 0, os.fstat(fd)
    _check(found, "")
    size = found.st_size
    if size > limit:
        raise _too_large(limit)
    while part := os.pread(fd, min(PIECE, limit + 1 - offset, max(size - offset, MORE)), offset):
        parts.append(part)
        offset += len(part)
        if offset > limit:
            raise _too_large(limit)
    return b"".join(parts)


def contents(path: Path, *, limit: int = SMALL, within: Path | None = None) -> bytes:
    """The bytes of the file. Raises the errors of `regular` and `whole`."""
    fd = regular(path, within=within)
    try:
        return whole(fd, limit)
    finally:
        os.close(fd)


def path_of(fd: int, asked: Path) -> str:
    """The path of an open file or folder that was opened as `asked`, from the kernel, spelled as on
    the disk. If the kernel does not report it: the path without links that leads there, or Refused
    if none does."""
    if _NAMED:
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
    if _GETPATH is not None:
        return os.fsdecode(fcntl.fcntl(fd, _GETPATH, bytes(1024)).rstrip(b"\0"))
    found = os.path.realpath(asked)
    folder, name = os.path.split(found)
    outer = _walk("/", folder.strip("/").split("/") if folder != "/" else [])
    try:
        there = os.stat(name or "/", dir_fd=outer, follow_symlinks=False)
    finally:
        os.close(outer)
    if not os.path.samestat(there, os.fstat(fd)):
        raise Refused(errno.ESTALE, "was moved while it was opened", os.fspath(asked))
    return found


def _beneath(path: Path, root: Path, flags: int) -> int:
    """Open the path as it is written below the root. If it contains links, open what they resolve
    to, if that is below the root, with no link on the way."""
    written, top = os.fspath(path), os.fspath(root)
    names = written[len(top) + 1 :].split("/")
    if written.startswith(f"{top}/") and _ODD.isdisjoint(names):
        try:
            return _plainly(top, names, flags)
        except OSError as error:
            if error.errno not in _LINK:
                raise
    top = os.path.realpath(root)
    names = os.path.relpath(os.path.realpath(path), top).split("/")
    if names[-1] == os.curdir or os.pardir in names:
        raise Outside(errno.EXDEV, "leads out of its folder", written)
    return _plainly(top, names, flags)


def _plainly(top: str, names: list[str], flags: int) -> int:
    fd = _walk(top, names[:-1])
    try:
        return os.open(names[-1], flags | os.O_NOFOLLOW, dir_fd=fd)
    finally:
        os.close(fd)


def _walk(top: str, folders: list[str]) -> int:
    """A descriptor of the folder below `top`, reached without following a link."""
    fd = os.open(top, _FOLDER)
    try:
        for folder in folders:
            fd, outer = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=fd), fd
            os.close(outer)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _stat(path: Path) -> os.stat_result:
    try:
        return os.stat(path)  # noqa: PTH116 - text in the process of a turn
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path)) from None
        raise


def _check(found: os.stat_result, path: Path) -> None:
    if not modes.S_ISREG(found.st_mode):
        raise Refused(errno.EINVAL, "not a regular file", os.fspath(path))


def _too_large(limit: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {limit} bytes")
