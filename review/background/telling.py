"""Makes each call once, a moment after it was first requested."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import connections

log = logging.getLogger(__name__)

QUIET_S = 0.1
Key = tuple[str, ...]


class Teller:
    """Makes the calls passed to `later` in one thread of its own, once per key and moment."""

    def __init__(self) -> None:
        self._waiting: dict[Key, Callable[[], object]] = {}
        self._lock = threading.Lock()
        self._some = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="review-events", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._some.set()
        if self._thread is not None:
            self._thread.join(QUIET_S * 10)

    def later(self, key: Key, tell: Callable[[], object]) -> None:
        with self._lock:
            self._waiting[key] = tell
            self._some.set()

    def _run(self) -> None:
        while self._some.wait() and not self._stop.wait(QUIET_S):
            with self._lock:
                waiting, self._waiting = self._waiting, {}
                self._some.clear()
            for tell in waiting.values():
                try:
                    tell()
                except Exception:
                    log.exception("a change was not published")
        connections.close_all()
