"""S12 and S13: what the whole service costs when nobody asks anything of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.figures import Figure
from tests.service import Service
from tests.wire import EventClient

SETTLE_S, WATCH_S = 10, 60
MOST_MB, MOST_START_S, MOST_CPU = 260, 3.0, 1.0


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        with resting(service) as figures:
            cpu = idle_cpu(service.family())
    return [
        *figures,
        figure("S13", "idle CPU of everything", f"{cpu:.2f} %", "<= 1 %", cpu <= MOST_CPU),
    ]


@contextmanager
def resting(service: Service) -> Iterator[list[Figure]]:
    """S12, of a service that rests with one page open as long as the block lasts."""
    service.start()
    service.stop()
    began = time.monotonic()
    with service:
        start = time.monotonic() - began
        service.http.get("/").raise_for_status()
        page = EventClient(service.ports["main"], "/api/events")
        page.connect()
        time.sleep(SETTLE_S)
        memory = sum(one.memory_full_info().pss for one in service.family()[1:]) / 1e6
        yield at_rest(start, memory)
        page.close()


def at_rest(start: float, memory: float) -> list[Figure]:
    """Seconds from start to healthy, MB of server and qcluster."""
    most = f"<= {MOST_MB} MB"
    return [
        figure("S12", "start to healthy, warm", f"{start:.1f} s", "< 3 s", start < MOST_START_S),
        figure(
            "S12", "idle memory, server + qcluster", f"{memory:.0f} MB", most, memory <= MOST_MB
        ),
    ]


def figure(name: str, what: str, ours: str, target: str, ok: bool) -> Figure:
    return Figure(name, what, ours, "", None, target, ok)


def idle_cpu(family: list[psutil.Process]) -> float:
    """Percent of one core that all processes together use."""

    def used() -> float:
        return sum(sum(one.cpu_times()[:2]) for one in family)

    before = used()
    time.sleep(WATCH_S)
    return (used() - before) / WATCH_S * 100
