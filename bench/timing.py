"""Clocks that all parts share: of a call, of a call beside its floor, of the CPU of processes."""

from __future__ import annotations

import gc
import http.client
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

Work = Callable[[], object]


def milliseconds(work: Work) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def alternately(
    ours: Work, floor: Work, *, before: Work = tuple, rounds: int = 7
) -> tuple[float, float]:
    """The best of both, in ms. `before` runs ahead of each call of ours, off the clock."""
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        gc.collect()
        least = milliseconds(floor)
        before()
        times.append((milliseconds(ours), least))
    best, least = map(min, zip(*times, strict=True))
    return best, least


def spent(pids: Iterable[int]) -> float:
    """Seconds that these processes have run, with the threads that have ended since."""
    total = 0.0
    for pid in pids:
        with suppress(OSError):  # the process has ended
            total += time.clock_gettime(~pid << 3 | 2)  # its CPU clock, as the C library names it
    return total


def busy(pids: Iterable[int], seconds: float) -> float:
    """Percent of one core that these processes use together."""
    known = list(pids)
    before = spent(known)
    time.sleep(seconds)
    return (spent(known) - before) / seconds * 100


class Connection:
    """One kept connection to a server of this machine."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def get(self, path: str, accept: str = "*/*") -> bytes:
        return self._answer("GET", path, None, {"Accept": accept})

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        return self._answer("POST", path, body, headers)

    def _answer(self, method: str, path: str, body: bytes | None, head: dict[str, str]) -> bytes:
        self._http.request(method, path, body, head)
        answer = self._http.getresponse()
        content = answer.read()
        assert answer.status == 200, (path, answer.status, content[:300])
        return content
