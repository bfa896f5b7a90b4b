"""How many may wait at once for what takes long: each holds a thread that views need too."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from config.kernel.errors import Conflict

MOST = 16  # half the threads of the process (config.kernel.web.threads)

_free = threading.BoundedSemaphore(MOST)


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Wait for a service within. Conflict `busy` when too many do; nothing was begun then."""
    if not _free.acquire(blocking=False):
        raise Conflict(f"{MOST} actions on services are under way; try again soon.", code="busy")
    try:
        yield
    finally:
        _free.release()
