"""Which repository a work tree belongs to: by its files alone, and only if both name each other.

A turn may write `.git` of the directory in which it works like any other file, and could point it
to any repository of the machine, but that repository does not name the directory back. See
docs/design/trust.md#git-of-the-service.
"""

from __future__ import annotations

import os
from pathlib import Path

from config.git import owning
from config.git.command import GitError
from workspace.engines.base import Linked

UNTIED = "{} is in no git repository that names it"
LINKED = "{} is now reached by a link: put it back there, or start a new chat where it is"
At = Path | Linked  # the top of a work tree, or the result of `get_linked` for it


def of(top: Path) -> Linked | None:
    """Where git keeps the files of this work tree; None if the repository does not name it back."""
    try:
        return get_linked(top)
    except GitError:
        return None


def get_linked(top: Path) -> Linked:
    """The same as `of`, but GitError with the reason instead of None."""
    git = top / ".git"
    if os.path.realpath(top) != str(top):
        raise GitError("not_git", LINKED.format(top))
    if os.path.realpath(git) != str(git) or not os.path.lexists(git):
        raise GitError("not_git", UNTIED.format(top))
    found = owning.of(top)
    return Linked(str(top), str(found.git_dir), str(found.common))


def at(place: At) -> Linked:
    """The result of `get_linked`; an earlier one is reused, as it can take as long as git."""
    return place if isinstance(place, Linked) else get_linked(place)


def same(one: Path, other: Path) -> bool:
    """Whether both exist and are the same: a path can have several spellings if case is ignored."""
    try:
        return one.samefile(other)
    except OSError:
        return False
