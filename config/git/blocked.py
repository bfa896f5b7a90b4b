"""Why a git that took too long may have waited: a FIFO in the place of a file that git reads.

Git opens the rules of each folder of a work tree, and the opening of a FIFO waits for a writer.
Looked for only after a command has taken too long.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from pathlib import Path

RULES = frozenset((".gitignore", ".gitattributes"))
LOOK_S = 1.0


def reason(directory: Path) -> str:
    """The part of a sentence that names the FIFO and what to do; "" if none was found in a
    second."""
    found = _fifo(directory)
    return f": {found} is a FIFO, which git waits for; remove it" if found else ""


def _fifo(directory: Path) -> str | None:
    deadline, folders = time.monotonic() + LOOK_S, deque([os.fspath(directory)])
    while folders and time.monotonic() < deadline:
        try:
            with os.scandir(folders.popleft()) as entries:
                for entry in entries:
                    if entry.name in RULES and _is_fifo(entry):
                        return entry.path
                    if entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:  # unreadable, or gone since it was listed
            continue
    return None


def _is_fifo(entry: os.DirEntry[str]) -> bool:
    return stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode)
