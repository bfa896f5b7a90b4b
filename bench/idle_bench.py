"""S12 and S13: what the whole service costs when it is not used."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.figures import Figure, bounded_figure
from bench.timing import busy
from tests.service import Service
from tests.wire import EventClient

SETTLE_S, WATCH_S = 10, 60


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        with resting(service) as figures:
            cpu = busy([one.pid for one in service.family()], WATCH_S)
    return [*figures, bounded_figure("S13", "idle CPU of everything", cpu, 1, unit="%")]


@contextmanager
def resting(service: Service) -> Iterator[list[Figure]]:
    """S12, of an idle service with one page open for the length of the block."""
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
        yield [
            bounded_figure("S12", "start to healthy, warm", start, 3, unit="s"),
            bounded_figure("S12", "idle memory, server + qcluster", memory, 260, unit="MB"),
        ]
        page.close()
