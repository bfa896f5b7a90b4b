"""Temporary files beside their target, and the open folder in which every step of a write happens.

Names say what a crash left: no reader ever saw `.svc-tmp-<pid>-<random>`; a name that goes on with
`-<old>-<new>-<name>~` may hold a save by hand, unless the file's hash is one of the two.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import secrets
import stat as modes
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from config.storage import opening, syscalls

log = logging.getLogger(__name__)

LIMIT = 64 * 1024 * 1024  # bytes of a file that is written, put back or merged
PREFIX = ".svc-tmp-"
SHORT = 16  # hex characters of a hash in a name


def etag_of(data: bytes) -> str:
    """The version of a file that holds these bytes: their sha256, in hex."""
    return hashlib.sha256(data).hexdigest()


def draft_name(target: str = "", old: str = "", new: str = "") -> str:
    """A fresh name for a draft; with a target, for one that is about to be exchanged with it."""
    name = f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
    if not target:
        return name
    name = f"{name}-{old[:SHORT] or 'none'}-{new[:SHORT] or 'none'}-"
    return name + (target if len(os.fsencode(name + target)) <= 250 else "file") + "~"


@dataclass(frozen=True, slots=True)
class Folder:
    """An open directory. It stays the same if a part of its path is replaced by a symlink."""

    path: Path
    fd: int

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Folder]:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield cls(path, fd)
        finally:
            os.close(fd)

    def sync(self) -> None:
        syscalls.again(syscalls.fsync, self.fd)

    def move(self, old: str, new: str) -> None:
        """Rename a file to a free name; FileExistsError if it is taken."""
        try:
            syscalls.again(syscalls.move, old, new, self.fd)
        except OSError as error:
            if error.errno not in syscalls.UNSUPPORTED:
                raise
            self._link(old, new)
            syscalls.again(syscalls.unlink, old, self.fd)

    def swap(self, draft: str, target: str) -> None:
        """Exchange draft and target; almost atomic on a system without RENAME_EXCHANGE."""
        try:
            syscalls.again(syscalls.exchange, draft, target, self.fd)
        except OSError as error:
            if error.errno not in syscalls.UNSUPPORTED:
                raise
            spare = f"{draft}~"
            self._link(target, spare)
            syscalls.again(syscalls.rename, draft, target, self.fd)
            syscalls.again(syscalls.rename, spare, draft, self.fd)

    def keep(self, spare: str, target: str) -> str:
        """Keep what could not be merged beside its target. Return the name it got."""
        short = os.fsencode(target)[:200].decode(errors="ignore")
        stem = f"{short}.conflict-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        for number in range(1, 1000):
            name = stem if number == 1 else f"{stem}-{number}"
            with contextlib.suppress(FileExistsError):
                self.move(spare, name)
                log.warning(
                    "kept a save that could not be merged", extra={"file": str(self.path / name)}
                )
                return name
        raise OSError(errno.EEXIST, "no free name", stem)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            syscalls.again(syscalls.unlink, name, self.fd)

    def _link(self, old: str, new: str) -> None:
        """Give a file a second name, or copy it if the file system has no links."""
        try:
            syscalls.again(syscalls.link, old, new, self.fd)
        except OSError as error:
            if error.errno not in syscalls.NO_LINKS:
                raise
            mode = os.stat(old, dir_fd=self.fd, follow_symlinks=False).st_mode & 0o7777
            Draft.compose(self, new, self.contents(old), mode, exact=True)

    def contents(self, name: str) -> bytes:
        """The bytes of a regular file directly in this folder. OSError for anything else."""
        fd = syscalls.again(syscalls.open_at, name, os.O_RDONLY | os.O_NONBLOCK, self.fd)
        try:
            return opening.whole(fd, LIMIT)
        finally:
            os.close(fd)


class Draft:
    """New content under a temporary name, complete and on disk; removed unless it was moved."""

    __slots__ = ("data", "folder", "name", "present", "stat")

    def __init__(self, folder: Folder, name: str, data: bytes, stat: os.stat_result) -> None:
        self.folder = folder
        self.name = name
        self.data = data
        self.stat = stat
        self.present = True

    @classmethod
    @contextmanager
    def write(
        cls, folder: Folder, data: bytes, mode: int, *, exact: bool = False
    ) -> Iterator[Draft]:
        name = draft_name()
        draft = cls(folder, name, data, cls.compose(folder, name, data, mode, exact=exact))
        try:
            yield draft
        finally:
            if draft.present:
                folder.remove(draft.name)

    @staticmethod
    def compose(
        folder: Folder, name: str, data: bytes, mode: int, *, exact: bool
    ) -> os.stat_result:
        """Write a new file with these bytes and flush it. `exact` ignores the umask."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        fd = syscalls.again(syscalls.open_at, name, flags, folder.fd, mode)
        try:
            if exact:
                os.fchmod(fd, mode)
            rest = memoryview(data)
            while rest:
                rest = rest[syscalls.again(syscalls.write, fd, rest) :]
            syscalls.again(syscalls.fsync, fd)
            return os.fstat(fd)
        except BaseException:
            folder.remove(name)
            raise
        finally:
            os.close(fd)

    def rename(self, name: str) -> None:
        syscalls.again(syscalls.rename, self.name, name, self.folder.fd)
        self.name = name

    def mark_gone(self) -> None:
        """Record that the name of the draft holds something else, or nothing."""
        self.present = False


def sweep(directories: Iterable[Path], *, older_than_s: float = 60) -> list[Path]:
    """Remove temporary files that are old or whose writer is dead; a save by hand is kept.

    Returns what was removed or renamed to `.conflict-<stamp>`.
    """
    found = []
    for directory in directories:
        with contextlib.suppress(OSError), Folder.open(directory) as folder:
            for name in os.listdir(folder.fd):  # noqa: PTH208 - of what is open
                if name.startswith(PREFIX) and _is_orphan(folder, name, older_than_s):
                    _discard(folder, name)
                    found.append(directory / name)
    return found


def _is_orphan(folder: Folder, name: str, older_than_s: float) -> bool:
    try:
        found = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
    except OSError:
        return False
    if not modes.S_ISREG(found.st_mode):  # not one of ours, whatever its name is
        return False
    age = time.time() - found.st_ctime
    pid = name.removeprefix(PREFIX).split("-", 1)[0]
    return age >= older_than_s or not (pid.isdigit() and _alive(int(pid)))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _discard(folder: Folder, name: str) -> None:
    parts = name.removeprefix(PREFIX).split("-", 4)
    if len(parts) == 5 and _hash(folder, name)[:SHORT] not in parts[2:4]:
        folder.keep(name, parts[4].rstrip("~"))
    else:
        folder.remove(name)


def _hash(folder: Folder, name: str) -> str:
    try:
        return etag_of(folder.contents(name))
    except OSError:  # no draft of ours is so large: it is kept, whatever it is
        return ""
