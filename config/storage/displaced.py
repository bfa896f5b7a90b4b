"""A displaced file is checked once more, after the answer was sent, before it is removed.

An editor that opened the file before the swap may still write through its old handle; what it wrote
is merged into the file, or kept beside it. One thread while there is work, none otherwise.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from config.storage.drafts import Folder

log = logging.getLogger(__name__)

AFTER_S = 0.2
LINGER_S = 1.0
QUIET_S = 0.1  # a file changed more recently than this is still being written
ROUNDS = 5


@dataclass(slots=True)
class DisplacedFile:
    """One displaced file: where it is, what it held, and how to merge a late save."""

    spare: Path
    target: Path
    was: bytes
    merge: Callable[[bytes], bool]
    rounds: int = 0


_changed = threading.Condition()
_looking = threading.Lock()  # held from the choice of a file until it has been checked
_waiting: deque[tuple[float, DisplacedFile]] = deque()
_thread: threading.Thread | None = None


def watch(left: DisplacedFile) -> None:
    """Have it checked in 200 ms."""
    global _thread  # noqa: PLW0603 - one thread per process is the point
    with _changed:
        _waiting.append((time.monotonic() + AFTER_S, left))
        if _thread is None:
            _thread = threading.Thread(target=_work, name="displaced", daemon=True)
            _thread.start()
        _changed.notify()


def settle() -> None:
    """Check everything at once, and wait for a check under way: at a process's end, in tests."""
    while _look_at_next(float("inf")):
        pass


def _work() -> None:
    global _thread  # noqa: PLW0603
    while True:
        with _changed:
            if not _waiting and not _changed.wait(LINGER_S) and not _waiting:
                _thread = None
                return
            wait = _waiting[0][0] - time.monotonic() if _waiting else 0
            if wait > 0:
                _changed.wait(wait)
                continue
        _look_at_next(time.monotonic())


def _look_at_next(until: float) -> bool:
    """Check the first file that is due by `until`; False if none is."""
    with _looking:
        with _changed:
            if not _waiting or _waiting[0][0] > until:
                return False
            left = _waiting.popleft()[1]
        _look(left)
        return True


def _look(left: DisplacedFile) -> None:
    try:
        with Folder.open(left.spare.parent) as folder:
            _resolve(folder, left)
    except OSError as error:  # the folder is gone, or the disk refuses: the sweep comes later
        log.debug(
            "displaced file not looked at", extra={"file": str(left.spare), "error": str(error)}
        )
    except Exception:
        log.exception("displaced file not merged", extra={"file": str(left.spare)})


def _resolve(folder: Folder, left: DisplacedFile) -> None:
    stat = os.stat(left.spare.name, dir_fd=folder.fd, follow_symlinks=False)
    data = folder.contents(left.spare.name)
    if data == left.was:
        folder.remove(left.spare.name)
    elif left.rounds < ROUNDS and (not data or time.time() - stat.st_mtime < QUIET_S):
        left.rounds += 1
        watch(left)
    elif left.merge(data):
        folder.remove(left.spare.name)
    else:
        folder.keep(left.spare.name, left.target.name)


def _start_afresh() -> None:
    """A forked child has neither the thread nor the work of its parent."""
    global _changed, _looking, _thread  # noqa: PLW0603
    _changed, _looking = threading.Condition(), threading.Lock()
    _waiting.clear()
    _thread = None


os.register_at_fork(after_in_child=_start_afresh)
atexit.register(settle)
