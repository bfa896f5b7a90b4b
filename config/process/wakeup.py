"""Wake a sleeping process: named pipes in <SVC_DATA_DIR>/run, one per sleeper.

A ring says only "look again" and carries no data; losing one costs at most the sleeper's own
timeout. Ringing never blocks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
from pathlib import Path
from types import TracebackType

from django.conf import settings


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "run"


class Wakeup:
    """One sleeper. Several processes may sleep on the same name; a ring wakes them all."""

    def __init__(self, name: str) -> None:
        self.path = _folder() / f"{name}.{os.getpid()}.{id(self):x}.bell"
        unseen = self.path.with_suffix(".new")  # a ring removes a pipe without a reader
        unseen.unlink(missing_ok=True)
        os.mkfifo(unseen, 0o600)
        # Read and write: with a writer of our own, the pipe never reads as closed.
        self._pipe = os.open(unseen, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        unseen.rename(self.path)

    def wait(self, seconds: float) -> bool:
        """Sleep until rung, for at most `seconds`; return whether it was rung."""
        ready = readable(self._pipe, seconds)
        if ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._pipe, 65536)
        return ready

    def close(self) -> None:
        self.path.unlink(missing_ok=True)
        os.close(self._pipe)

    def __enter__(self) -> Wakeup:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def readable(fd: int, seconds: float) -> bool:
    """Whether `fd` becomes readable within `seconds`. Works for any descriptor: select() takes none
    above 1023, and a server with many clients has more."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def wake(name: str) -> None:
    """Wake all sleepers of the name ("*": of any name); pipes without a reader are removed."""
    for path in _folder().glob(f"{name}.*.bell"):
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno == errno.ENXIO:
                path.unlink(missing_ok=True)
            continue
        # Full: the sleeper will wake anyway. Broken: it has ended since the pipe was opened.
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(pipe, b"!")
        os.close(pipe)
