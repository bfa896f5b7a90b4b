"""Keeps a log from growing without end, and loses no byte while its command writes.

The head is copied to an archive, then cut out of the file under the writer: COLLAPSE_RANGE moves
the rest to the front, and O_APPEND writes on at the new end. Where the file system cannot do that
the file is truncated, which can lose what is written between the last look and the cut.
"""

from __future__ import annotations

import ctypes
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

_libc: Any = ctypes.CDLL(None, use_errno=True)
COLLAPSES = hasattr(_libc, "fallocate64")


def rotate(slug: str, *, max_bytes: int, keep: int, now: datetime) -> bool:
    """Whether the log was large enough to be cut. Blocks while bytes are copied."""
    path = layout.current(slug)
    with logs.holding(slug):
        try:
            if path.stat().st_size < max_bytes:
                return False
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            if not _cut(slug, fd, now):
                return False
        finally:
            os.close(fd)
        for part in logs.archives(slug)[: -max(1, keep)]:  # the newest tells where `current` begins
            part.path.unlink(missing_ok=True)
    return True


def recover(slug: str) -> None:
    """After a kill between the copy and its name: the bytes are cut already, or still there."""
    with logs.holding(slug):
        for draft in layout.logs(slug).glob(f"@*{DRAFT}"):
            size = draft.stat().st_size
            if size and not _same_head(draft, layout.current(slug), size):
                draft.rename(draft.with_suffix(""))
            else:
                draft.unlink()


def _cut(slug: str, fd: int, now: datetime) -> bool:
    """Whole blocks only, and never all of the file: less than two blocks are left alone."""
    size, block = os.fstat(fd).st_size, os.fstatvfs(fd).f_bsize
    head = (size - 1) // block * block
    if head <= 0:
        return False
    start = logs.kept(slug)[-1].start
    name = f"@{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{start}.log"
    draft = layout.logs(slug) / f"{name}{DRAFT}"
    out = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        done = _copy(fd, out, 0, head)
        os.fsync(out)
        if not _collapse(fd, head):
            while (size := os.fstat(fd).st_size) > done:
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


def _copy(source: int, target: int, start: int, end: int) -> int:
    """Copies up to a position; returns it."""
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
    """Cut the first `size` bytes out; False where the file system cannot."""
    if not COLLAPSES:
        return False
    if _libc.fallocate64(fd, COLLAPSE_RANGE, ctypes.c_int64(0), ctypes.c_int64(size)) == 0:
        return True
    error = ctypes.get_errno()
    if error in UNSUPPORTED:
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
