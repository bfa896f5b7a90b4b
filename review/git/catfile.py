"""Objects as `git cat-file` tells them, by object id alone: of processes that stay (staying.py)."""

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
WINDOW = 800  # requests on their way: their lines fit a pipe, so neither side waits forever
NO_OID = "0" * 40
NAME = re.compile(f"(?:{SHA.pattern})(?:~[0-9]{{1,2}})?")

Info = tuple[str, int]  # kind (blob, tree, commit, tag) and size in bytes
Object = tuple[str, bytes]  # kind and contents
T = TypeVar("T")


def contents(
    repository: Repository, oids: Iterable[str], timeout: float = command.TIMEOUT_S
) -> Iterator[tuple[str, Object | None]]:
    """Each object in order, as it arrives; None for one that is missing or that git dies of. A
    commit may also be asked for as `<id>~<n>`, n first parents below another,
    of which n has at most two digits.

    GitError timeout when git says nothing of an object for so long.
    """
    return _answers(repository, oids, _contents, timeout)


def infos(
    repository: Repository, oids: Iterable[str], timeout: float = command.TIMEOUT_S
) -> Iterator[tuple[str, Info | None]]:
    """Kind and size of each object in order, as `contents`."""
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
                if fresh and not done:  # it is this object that git dies of
                    yield window[0], None
                    done = 1
                fresh = True
            window = window[done:]


def _contents(git: Staying, oids: Sequence[str], timeout: float) -> Iterator[Object | None]:
    """The objects in order, None for a missing one. At most WINDOW; take them all."""
    _ask(git, "contents", oids)
    for _ in oids:
        deadline = time.monotonic() + timeout
        info = _header(git, deadline)
        yield info and (info[0], git.take(info[1], deadline))


def _infos(git: Staying, oids: Sequence[str], timeout: float) -> Iterator[Info | None]:
    """Kinds and sizes in order. At most WINDOW; take them all."""
    _ask(git, "info", oids)
    for _ in oids:
        yield _header(git, time.monotonic() + timeout)


def _ask(git: Staying, verb: str, oids: Sequence[str]) -> None:
    lines = [f"{verb} {oid if NAME.fullmatch(oid) else NO_OID}\n" for oid in oids]
    git.ask("".join([*lines, "flush\n"]))


def _header(git: Staying, deadline: float) -> Info | None:
    words = git.line(deadline).split(b" ")
    return (words[1].decode(), int(words[2])) if len(words) == 3 else None
