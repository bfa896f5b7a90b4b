"""The repository that is a directory's own: the two name each other, and no link leads out of it.

An agent may write `.git` like any other file. If only one side had to name the other, write access
to one directory would open every repository of the machine. Reads git's own small files; git itself
is run only for a submodule. Does not need Django. See
docs/design/trust.md#a-repository-names-its-directory.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from config.git import command
from config.git.command import GitError
from config.process.light_typing import NamedTuple
from config.storage import opening

PARTS = (
    "HEAD", "index", "config", "config.worktree", "shallow", "packed-refs", "refs", "reftable",
    "logs", "logs/HEAD", "logs/refs", "objects", "objects/info", "objects/info/alternates",
    "worktrees",
)  # fmt: skip
STRANGE = (
    "its .git leads to a repository that does not name this directory; run in it: git worktree "
    'repair where it was moved, git config core.worktree "$PWD" where --separate-git-dir made it'
)
LONGEST, LARGEST = 8192, 1 << 16  # bytes of a one-line file, and of a file of some lines
DEEPEST = 5  # levels of repositories that borrow from each other: git's own limit


class Owned(NamedTuple):
    """`git_dir` is the directory's own part, `common` is what all its worktrees share: real
    paths."""

    git_dir: Path
    common: Path


def of(top: Path) -> Owned:
    """The repository of a work tree's top, or a bare one. Raises GitError with the reason if it is
    not this directory's own; what else git requires is not checked."""
    found = _locate(Path(os.path.realpath(top)))
    if not ((found.git_dir / "HEAD").is_file() and (found.common / "objects").is_dir()):
        raise GitError("not_git", f"Not a git repository: {top}")
    for part in dict.fromkeys(found):
        _refuse_links(part, PARTS)
    _refuse_linked_objects(found.common / "objects")
    return found


def all_alternates(common: Path) -> list[Path]:
    """The object folders it borrows from, as with `git clone --reference`, and those that they
    borrow from. Raises GitError where git would find more of them than this does."""
    found: dict[Path, None] = {}
    level = [common / "objects"]
    for _ in range(DEEPEST):
        level = [place for objects in level for place in _alternates(objects)]
        for place in level:
            _refuse_linked_objects(place)
        found |= dict.fromkeys(level)
    if any(_alternates(objects) for objects in level):
        raise GitError("failed", f"{common} borrows objects over more than {DEEPEST} steps")
    return list(found)


def _locate(top: Path) -> Owned:
    dot_git = top / ".git"
    _refuse_links(top, [".git"])
    if os.path.lexists(dot_git) and not dot_git.is_dir():
        return _linked_repository(top, dot_git)
    git_dir = dot_git if dot_git.is_dir() else top
    if os.path.lexists(git_dir / "commondir"):
        raise GitError("failed", f"{git_dir} claims to be a work tree of another repository")
    return Owned(git_dir, git_dir)


def _linked_repository(top: Path, dot_git: Path) -> Owned:
    """The repository of a linked worktree or of a submodule."""
    told = _line(dot_git)
    if not told.startswith("gitdir:"):
        raise GitError("not_git", f"Not a git repository: {top}")
    git_dir = Path(os.path.realpath(top / told.removeprefix("gitdir:").strip()))
    if os.path.lexists(git_dir / "commondir"):
        common = Path(os.path.realpath(git_dir / _line(git_dir / "commondir")))
        back = os.path.realpath(git_dir / _line(git_dir / "gitdir"))
        own = back == str(dot_git) and git_dir.parent == common / "worktrees"
    else:
        common, own = git_dir, _work_tree(git_dir) == str(top)
    if not own:
        raise GitError("failed", STRANGE)
    return Owned(git_dir, common)


def _work_tree(git_dir: Path) -> str:
    """The work tree that a repository with a separate work tree names; "" if it names none."""
    for name in ("config.worktree", "config"):
        file = git_dir / name
        if file.is_file():
            found = file.stat()
            stamp = (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino)
            if told := _core_worktree(file, stamp):
                return os.path.realpath(git_dir / told.removesuffix("\n"))
    return ""


@lru_cache(256)
def _core_worktree(file: Path, stamp: tuple[int, ...]) -> str:
    """core.worktree of a file, cached by its stamp: each load of a page opens its repositories."""
    asked = ("config", "--file", str(file), "--get", "core.worktree")
    return os.fsdecode(command.run(file.parent, *asked, accepted=(0, 1, 128)))


def _line(path: Path) -> str:
    if path.is_symlink():
        raise GitError("failed", f"{path} is a link")
    try:
        return os.fsdecode(opening.contents(path, limit=LONGEST)).strip()
    except OSError:
        raise GitError("failed", STRANGE) from None


def _alternates(objects: Path) -> list[Path]:
    try:
        told = opening.contents(objects / "info/alternates", limit=LARGEST, within=objects)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise GitError("failed", f"{objects}/info/alternates: {error}") from None
    lines = [line for line in told.split(b"\n") if line and not line.startswith(b"#")]
    if any(line.startswith(b'"') for line in lines):
        raise GitError("failed", f"{objects}/info/alternates has a quoted path")
    return [Path(os.path.realpath(objects / os.fsdecode(line))) for line in lines]


def _refuse_links(folder: Path, names: tuple[str, ...] | list[str]) -> None:
    top = os.fspath(folder)  # str for speed: a list of projects checks all of them
    linked = next((name for name in names if os.path.islink(f"{top}/{name}")), None)  # noqa: PTH114
    if linked is not None:
        raise GitError("failed", f"{folder / linked} is a link")


def _refuse_linked_objects(objects: Path) -> None:
    """Refuse links in the folder of loose objects and among the packs."""
    for folder in (objects, objects / "pack"):
        try:
            with os.scandir(folder) as found:
                names = [one.name for one in found if one.is_symlink()]
        except OSError:
            continue
        _refuse_links(folder, names)
