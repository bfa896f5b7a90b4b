"""`git cat-file` processes that stay: two per repository, asked by object id alone.

One that dies or hangs is replaced; all end when unused for a minute, and with this process. A
forked child starts with none.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from config.git import command, walled
from config.git.command import GitError
from review.git.output import SHA
from review.git.repository import Repository

KEPT = 2  # idle ones per repository; a caller that finds none idle starts one
IDLE_S = 60.0
WINDOW = 800  # requests on their way: their lines fit a pipe, so neither side waits forever
READ = 1 << 18
NO_OID = "0" * 40

Info = tuple[str, int]  # kind (blob, tree, commit, tag) and size in bytes
Object = tuple[str, bytes]  # kind and contents
ReaderKey = tuple[Path, bool, tuple[str, ...]]
T = TypeVar("T")


class Died(Exception):
    """The process ended instead of answering."""


class Reader:
    """One `cat-file --batch-command`, with what it has said and was not taken yet."""

    def __init__(self, repository: Repository) -> None:
        self.process = repository.spawn(
            "cat-file", "--batch-command", "--buffer", stdin=subprocess.PIPE
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()
        command.widen(self._out)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._said, self._at = b"", 0
        self.used = time.monotonic()

    def contents(self, oids: Sequence[str], timeout: float) -> Iterator[Object | None]:
        """The objects in order, None for a missing one. At most WINDOW; take them all."""
        self._ask("contents", oids)
        for _ in oids:
            deadline = time.monotonic() + timeout
            info = self._header(deadline)
            yield info and (info[0], self._bytes(info[1], deadline))

    def infos(self, oids: Sequence[str], timeout: float) -> Iterator[Info | None]:
        """Kinds and sizes in order. At most WINDOW; take them all."""
        self._ask("info", oids)
        for _ in oids:
            yield self._header(time.monotonic() + timeout)

    def close(self) -> None:
        command.end(self.process)

    def leave(self) -> None:
        """Let go of a process that is not this one's child: what a fork inherited."""
        self.process.returncode = 0  # nothing waits for it here
        command.end(self.process)

    def _ask(self, verb: str, oids: Sequence[str]) -> None:
        lines = [f"{verb} {oid if SHA.fullmatch(oid) else NO_OID}\n" for oid in oids]
        data = "".join([*lines, "flush\n"]).encode()
        try:
            while data:
                data = data[os.write(self._in, data) :]
        except OSError:
            raise Died from None

    def _header(self, deadline: float) -> Info | None:
        while (end := self._said.find(b"\n", self._at)) < 0:
            self._said, self._at = self._said[self._at :] + self._more(deadline), 0
        words = self._said[self._at : end].split(b" ")
        self._at = end + 1
        return (words[1].decode(), int(words[2])) if len(words) == 3 else None

    def _bytes(self, size: int, deadline: float) -> bytes:
        """So many bytes; the line feed behind them is dropped."""
        end = self._at + size
        if len(self._said) <= end:
            parts = [self._said[self._at :]]
            held = len(parts[0])
            while held <= size:
                parts.append(self._more(deadline))
                held += len(parts[-1])
            self._said, self._at, end = b"".join(parts), 0, size
        found = self._said[self._at : end]
        self._at = end + 1
        return found

    def _more(self, deadline: float) -> bytes:
        if not self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        data = os.read(self._out, READ)
        if not data:
            raise Died
        return data


_idle: dict[ReaderKey, list[Reader]] = {}
_all: set[Reader] = set()
_lock = threading.Lock()
_sweeper: threading.Timer | None = None


def contents(
    repository: Repository, oids: Iterable[str], timeout: float = command.TIMEOUT_S
) -> Iterator[tuple[str, Object | None]]:
    """Each object in order, as it arrives; None for one that is missing or that git dies of.

    GitError timeout when git says nothing of an object for so long.
    """
    return _answers(repository, oids, Reader.contents, timeout)


def infos(
    repository: Repository, oids: Iterable[str], timeout: float = command.TIMEOUT_S
) -> Iterator[tuple[str, Info | None]]:
    """Kind and size of each object in order, as `contents`."""
    return _answers(repository, oids, Reader.infos, timeout)


def close() -> None:
    """End all processes that are not in use right now, and the timer that would."""
    global _sweeper  # noqa: PLW0603
    with _lock:
        if _sweeper is not None:
            _sweeper.cancel()
            _sweeper = None
    _sweep(older_than=0.0)


def _answers(
    repository: Repository,
    oids: Iterable[str],
    ask: Callable[[Reader, Sequence[str], float], Iterator[T | None]],
    timeout: float,
) -> Iterator[tuple[str, T | None]]:
    queue = iter(oids)
    while window := list(islice(queue, WINDOW)):
        fresh = False
        while window:
            done = 0
            try:
                with _borrowed(repository, fresh=fresh) as reader:
                    for found in ask(reader, window, timeout):
                        done += 1
                        yield window[done - 1], found
            except Died:
                if fresh and not done:  # it is this object that git dies of
                    yield window[0], None
                    done = 1
                fresh = True
            window = window[done:]


@contextlib.contextmanager
def _borrowed(repository: Repository, *, fresh: bool) -> Iterator[Reader]:
    """A process of one's own for a while. Whatever goes wrong meanwhile ends it."""
    place = (repository.common_dir, repository.sha256, walled.place())
    reader = (None if fresh else _take(place)) or _start(repository)
    try:
        yield reader
    except BaseException as error:
        _drop(reader)
        if isinstance(error, TimeoutError):
            raise GitError("timeout", "git cat-file took too long") from None
        raise
    _give_back(place, reader)


def _start(repository: Repository) -> Reader:
    reader = Reader(repository)
    with _lock:
        _all.add(reader)
    return reader


def _take(place: ReaderKey) -> Reader | None:
    with _lock:
        idle = _idle.get(place, [])
        reader = idle.pop() if idle else None
    if reader is not None and reader.process.poll() is not None:
        _drop(reader)
        return None
    return reader


def _give_back(place: ReaderKey, reader: Reader) -> None:
    reader.used = time.monotonic()
    with _lock:
        idle = _idle.setdefault(place, [])
        kept = len(idle) < KEPT
        if kept:
            idle.append(reader)
            _wake_sweeper()
    if not kept:
        _drop(reader)


def _drop(reader: Reader) -> None:
    with _lock:
        _all.discard(reader)
    reader.close()


def _wake_sweeper() -> None:
    """Have the idle ones looked at in a while, unless that is due. Under the lock."""
    global _sweeper  # noqa: PLW0603 - one timer per process
    if _sweeper is None:
        _sweeper = threading.Timer(IDLE_S, _sweep_again)
        _sweeper.daemon = True
        _sweeper.name = "git-sweeper"
        _sweeper.start()


def _sweep_again() -> None:
    global _sweeper  # noqa: PLW0603
    _sweep(older_than=IDLE_S)
    with _lock:
        _sweeper = None
        if any(_idle.values()):
            _wake_sweeper()


def _sweep(*, older_than: float) -> None:
    limit = time.monotonic() - older_than
    with _lock:
        old = [reader for idle in _idle.values() for reader in idle if reader.used <= limit]
        for place, idle in list(_idle.items()):
            _idle[place] = [reader for reader in idle if reader.used > limit]
            if not _idle[place]:
                del _idle[place]
    for reader in old:
        _drop(reader)


def _forked() -> None:
    """In a forked child: the processes are the parent's."""
    global _lock, _sweeper
    _lock, _sweeper = threading.Lock(), None
    for reader in _all:
        reader.leave()
    _all.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_forked)
atexit.register(close)
