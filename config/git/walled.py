"""Git run for a confined process: git, and what reads its directory, see no more than that process.

A process that may write `.git` can replace it between a check and the git that reads it, a thousand
times a second. So checks made in advance do not confine it: the kernel does, each time a file is
opened. While a wall is in force (`behind`), every git is started in a sandbox that contains
the folders of the wall, and `contents` follows no link. Does not need Django. See
docs/design/trust.md#git-that-reads-for-a-turn.
"""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from config.process.light_typing import TYPE_CHECKING, NamedTuple
from config.storage import opening

if TYPE_CHECKING:
    from typing import IO

# A sandbox shows what a path leads to when it starts: that must be the folders that were checked.
SAME = """[ "$(stat -c %d:%i {})" = "{}" ] || {{ echo "fatal: {}" >&2; exit 128; }}; exec "$@\""""
EXCHANGED = "the repository has been replaced by something else"


class Wall(NamedTuple):
    """`prefix`: the command that starts a sandbox, to which further options can be appended.
    `roots`: the real folders that it shows. `check`: a script that runs its arguments if the roots
    are still the same folders."""

    prefix: tuple[str, ...]
    roots: tuple[str, ...]
    check: str = ""

    def holds(self, path: Path | str) -> bool:
        """Whether the path, as it is written, is in one of the roots."""
        text = os.fspath(path)
        return any(text == root or text.startswith(f"{root}/") for root in self.roots)

    def command(self, argv: Sequence[str], cwd: Path, shows: Iterable[Path]) -> list[str]:
        """`argv` as a command in the sandbox. `shows`: folders of ours that it may write."""
        ours = (word for path in shows for word in ("--bind", str(path), str(path)))
        inside = ["--chdir", str(cwd), "--", "/bin/sh", "-c", self.check, "sh", *argv]
        return [*self.prefix, *ours, *inside]


def around(prefix: Sequence[str], roots: Sequence[str]) -> Wall | None:
    """A wall of these folders as they are at this moment; None without a sandbox. Raises OSError if
    one is missing or a link is on the way to it."""
    if not prefix:
        return None
    found = "\n".join(map(_identity, roots))
    return Wall(tuple(prefix), tuple(roots), SAME.format(shlex.join(roots), found, EXCHANGED))


def _identity(folder: str) -> str:
    fd = opening.plainly(folder)
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    return f"{found.st_dev}:{found.st_ino}"


_standing: ContextVar[Wall | None] = ContextVar("wall", default=None)


@contextmanager
def behind(wall: Wall | None) -> Iterator[None]:
    """Put the wall in force inside the block; None takes an outer wall away."""
    before = _standing.set(wall)
    try:
        yield
    finally:
        _standing.reset(before)


def standing() -> Wall | None:
    return _standing.get()


def place() -> tuple[str, ...]:
    """The part of a cache key that stands for the wall: what was read without a wall, while `.git`
    led elsewhere, must not be returned behind one."""
    wall = _standing.get()
    return wall.roots if wall else ()


def contents(path: Path | str, *, limit: int) -> bytes:
    """The bytes of a file of a repository, like `opening.contents`. Behind a wall the file must be
    within it, without a link on the way."""
    if not _standing.get():
        return opening.contents(path, limit=limit)
    with reading(path) as file:
        return opening.whole(file.fileno(), limit)


def reading(path: Path | str) -> IO[bytes]:
    """`contents` as a file that can be read piece by piece."""
    wall = _standing.get()
    if not wall:
        return opening.reading(path)
    if not wall.holds(path):
        raise opening.Outside(errno.EXDEV, "is not shown", os.fspath(path))
    return os.fdopen(opening.plainly(path), "rb")
