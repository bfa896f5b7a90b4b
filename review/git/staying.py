"""Long-running git processes that are reused: two of a kind per repository, limited in all.

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
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

from config.git import command, walled
from config.git.command import GitError
from review.git.repository import Repository

KEPT = 2  # idle ones of a kind per repository; a caller that finds none starts one
MOST = 64  # idle ones of all repositories: each takes half a megabyte and two open files
IDLE_S = 60.0
MUCH = 64 << 20  # bytes read from one process before it is replaced, to free its caches
READ = 1 << 18

Command = tuple[str, ...]
Place = tuple[Command, Path, bool, tuple[str, ...]]


class Died(Exception):
    """The process ended instead of answering."""


class Staying:
    """One such process, with its output that was read but not consumed yet."""

    def __init__(self, repository: Repository, args: Command) -> None:
        self.process = repository.spawn(*args, stdin=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()
        command.widen(self._out)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._said, self._at = b"", 0
        self.owes = False  # an answer is unfinished, so the process must not be reused
        self.told = 0  # bytes read so far
        self.used = time.monotonic()

    def ask(self, text: str) -> None:
        """Write a request no larger than a pipe holds, so that neither side blocks forever. If the
        process has died, reading the answer raises Died."""
        self.owes = True
        data = text.encode()
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._in, data) :]

    def line(self, deadline: float) -> bytes:
        """Read a line without its line feed. Died or TimeoutError, as from every read."""
        while (end := self._said.find(b"\n", self._at)) < 0:
            self._said, self._at = self._said[self._at :] + self._more(deadline), 0
        found = self._said[self._at : end]
        self._at = end + 1
        return found

    def take(self, size: int, deadline: float) -> bytes:
        """Read `size` bytes and drop the line feed after them."""
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

    def until(self, mark: bytes, timeout: float) -> Iterator[bytes]:
        """Yield everything up to a final mark, piece by piece, each within `timeout` seconds."""
        held = b""
        while not held.endswith(mark):
            whole = max(0, len(held) - len(mark))
            if whole:
                yield held[:whole]
            held = held[whole:] + self._more(time.monotonic() + timeout)
        self.owes = False
        yield held[: -len(mark)]

    def close(self) -> None:
        command.end(self.process)

    def leave(self) -> None:
        """Let go of a process that a fork inherited and that is not a child of this one."""
        self.process.returncode = 0  # so that nothing here waits for it
        command.end(self.process)

    def _more(self, deadline: float) -> bytes:
        if not self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        data = os.read(self._out, READ)
        if not data:
            raise Died
        self.told += len(data)
        return data


_idle: dict[Place, list[Staying]] = {}
_all: set[Staying] = set()
_lock = threading.Lock()
_sweeper: threading.Timer | None = None


def close() -> None:
    """End all idle processes, and cancel the timer that would."""
    global _sweeper  # noqa: PLW0603
    with _lock:
        if _sweeper is not None:
            _sweeper.cancel()
            _sweeper = None
    _sweep(older_than=0.0)


@contextlib.contextmanager
def borrowed(repository: Repository, args: Command, *, fresh: bool = False) -> Iterator[Staying]:
    """A process for the caller's exclusive use; with `fresh`, a new one. It is ended after any
    error and if its answer was not read to the end. GitError timeout.
    """
    place = (args, repository.common_dir, repository.sha256, walled.place())
    git = (None if fresh else _take(place)) or _start(repository, args)
    try:
        yield git
    except BaseException as error:
        _drop(git)
        if isinstance(error, TimeoutError):
            raise GitError("timeout", f"git {args[0]} took too long") from None
        raise
    if git.owes or git.told > MUCH:
        _drop(git)
    else:
        _give_back(place, git)


@contextlib.contextmanager
def answer(repository: Repository, args: Command, lines: str) -> Iterator[Iterator[bytes]]:
    """A process's answer to these lines, piece by piece; it starts at once. The command must echo a
    line that names no object. Died or GitError timeout while the answer is read."""
    mark = f"={token_hex()}\n"  # which no name in a commit can predict
    with borrowed(repository, args) as git:
        git.ask(f"{lines}{mark}")
        yield git.until(mark.encode(), command.TIMEOUT_S)


def _start(repository: Repository, args: Command) -> Staying:
    git = Staying(repository, args)
    with _lock:
        _all.add(git)
    return git


def _take(place: Place) -> Staying | None:
    with _lock:
        idle = _idle.get(place, [])
        git = idle.pop() if idle else None
    if git is not None and git.process.poll() is not None:
        _drop(git)
        return None
    return git


def _give_back(place: Place, git: Staying) -> None:
    git.used = time.monotonic()
    with _lock:
        idle = _idle.setdefault(place, [])
        idle.append(git)
        over = idle.pop(0) if len(idle) > KEPT else _oldest_over()
        _wake_sweeper()
    if over is not None:
        _drop(over)


def _oldest_over() -> Staying | None:
    """Take out the least recently used idle process if there are too many. Call under the lock."""
    if sum(map(len, _idle.values())) <= MOST:
        return None
    return min((idle for idle in _idle.values() if idle), key=lambda idle: idle[0].used).pop(0)


def _drop(git: Staying) -> None:
    with _lock:
        _all.discard(git)
    git.close()


def _wake_sweeper() -> None:
    """Start the timer that ends idle processes, unless it is running. Call under the lock."""
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
        old = [git for idle in _idle.values() for git in idle if git.used <= limit]
        for place, idle in list(_idle.items()):
            _idle[place] = [git for git in idle if git.used > limit]
            if not _idle[place]:
                del _idle[place]
    for git in old:
        _drop(git)


def _on_fork() -> None:
    """In a forked child, let go of all processes: they belong to the parent."""
    global _lock, _sweeper
    _lock, _sweeper = threading.Lock(), None
    for git in _all:
        git.leave()
    _all.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_on_fork)
atexit.register(close)
