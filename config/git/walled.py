"""Git on behalf of who is confined: it sees what they see, and their git directory is read so too.

Who may write `.git` may exchange it between a look at it and the git that reads it, a thousand
times a second. So what is looked at before does not hold them: the kernel does, at each file that
is opened. While a wall stands (`behind`), every git that is started runs in a sandbox that has the
folders of the wall, and `contents` follows no link. Without Django.
See docs/design/trust.md#git-that-reads-for-a-turn.
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

# A sandbox shows what a path leads to when it starts: that has to be what was looked at.
SAME = """[ "$(stat -c %d:%i {})" = "{}" ] || {{ echo "fatal: {}" >&2; exit 128; }}; exec "$@\""""
EXCHANGED = "what the repository was is something else by now"


class Wall(NamedTuple):
    """`prefix`: what starts a sandbox, up to where its options may go on. `roots`: real folders
    that it shows; `check`: a script that runs its arguments where they still are what they were."""

    prefix: tuple[str, ...]
    roots: tuple[str, ...]
    check: str = ""

    def holds(self, path: Path | str) -> bool:
        """Whether the path as it is written lies in one of the roots."""
        text = os.fspath(path)
        return any(text == root or text.startswith(f"{root}/") for root in self.roots)

    def command(self, argv: Sequence[str], cwd: Path, shows: Iterable[Path]) -> list[str]:
        """`argv` in the sandbox; `shows`: folders of ours that this one writes."""
        ours = (word for path in shows for word in ("--bind", str(path), str(path)))
        inside = ["--chdir", str(cwd), "--", "/bin/sh", "-c", self.check, "sh", *argv]
        return [*self.prefix, *ours, *inside]


def around(prefix: Sequence[str], roots: Sequence[str]) -> Wall | None:
    """A wall of these folders as they are now; None without a sandbox. OSError where one is not
    there, or a link stands in the way."""
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
    """Whatever is done here is done behind the wall; None takes away the one that stands."""
    before = _standing.set(wall)
    try:
        yield
    finally:
        _standing.reset(before)


def standing() -> Wall | None:
    return _standing.get()


def place() -> tuple[str, ...]:
    """What stands for the wall where something is remembered: what was read without one, while
    `.git` led elsewhere, is told to nobody behind it."""
    wall = _standing.get()
    return wall.roots if wall else ()


def contents(path: Path | str, *, limit: int) -> bytes:
    """The bytes of a file of a repository, as `opening.contents`; behind a wall, of one that lies
    within it without a link on the way."""
    if not _standing.get():
        return opening.contents(path, limit=limit)
    with reading(path) as file:
        return opening.whole(file.fileno(), limit)


def reading(path: Path | str) -> IO[bytes]:
    """The same for reading piece by piece."""
    wall = _standing.get()
    if not wall:
        return opening.reading(path)
    if not wall.holds(path):
        raise opening.Outside(errno.EXDEV, "is not shown", os.fspath(path))
    return os.fdopen(opening.plainly(path), "rb")
