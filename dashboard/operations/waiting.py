"""How many may wait at once for what takes long: waiting holds what everybody else needs too."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from config.kernel.errors import Conflict

MOST = 16  # half the threads of the process (config.kernel.web.threads)


@dataclass(slots=True)
class Bound:
    """So many at once; `text` is what one more is told."""

    most: int
    text: str
    _free: threading.BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        self._free = threading.BoundedSemaphore(self.most)

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait within. Conflict `busy` when too many do; nothing was begun then."""
        if not self._free.acquire(blocking=False):
            raise Conflict(f"{self.most} {self.text}", code="busy")
        try:
            yield
        finally:
            self._free.release()


waiting = Bound(MOST, "actions on services are under way; try again soon.")
