"""Wait for a child to end, and for its output until then.

A pidfd reports the end at once; without pidfds the child is polled every few milliseconds. Light:
turn processes load it too.
"""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False  # `typing` is not loaded for annotations alone

if TYPE_CHECKING:
    import subprocess
    from typing import Any

STEP_S = 0.02


class Ending:
    """The end of one child of ours, and pipes that can be read until then."""

    def __init__(self, child: subprocess.Popen[Any], *pipes: int) -> None:
        self._child = child
        self._poll = select.poll()
        try:
            self._pidfd = os.pidfd_open(child.pid)
            self._poll.register(self._pidfd, select.POLLIN)
        except (AttributeError, OSError):  # the system or kernel has no pidfds
            self._pidfd = -1
        for pipe in pipes:
            self._poll.register(pipe, select.POLLIN)

    def forget(self, pipe: int) -> None:
        self._poll.unregister(pipe)

    def wait(self, seconds: float) -> tuple[bool, set[int]]:
        """Return whether it has ended, and the readable pipes; waits at most `seconds`."""
        if self._pidfd >= 0:
            ready = self._ready(seconds)
            return self._pidfd in ready, ready
        deadline = time.monotonic() + seconds
        while True:
            left = max(0.0, deadline - time.monotonic())
            ready = self._ready(min(left, STEP_S))
            ended = self._child.poll() is not None
            if ended or ready or not left:
                return ended, ready

    def close(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def __enter__(self) -> Ending:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ready(self, seconds: float) -> set[int]:
        return {fd for fd, _ in self._poll.poll(seconds * 1000)}
