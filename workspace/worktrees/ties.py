"""Which repository a work tree belongs to: by the files alone, and only where both say so.

A turn may write the `.git` of the directory that it works in as any other file, and could lead it
to any repository of the machine. That one does not name the directory back. See
docs/design/trust.md#git-of-the-service.
"""

from __future__ import annotations

import os
from pathlib import Path

from config.git import owning
from config.git.command import GitError
from workspace.engines.base import Linked

UNTIED = "{} is in no git repository that names it"
LINKED = "{} is reached by a link by now: put it back there, or start a new chat where it is"
At = Path | Linked  # the top of a work tree, or what was found out about it


def of(top: Path) -> Linked | None:
    """Where git keeps what belongs to this work tree; None where that is not its own."""
    try:
        return tied(top)
    except GitError:
        return None


def tied(top: Path) -> Linked:
    """The same. GitError with the reason where it is not, or a link leads out of it."""
    git = top / ".git"
    if os.path.realpath(top) != str(top):
        raise GitError("not_git", LINKED.format(top))
    if os.path.realpath(git) != str(git) or not os.path.lexists(git):
        raise GitError("not_git", UNTIED.format(top))
    found = owning.of(top)
    return Linked(str(top), str(found.git_dir), str(found.common))


def at(place: At) -> Linked:
    """The same, of a top or of what was asked a moment ago: to ask takes as long as many a git."""
    return place if isinstance(place, Linked) else tied(place)


def same(one: Path, other: Path) -> bool:
    """Whether both are there, and one: a path has other spellings where case does not count."""
    try:
        return one.samefile(other)
    except OSError:
        return False
