"""Names what keeps the loop from turning: a look once a second, from a thread of its own (1.2)."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from types import FrameType

from dashboard.daemon.loop import Loop

log = logging.getLogger(__name__)

EVERY_S, LONG_S = 1.0, 0.1


class Meter(threading.Thread):
    """Asks the loop to answer; one that takes over 100 ms is logged with what ran meanwhile."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(name="svc-dashboard-lag", daemon=True)
        self._loop = loop
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            self.look()

    def look(self) -> float:
        """Seconds the loop took to answer; at most until it has ended."""
        answered, began = threading.Event(), time.monotonic()
        self._loop.soon(answered.set)
        if not answered.wait(LONG_S):
            what = self._running()
            while not (
                answered.wait(LONG_S) or self._loop.ended.is_set() or self._stopping.is_set()
            ):
                pass
            ms = round((time.monotonic() - began) * 1000)
            log.warning("the dashboard's loop stood still", extra={"ms": ms, "task": what})
        return time.monotonic() - began

    def stop(self) -> None:
        self._stopping.set()

    def _running(self) -> str:
        """The task, or where there is none the function, that has the loop now."""
        loop = self._loop.running
        task = asyncio.current_task(loop) if loop is not None else None
        frame = sys._current_frames().get(self._loop.ident or 0)
        where = _innermost(frame)
        return f"{task.get_name()}: {where}" if task is not None else where


def _innermost(frame: FrameType | None) -> str:
    """The function of ours that was entered last."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(("dashboard.", "config.")):
            return f"{module}.{frame.f_code.co_qualname}"
        frame = frame.f_back
    return "the event loop"
