"""What one path of a working tree holds, in git's terms: a mode and the id of its bytes.

Each path is read by name in an open folder, never through a link. Does not need Django, since turn
processes use it too.
"""

from __future__ import annotations

import hashlib
import os
import stat as modes
from collections.abc import Iterator
from contextlib import contextmanager

from config.git import LARGEST
from config.process.light_typing import NamedTuple

FILE, PROGRAM, LINK = "100644", "100755", "120000"
# Code points that file systems of macOS ignore in names, as listed by git.
_UNSEEN = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
_ABOVE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(NamedTuple):
    """An entry as git names it: the mode, and the id of the blob; "" in an index for a file that
    `git add -N` has announced."""

    mode: str
    oid: str


class EntryContent(NamedTuple):
    """An entry with its bytes, and its permissions as the file system has them."""

    entry: Entry
    data: bytes
    permissions: int


class Odd(Exception):
    """A device, or a file that is too large or changes while it is read. Never touched."""


class Astray(Odd):
    """A path that git never writes: it leads out of the work tree, or into a `.git`."""


def astray(path: str) -> bool:
    """Whether git itself would refuse to write this path. A turn may write trees and indexes, and
    git commands that read them do not check the names in them."""
    parts = path.split("/")
    return "\0" in path or any(
        part in ("", os.curdir, os.pardir) or part.translate(_UNSEEN).lower() == ".git"
        for part in parts
    )


@contextmanager
def folder_of(root: str, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Open the folder of `path` below `root`, a real path, and yield its descriptor and the last
    name. No link is followed, not even one that has since been put into the path of the root.

    Raises Astray for a path that git would not write, OSError if the folder is missing or a link or
    file is in its place. With `make`, missing folders are made.
    """
    if astray(path):
        raise Astray(path)
    *above, name = path.split("/")
    fd = _open_root(root)
    try:
        for part in above:
            if make:
                _make(part, fd)
            fd = _step(fd, part, _FOLDER)
        yield fd, name
    finally:
        os.close(fd)


def _open_root(root: str) -> int:
    *above, last = root.strip("/").split("/")
    fd = os.open("/", _ABOVE)
    try:
        for part in above:
            fd = _step(fd, part, _ABOVE)
        return os.open(last or ".", _FOLDER, dir_fd=fd)
    finally:
        os.close(fd)


def _step(folder: int, part: str, flags: int) -> int:
    inner = os.open(part, flags, dir_fd=folder)
    os.close(folder)
    return inner


def _make(part: str, folder: int) -> None:
    try:
        os.mkdir(part, dir_fd=folder)
    except FileExistsError:
        return


def find(folder: int, name: str, *, sha256: bool) -> EntryContent | None:
    """The file or link of that name, or None. Raises Odd for what git stores in no tree."""
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if modes.S_ISLNK(there.st_mode):
            data = os.fsencode(os.readlink(name, dir_fd=folder))
            return EntryContent(Entry(LINK, oid(data, sha256=sha256)), data, 0)
        if modes.S_ISDIR(there.st_mode):
            return None  # git knows only the files in a folder
        if not modes.S_ISREG(there.st_mode):
            raise Odd(name)
        return _file(folder, name, sha256)
    except FileNotFoundError:
        return None


def _file(folder: int, name: str, sha256: bool) -> EntryContent:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, dir_fd=folder)
    with os.fdopen(fd, "rb") as file:
        there = os.fstat(fd)
        if not modes.S_ISREG(there.st_mode) or there.st_size > LARGEST:
            raise Odd(name)
        data = file.read(LARGEST + 1)
        if len(data) != os.fstat(fd).st_size:
            raise Odd(name)
    mode = PROGRAM if there.st_mode & 0o100 else FILE
    return EntryContent(Entry(mode, oid(data, sha256=sha256)), data, modes.S_IMODE(there.st_mode))


def at(root: str, path: str, *, sha256: bool) -> EntryContent | None:
    """`find` for the path below a root; None also if its folder does not exist."""
    try:
        with folder_of(root, path) as (folder, name):
            return find(folder, name, sha256=sha256)
    except (FileNotFoundError, NotADirectoryError):
        return None


def mode_at(root: str, path: str) -> int:
    """The mode of what lies at the path below a root, as the file system has it; 0 if git sees
    nothing there."""
    try:
        with folder_of(root, path) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except (OSError, Astray):
        return 0


def is_stored(mode: int) -> bool:
    """Whether git stores what has this mode, as the file system has it: a file or a link."""
    return modes.S_ISREG(mode) or modes.S_ISLNK(mode)


def oid(data: bytes, *, sha256: bool) -> str:
    """The id that git gives to these bytes."""
    made = hashlib.new("sha256" if sha256 else "sha1", usedforsecurity=False)
    made.update(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest()
