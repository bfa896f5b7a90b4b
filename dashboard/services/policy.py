"""Whether and when an ended service is started again. Works on numbers, without a clock."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

FIRST_S, LONGEST_S, JITTER = 1.0, 30.0, 0.1
STEADY_S = 60.0  # after a run of this length the count starts again
SHORT_S, WINDOW_S, MOST_STARTS = 10.0, 60.0, 5


def wants_restart(policy: str, *, clean: bool) -> bool:
    """Whether to restart. `clean`: the command exited with 0."""
    return policy == "always" or (policy == "on-failure" and not clean)


@dataclass(slots=True)
class Restarts:
    """The starts of one service since the user last acted or a run was last steady."""

    attempts: int = 0
    _short: deque[float] = field(default_factory=deque)

    def count_run(self, *, started: float, now: float) -> None:
        """Count a run that ended; both times in seconds of one clock."""
        if now - started >= STEADY_S:
            self.reset()
        if now - started < SHORT_S:
            self._short.append(started)
        while self._short and self._short[0] < now - WINDOW_S:
            self._short.popleft()

    @property
    def looping(self) -> bool:
        return len(self._short) > MOST_STARTS

    def delay(self) -> float:
        """Seconds to wait before the next start; doubles each time, up to 30 s and some jitter."""
        base = min(LONGEST_S, FIRST_S * float(1 << min(self.attempts, 10)))
        self.attempts += 1
        return base * (1 + random.uniform(0, JITTER))  # noqa: S311 - spreads load, hides nothing

    def reset(self) -> None:
        self.attempts = 0
        self._short.clear()
