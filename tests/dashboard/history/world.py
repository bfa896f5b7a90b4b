"""A day of one app, told to a recorder, on a clock that the test holds."""

from __future__ import annotations

from dashboard.history.recorder import Recorder

NOON = 1_790_000_000 // 86_400 * 86_400 + 43_200  # a day's noon, in Unix seconds


def started(now: float = NOON) -> Recorder:
    """A recorder as the daemon starts it."""
    recorder = Recorder()
    recorder.load(now)
    return recorder


def probes(
    recorder: Recorder,
    slug: str,
    start: float,
    end: float,
    *,
    state: str = "up",
    every: float = 30,
    us: int | None = 2_000,
) -> None:
    """Probes from `start` up to, not including, `end`."""
    at = start
    while at < end:
        ok = state == "up"
        recorder.add(slug, at, state, us if ok else None, 200 if ok else None, ok=ok)
        at += every
