"""Names and joins from outside: one safe segment, one path that stays below its root.

A check by name is only a snapshot; to open a file, pass `within=` to files.py, which checks what
was really opened.
"""

from __future__ import annotations

import errno
import os
import re
import stat as modes
from pathlib import Path

from config.errors import Invalid

MAX_BYTES = 255
_UNFIT = re.compile(r"[/\x00-\x1f\x7f]")


class UnsafePath(Invalid):
    """A name that is not a plain file name, or a path that leaves its root."""


def segment(name: str) -> str:
    """The name itself, if it can be a path segment on every supported file system."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise UnsafePath("a file name must be valid Unicode") from None
    if name in {"", ".", ".."}:
        raise UnsafePath(f'"{name}" is not a file name')
    if _UNFIT.search(name):
        raise UnsafePath('a file name must not hold "/" or control characters')
    if size > MAX_BYTES:
        raise UnsafePath(f"a file name must not be longer than {MAX_BYTES} bytes")
    return name


def inside(root: Path, relative: str) -> Path:
    """`root / relative`, if it is below root with symlinks followed. The file need not exist."""
    names = [segment(part) for part in relative.split("/")]
    path = root.joinpath(*names)
    if not _plain(root, names) and not contains(root, path):
        raise UnsafePath(f'"{relative}" leaves its folder')
    return path


def _plain(root: Path, names: list[str]) -> bool:
    """Whether nothing below root is a link, as is nearly always so: then nothing can lead out of
    it, and the links above it need not be followed."""
    at = str(root)
    for name in names:
        at = f"{at}/{name}"
        try:
            mode = os.lstat(at).st_mode
        except FileNotFoundError:
            return True
        except OSError:
            return False
        if modes.S_ISLNK(mode):
            return False
    return True


def contains(root: Path, path: Path) -> bool:
    """Whether `path`, with every symlink followed, is below `root`."""
    try:
        path.stat()
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR}:
            return False
    return not leads_out(root, path)


def leads_out(root: Path, path: Path) -> bool:
    """Whether links lead the path, which need not exist, out of `root`."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def own_folder(root: Path, folder: Path) -> bool:
    """Whether to follow a folder directly in one of our own: a link only if it leads below `root`.
    Cheap if it is not a link."""
    return not folder.is_symlink() or contains(root, folder)
