"""D1: how soon the stream reports that a dev server was started or killed."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.figures import Figure, bounded_figure
from tests.dashboard.served import Dev, Event, Served, Stream
from tests.service import until

CYCLES, AT_ONCE = 50, 5
SEEN_S, GONE_S = 2.5, 5


def figures() -> list[Figure]:
    seen: list[float] = []
    gone: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Served(Path(folder)) as served,
        served.events() as stream,
    ):
        until(lambda: served.api.get("/api/state").status_code == 200)
        for first in range(0, CYCLES, AT_ONCE):
            devs = _start(served, stream, first, seen)
            _kill(served, stream, devs, gone)
    what = f"{CYCLES} dev servers in directories of their own"
    return [
        bounded_figure("D1", f"{what}: listening → observed, worst", max(seen), SEEN_S, unit="s"),
        bounded_figure("D1", f"{what}: killed → state, worst", max(gone), GONE_S, unit="s"),
    ]


def _start(served: Served, stream: Stream, first: int, took: list[float]) -> list[Dev]:
    """Start some dev servers; record when an event has shown that each is observed."""
    devs = []
    for number in range(first, first + AT_ONCE):
        dev = served.dev_server(f"site-{number}")
        until(lambda dev=dev: listens(dev.port), what="it listens")  # type: ignore[misc]
        began = time.monotonic()
        took.append(_observed_at(served, stream, dev, began) - began)
        devs.append(dev)
    for number in range(first, first + AT_ONCE):
        served.until_state(f"site-{number}", "up", seconds=30)
    return devs


def _kill(served: Served, stream: Stream, devs: list[Dev], took: list[float]) -> None:
    for dev in devs:
        began = time.monotonic()
        dev.kill()

        def ended(one: Event, dev: Dev = dev, began: float = began) -> bool:
            ours = one.get("type") == "state" and one.get("slug") == dev.cwd.name
            return bool(ours and one["at"] >= began and one["state"] in ("stopped", "down"))

        took.append(stream.until(ended, seconds=30)["at"] - began)


def _observed_at(served: Served, stream: Stream, dev: Dev, began: float) -> float:
    """The time of the first event after which the list has the server: other servers start as
    well."""
    passed_over: list[float] = []

    def listed(one: Event) -> bool:
        if one.get("type") != "observed" or one["at"] < began or one["at"] in passed_over:
            return False
        passed_over.append(one["at"])
        return bool(served.observed(dev.port))

    return float(stream.until(listed, seconds=30)["at"])


def listens(port: int) -> bool:
    """Whether the port listens, by the kernel's table, so without connecting."""
    table = Path("/proc/net/tcp").read_text()
    return f":{port:04X} 00000000:0000 0A" in table
