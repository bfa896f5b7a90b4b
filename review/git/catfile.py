"""Read objects by object id alone, from long-running `git cat-file` processes (staying.py)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from config.git import command
from review.git import staying
from review.git.output import SHA
from review.git.repository import Repository
from review.git.staying import Died, Staying

COMMAND = ("cat-file", "--batch-command", "--buffer")
WINDOW = 800  # requests in flight: their lines fit into a pipe, so neither side blocks forever
NO_OID = "0" * 40
NAME = re.compile(f"(?:{SHA.pattern})(?:~[0-9]{{1,2}})?")

Info = tuple[str, int]  # kind (blob, tree, commit, tag) and size in bytes
Object = tuple[str, bytes]  # kind and contents
T = TypeVar("T")


def contents(
    repository: Repository, oids: Iterable[str], timeout: float = command.TIMEOUT_S
) -> Iterator[tuple[str, Object | None]]:
    """Yield each object in order, as it arrives; None for one that is missing or makes git exit. A
    commit may also be named as `<id>~<n>`, its n-th first-parent ancestor, with n of at most two
    digits.

    GitError timeout if git does not answer for an object within `timeout` seconds.
    """
    return _answers(repository, oids, _contents, timeout)


def infos(
    repository: Repository, oids: Iterable[str], timeout: float = command.TIMEOUT_S
) -> Iterator[tuple[str, Info | None]]:
    """Yield kind and size of each object in order, like `contents`."""
    return _answers(repository, oids, _infos, timeout)


def _answers(
    repository: Repository,
    oids: Iterable[str],
    ask: Callable[[Staying, Sequence[str], float], Iterator[T | None]],
    timeout: float,
) -> Iterator[tuple[str, T | None]]:
    queue = iter(oids)
    while window := list(islice(queue, WINDOW)):
        fresh = False
        while window:
            done = 0
            try:
                with staying.borrowed(repository, COMMAND, fresh=fresh) as git:
                    for found in ask(git, window, timeout):
                        done += 1
                        yield window[done - 1], found
                    git.owes = False
            except Died:
                if fresh and not done:  # this object makes git exit
                    yield window[0], None
                    done = 1
                fresh = True
            window = window[done:]


def _contents(git: Staying, oids: Sequence[str], timeout: float) -> Iterator[Object | None]:
    """The objects in order, None for a missing one. At most WINDOW ids; consume every result."""
    _ask(git, "contents", oids)
    for _ in oids:
        deadline = time.monotonic() + timeout
        info = _header(git, deadline)
        yield info and (info[0], git.take(info[1], deadline))


def _infos(git: Staying, oids: Sequence[str], timeout: float) -> Iterator[Info | None]:
    """Kinds and sizes in order. At most WINDOW ids; consume every result."""
    _ask(git, "info", oids)
    for _ in oids:
        yield _header(git, time.monotonic() + timeout)


def _ask(git: Staying, verb: str, oids: Sequence[str]) -> None:
    lines = [f"{verb} {oid if NAME.fullmatch(oid) else NO_OID}\n" for oid in oids]
    git.ask("".join([*lines, "flush\n"]))


def _header(git: Staying, deadline: float) -> Info | None:
    words = git.line(deadline).split(b" ")
    return (words[1].decode(), int(words[2])) if len(words) == 3 else None
