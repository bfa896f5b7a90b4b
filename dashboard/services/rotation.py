"""Keeps a log from growing without limit, and loses no byte while its command writes.

The head of the file is copied to an archive, then cut out under the writer: COLLAPSE_RANGE moves
the rest to the front, and O_APPEND continues at the new end. Where the file system cannot do that,
the file is truncated, which can lose what is written between the last look and the cut.

What is written faster than it can be kept, or onto a full disk, is left out, with a line in its
place: docs/design/dashboard.md#logs
"""

from __future__ import annotations

import ctypes
import errno
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from config.storage import opening
from config.storage.syscalls import UNSUPPORTED
from dashboard.services import layout, logs

COLLAPSE_RANGE = 0x08
CHUNK = 1 << 20
DRAFT = ".draft"
TAIL = 8 << 20  # kept of a log that has to be emptied
FULL = {errno.ENOSPC, errno.EDQUOT}

_libc: Any = ctypes.CDLL(None, use_errno=True)
COLLAPSES = hasattr(_libc, "fallocate64")


def rotate(slug: str, *, max_bytes: int, keep: int, now: datetime) -> bool:
    """Cut the log if it is large enough; whether it was. Blocks while bytes are copied.

    All kept bytes are at most `keep` + 1 times `max_bytes`, and what is written between two calls.
    """
    path, keep = layout.current(slug), max(1, keep)
    with logs.holding(slug):
        try:
            size = path.stat().st_size
            if size < max_bytes:
                return False
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            if size > (room := max_bytes * (keep + 1)) and _shorten(slug, fd, room, now):
                return True
            if not _cut(slug, fd, max_bytes, now):
                return False
        except OSError as error:
            if error.errno not in FULL:
                raise
            return _shorten(slug, fd, max_bytes, now)
        finally:
            os.close(fd)
        _keep(slug, keep, max_bytes * keep)
    return True


def recover(slug: str) -> None:
    """Name the draft of a killed rotation, or delete it if its bytes are still in the log."""
    with logs.holding(slug):
        for draft in layout.logs(slug).glob(f"@*{DRAFT}"):
            size = draft.stat().st_size
            if size and not _same_head(draft, layout.current(slug), size):
                draft.rename(draft.with_suffix(""))
            else:
                draft.unlink()


def _keep(slug: str, most: int, room: int) -> None:
    """Delete archives beyond `most` files or `room` bytes, oldest first. The newest one always
    stays: its end is where `current` begins."""
    *older, newest = logs.archives(slug)
    room -= newest.size
    for nth, part in enumerate(reversed(older), 2):
        room -= part.size
        if nth > most or room < 0:
            part.path.unlink(missing_ok=True)


def _cut(slug: str, fd: int, most: int, now: datetime) -> bool:
    """Archive about `most` bytes in whole blocks, never the whole file. False for a file of less
    than two blocks."""
    size, block = os.fstat(fd).st_size, os.fstatvfs(fd).f_bsize
    head = min((size - 1) // block, max(1, most // block)) * block
    if head <= 0:
        return False
    draft = _draft(slug, logs.list_parts(slug)[-1].start, now)
    out = _new(draft)
    try:
        done, limit = _copy(fd, out, 0, head), size + most
        os.fsync(out)
        if not _collapse(fd, head):
            while (size := min(os.fstat(fd).st_size, limit)) > done:
                done = _copy(fd, out, done, size)
            os.ftruncate(fd, 0)
            os.fsync(out)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(out)
    draft.rename(draft.with_suffix(""))
    return True


def _shorten(slug: str, fd: int, most: int, now: datetime) -> bool:
    """Leave out all but the last `most` bytes. Works on a full disk: nothing is copied, except for
    a tail where the file has to be emptied."""
    *archives, current = logs.list_parts(slug)
    size, block = os.fstat(fd).st_size, os.fstatvfs(fd).f_bsize
    surplus, tail = max(0, size - most) // block * block, b""
    gone = archives if surplus else archives[:-1]
    for part in gone:
        part.path.unlink(missing_ok=True)
    if not surplus:
        return bool(gone)
    if not _collapse(fd, surplus):
        surplus = size - min(most, TAIL)
        tail = os.pread(fd, size - surplus, surplus)
        os.ftruncate(fd, 0)
    left = surplus + sum(part.size for part in gone)
    line = b"[svc left out %d bytes here]\n" % left
    _place(slug, line + tail, current.start + surplus + len(tail), now)
    return True


def _place(slug: str, data: bytes, end: int, now: datetime) -> None:
    """Write an archive of the bytes that end at `end`, which is where `current` then begins."""
    draft = _draft(slug, end - len(data), now)
    try:
        with open(_new(draft), "wb") as file:
            file.write(data)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    draft.rename(draft.with_suffix(""))


def _draft(slug: str, start: int, now: datetime) -> Path:
    """The path where an archive is written until it is complete."""
    name = f"@{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{start}.log"
    return layout.logs(slug) / f"{name}{DRAFT}"


def _new(draft: Path) -> int:
    return os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


def _copy(source: int, target: int, start: int, end: int) -> int:
    """Copy the bytes from `start` to `end`; return `end`."""
    while start < end:
        part = os.pread(source, min(CHUNK, end - start), start)
        if not part:
            raise OSError("the log became shorter while it was copied")
        written = 0
        while written < len(part):
            written += os.write(target, part[written:])
        start += len(part)
    return start


def _collapse(fd: int, size: int) -> bool:
    """Cut out the first `size` bytes; False where the file system cannot."""
    if not COLLAPSES:
        return False
    if _libc.fallocate64(fd, COLLAPSE_RANGE, ctypes.c_int64(0), ctypes.c_int64(size)) == 0:
        return True
    error = ctypes.get_errno()
    if error in UNSUPPORTED | FULL:
        return False
    raise OSError(error, os.strerror(error))


def _same_head(one: Path, other: Path, size: int) -> bool:
    try:
        with opening.reading(one) as a, opening.reading(other) as b:
            while size > 0:
                part = a.read(min(CHUNK, size))
                if part != b.read(len(part)):
                    return False
                size -= len(part)
    except FileNotFoundError:
        return False
    return True
