"""D2, D3, S9, S10: five hundred declared apps that all answer, in the whole running service."""

from __future__ import annotations

import contextlib
import http.client
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.dashboard.sizes import Sizes
from bench.figures import Figure, bounded, percentile
from tests.dashboard.served import Served
from tests.service import until

KNOWN_S, CPU_PERCENT, ADDED_MB, STATE_MS = 5, 3, 35, 15
SETTLE_S = 15
EACH, TARGETS = 10, Path(__file__).with_name("targets.py")
REQUESTS = 200


def figures(sizes: Sizes) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        empty = Served(Path(folder) / "empty")
        with empty:
            time.sleep(SETTLE_S)
            idle, none = _cpu(empty, sizes.watched_s / 2), _memory(empty)
        with targets(sizes.apps, Path(folder) / "src") as ports:
            full = Served(Path(folder) / "full")
            for number, port in enumerate(ports):
                full.declare(f"app-{number}", f"name: App {number}\nport: {port}\n")
            with full:
                known = _known(full)
                time.sleep(SETTLE_S)
                busy, all_of_them = _cpu(full, sizes.watched_s), _memory(full)
                state = _requests(full, "/api/state")
                floor = _requests(full, "/api/health")
    what = f"{sizes.apps} apps"
    return [
        bounded("D2", f"{what} have a state, after the first answer", known, KNOWN_S, unit="s"),
        bounded(
            "D3",
            f"{what} : none, CPU of the whole server",
            busy,
            CPU_PERCENT,
            unit="%",
            floor=idle,
        ),
        bounded("S9", f"{what} at 30 s, CPU beyond that of none", busy - idle, 3, unit="%"),
        bounded("D3", f"{what}: memory beyond that of none", all_of_them - none, 35, unit="MB"),
        bounded(
            "S10", f"/api/state with {what}, p50 : health", state, STATE_MS, unit="ms", floor=floor
        ),
    ]


@contextlib.contextmanager
def targets(count: int, folder: Path) -> Iterator[list[int]]:
    """Web servers, ten in each process, each process in a directory of its own."""
    command = [sys.executable, str(TARGETS), str(EACH)]
    with contextlib.ExitStack() as stack:
        processes = []
        for number in range(count // EACH):
            cwd = folder / f"site-{number}"
            cwd.mkdir(parents=True)
            made = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True)
            processes.append(stack.enter_context(made))
            stack.callback(made.kill)
        pipes = [process.stdout for process in processes if process.stdout]
        yield [int(word) for pipe in pipes for word in pipe.readline().split()]


def _known(served: Served) -> float:
    """Seconds until no app is unknown or starting; the server has answered once already."""
    began = time.monotonic()

    def known() -> bool:
        answer = served.api.get("/api/state")
        if answer.status_code == 503:
            return False
        counts = answer.raise_for_status().json()["counts"]
        return bool(counts["up"]) and not counts["unknown"] and not counts["starting"]

    until(known, seconds=60, what="every app has a state")
    return time.monotonic() - began


def _cpu(served: Served, seconds: float) -> float:
    """Percent of one core that the server process uses."""
    server = psutil.Process(served.pid)

    def used() -> float:
        times = server.cpu_times()
        return float(times.user + times.system)

    before = used()
    time.sleep(seconds)
    return (used() - before) / seconds * 100


def _memory(served: Served) -> float:
    return float(psutil.Process(served.pid).memory_info().rss) / 1e6


def _requests(served: Served, path: str) -> float:
    """The median of the milliseconds of a request, over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", served.ports["dashboard"], timeout=10)
    found = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        found.append((time.perf_counter() - began) * 1000)
        assert answer.status == 200
    connection.close()
    return percentile(found, 0.5)
