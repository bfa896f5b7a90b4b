"""How late a busy machine wakes anybody: what a promise about time cannot be blamed for."""

from __future__ import annotations

import threading
import time

STEP_S = 0.005


class Lateness:
    """While open, a thread asks to be woken every 5 ms; `late_ms` is how late it was, each time."""

    def __init__(self) -> None:
        self.late_ms: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Lateness:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._ended.wait(STEP_S):
            now = time.monotonic()
            self.late_ms.append((now - before - STEP_S) * 1000)
            before = now
