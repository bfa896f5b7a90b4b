"""What every git obeys in a repository: no turn writes it outside of bypassPermissions.

The git of the directory's user runs hooks, and what the configuration names, as that user and
outside of any sandbox. What does not exist cannot be covered, so it is made where that changes
nothing for git. Without Django. See docs/design/trust.md#what-your-own-git-obeys.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from config.process.light_typing import NamedTuple

LARGEST, LONGEST = 1 << 20, 8192  # bytes of a configuration, and of a file of one line
MOST = 50  # the most worktrees that are covered one by one
# Files that lead git to another configuration, at once or once it is made to read them.
DETOURS = ("commondir", "config.worktree")
NOTE = "detour-"  # prefix of links in the turn's own directory, which no sandbox shows


class Obeyed(NamedTuple):
    """`pinned`: folders that must not be moved, because what is in a moved folder is no longer
    covered. `covered`: what is read-only. `detours`: files that would lead git to another
    configuration; they must not exist, so they cannot be covered."""

    pinned: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    detours: tuple[str, ...] = ()


def of(top: str) -> Obeyed:
    """The obeyed files of the repository whose work tree begins at `top`, or that is at `top`
    itself. What is a link is not covered."""
    git = os.path.join(top, ".git")
    if os.path.islink(git):
        return Obeyed()
    if os.path.isfile(git):
        found = _of(_beside(git, top), top)
        return found._replace(covered=(git, *found.covered))
    return _of(git if os.path.lexists(git) else top, top)


def _beside(git: str, top: str) -> str:
    """The repository a `.git` file leads to, if that is in the same folder without a link: a bare
    repository with its worktrees beside it. Else the file itself, which is not a repository."""
    from config.storage import opening

    try:
        said = os.fsdecode(opening.contents(git, limit=LARGEST))
        path = os.path.normpath(os.path.join(top, said.removeprefix("gitdir:").strip()))
        inner = os.path.relpath(path, top)
        real = os.path.realpath(path) == os.path.join(os.path.realpath(top), inner)
    except (OSError, ValueError):  # a path cannot contain NUL
        return git
    return path if real and not inner.startswith("..") else git


def _of(git: str, top: str) -> Obeyed:
    """The obeyed files of the repository at `git`; empty if there is none."""
    if not os.path.isfile(os.path.join(git, "HEAD")) or not os.path.isdir(f"{git}/objects"):
        return Obeyed()
    info = os.path.join(git, "info")
    folders, found = [os.path.join(git, "hooks"), info], [os.path.join(git, "config")]
    found.append(os.path.join(info, "attributes"))
    detours = [os.path.join(git, name) for name in DETOURS]
    if _has_own_configuration(found[0]):
        found.append(detours[1])
    with suppress(OSError):  # what we cannot make, a command inside cannot either
        _make(folders, found)
    there = [path for path in detours if os.path.lexists(path)]
    away = elsewhere(top)
    covered = dict.fromkeys((folders[0], *found, *there, *away.covered))
    pinned = (*filter(_is_plain, (*_down(git, top), info)), *away.pinned)
    absent = tuple(path for path in detours if path not in there)
    return Obeyed(pinned, tuple(path for path in covered if not _is_odd(path)), absent)


def _down(git: str, top: str) -> list[str]:
    """The folders on the way from `top` down to `git`."""
    found: list[str] = []
    while len(git) > len(top):
        found.insert(0, git)
        git = os.path.dirname(git)
    return found


def elsewhere(top: str) -> Obeyed:
    """What the repository keeps about linked worktrees outside of the directory. No mode lets a
    turn write it: their git obeys it, and a `git worktree prune` that does not see these worktrees
    would delete it."""
    folder = os.path.join(top, ".git", "worktrees")
    if not (_is_plain(os.path.dirname(folder)) and _is_plain(folder)):
        return Obeyed()
    try:
        found = [f"{folder}/{name}" for name in os.listdir(folder)]
    except OSError:
        return Obeyed(covered=(folder,))
    away = [own for own in found if not _lies_in(own, top) and not os.path.islink(own)]
    if len(away) > MOST:
        return Obeyed(covered=(folder,))
    return Obeyed((folder,) if away else (), tuple(away))


def note(detours: Iterable[str], run_dir: str) -> None:
    """Note the detours for what removes the turn's directory; the turn itself may be killed."""
    for path in detours:
        with suppress(FileExistsError):
            os.symlink(path, os.path.join(run_dir, NOTE + os.path.basename(path)))


def take_away(run_dir: str) -> None:
    """Remove detours that appeared since they were noted. Git itself never makes `commondir` there,
    and makes `config.worktree` only where it reads it, as after a `git sparse-checkout` that the
    directory's user ran in the meantime; that one stays."""
    for name in DETOURS:
        with suppress(OSError):
            path = os.readlink(os.path.join(run_dir, NOTE + name))
            git = os.path.dirname(path)
            read = name != DETOURS[0] and _has_own_configuration(os.path.join(git, "config"))
            if not (read or os.path.islink(git)):
                os.unlink(path)


def _lies_in(own: str, top: str) -> bool:
    from config.storage import opening

    try:
        told = os.fsdecode(opening.contents(os.path.join(own, "gitdir"), limit=LONGEST))
    except OSError:
        return False
    return os.path.realpath(os.path.join(own, told.strip())).startswith(f"{top}/")


def _has_own_configuration(config: str) -> bool:
    """Whether git reads `config.worktree`, judged by one configuration file, which is covered."""
    from config.storage import opening

    try:
        return b"worktreeconfig" in opening.contents(config, limit=LARGEST).lower()
    except OSError:
        return False


def _make(folders: list[str], empty: list[str]) -> None:
    for path in folders:
        if not os.path.lexists(path):
            os.mkdir(path)
    for path in empty:
        if not os.path.lexists(path):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))


def _is_plain(folder: str) -> bool:
    return os.path.isdir(folder) and not os.path.islink(folder)


def _is_odd(path: str) -> bool:
    return os.path.islink(path) or os.path.islink(os.path.dirname(path))
