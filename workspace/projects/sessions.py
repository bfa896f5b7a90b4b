"""Directories in which Claude Code and Codex had sessions, according to their own files. These are
only read: the first lines of a few files, and no link out of their folders is followed.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import orjson

from config.storage import opening

CODEX = ".codex/sessions"
FOLDERS = 500  # of Claude Code, one per directory
TRIED = 3  # files tried in each folder
FILES = 300  # of Codex, the newest
ENTRIES = 2000  # of one folder
EDGE = 1 << 16  # bytes read at either end of a file
KNOWN = 2000
CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_known: dict[str, str] = {}  # by path: a session stays in the directory it began in


def of_claude_code() -> Path:
    """The folder in which Claude Code keeps the sessions of the user who runs this service."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"


def claude() -> Iterator[str]:
    """Directories of Claude Code's sessions, the last used first. It has a folder for each
    directory, with a file per session."""
    root = of_claude_code()
    folders = heapq.nlargest(FOLDERS, _entries(root), key=_changed_at)
    for folder in folders:
        files = (one.path for one in _entries(Path(folder.path)) if _is_session(one.name))
        found = (cwd for path in islice(files, TRIED) if (cwd := _cwd(path, root)))
        yield from islice(found, 1)


def codex() -> Iterator[str]:
    """Directories of Codex's sessions, the newest first. It has a file per session, in a folder
    per day."""
    root = Path.home() / CODEX
    for path in islice(_newest(root, 3), FILES):
        if cwd := _cwd(path, root):
            yield cwd


def ends(
    path: str, size: int = 0, *, within: Path | None = None, edge: int = EDGE
) -> tuple[bytes, bytes]:
    """The first bytes of a session's file and, given its `size`, the last bytes after these.
    OSError if it is not a regular file."""
    fd = opening.regular(path, within=within)
    try:
        head = os.pread(fd, edge, 0)
        return head, os.pread(fd, edge, max(len(head), size - edge)) if size > len(head) else b""
    finally:
        os.close(fd)


def _newest(folder: Path, depth: int) -> Iterator[str]:
    """Sessions below folders of years, months and days; the order of names is that of time."""
    entries = sorted(_entries(folder), key=lambda one: one.name, reverse=True)
    for entry in entries:
        if not depth and _is_session(entry.name):
            yield entry.path
        elif depth and entry.name.isdigit():
            yield from _newest(Path(entry.path), depth - 1)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        return list(islice(entries, ENTRIES))
    return []


def _changed_at(entry: os.DirEntry[str]) -> int:
    with suppress(OSError):
        return entry.stat(follow_symlinks=False).st_mtime_ns
    return 0


def _is_session(name: str) -> bool:
    return name.endswith(".jsonl")


def _cwd(path: str, root: Path) -> str:
    """The directory that the first lines of a session name; "" if none."""
    if (known := _known.get(path)) is not None:
        return known
    with suppress(OSError, ValueError):
        if found := CWD.search(ends(path, within=root)[0]):
            if len(_known) >= KNOWN:
                _known.clear()
            _known[path] = str(orjson.loads(found[1]))
            return _known[path]
    return ""
