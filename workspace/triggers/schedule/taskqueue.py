"""The queue between the processes of one cluster, made to outlive a reader that is killed.

django-q2 guards its reading end by a semaphore, which a killed process never gives back: from then
on no worker takes a task. A record lock goes with the process that holds it.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any, Self

from django_q.queues import Queue


class TaskQueue(Queue):  # type: ignore[misc]
    """django-q2's queue with a reading end that no dead process keeps."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rlock = ProcessLock()


class ProcessLock:
    """A lock between forked processes, as multiprocessing.Queue uses one for its readers."""

    def __init__(self) -> None:
        self._fd, path = tempfile.mkstemp(prefix="svc-queue-")
        Path(path).unlink()
        weakref.finalize(self, os.close, self._fd)

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        if timeout is not None:
            raise NotImplementedError("workers wait without a limit")
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | (0 if block else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        fcntl.lockf(self._fd, fcntl.LOCK_UN)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
