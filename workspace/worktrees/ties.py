"""Which repository a work tree belongs to: by the files alone, and only where both say so.

A turn may write the `.git` of the directory that it works in as any other file, and could lead it
to any repository of the machine. That one does not name the directory back. See
docs/design/trust.md#git-of-the-service.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from config.git import command
from config.git.command import GitError
from config.storage import opening
from workspace.engines.base import Linked

LONGEST = 4096  # of a path that git keeps in a file
CONFIG = 1 << 20  # bytes of a configuration


def of(top: Path) -> Linked | None:
    """Where git keeps what belongs to this work tree; None where a link leads there, or what its
    `.git` names does not name it."""
    git = top / ".git"
    if os.path.realpath(git) != str(git):
        return None
    if git.is_dir():
        led = os.path.lexists(git / "commondir")
        return None if led else Linked(str(top), str(git), str(git))
    told = _path(git, "gitdir: ")
    if told is None:
        return None
    own = Path(os.path.realpath(top / told))
    shared = _path(own / "commondir")
    if shared is None:
        return Linked(str(top), str(own), str(own)) if same(_work_tree(own), top) else None
    common, back = Path(os.path.realpath(own / shared)), _path(own / "gitdir")
    if back is None or not same(own / back, git):
        return None
    return Linked(str(top), str(own), str(common)) if own.parent == common / "worktrees" else None


def same(one: Path | None, other: Path) -> bool:
    """Whether both are there, and one: a path has other spellings where case does not count."""
    try:
        return one is not None and one.samefile(other)
    except OSError:
        return False


def _work_tree(own: Path) -> Path | None:
    """The one that a submodule, or a repository whose `.git` is a file, names as its own."""
    with suppress(OSError, GitError):
        told = opening.contents(own / "config", limit=CONFIG)
        asked = ("config", "--file", "-", "--get", "core.worktree")
        found = os.fsdecode(command.run(own, *asked, stdin=told)).removesuffix("\n")
        return own / found if found else None
    return None


def _path(file: Path, head: str = "") -> Path | None:
    """The path that a file of git's holds; None where it is none, or a link."""
    try:
        if file.is_symlink():
            return None
        text = os.fsdecode(opening.contents(file, limit=LONGEST)).strip()
    except OSError:
        return None
    return Path(text.removeprefix(head)) if text.startswith(head) and text else None
