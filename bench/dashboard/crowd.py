"""D2, D3, S9, S10: five hundred declared apps that all answer, in the whole running service."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.figures import Figure, bounded_figure, percentile
from bench.timing import Connection, busy, milliseconds
from tests.dashboard.served import Served
from tests.service import until

APPS, WATCHED_S, SETTLE_S, REQUESTS = 500, 120, 15, 200
EACH, TARGETS = 10, Path(__file__).with_name("targets.py")


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        empty = Served(Path(folder) / "empty")
        with empty:
            time.sleep(SETTLE_S)
            idle, none = busy([empty.pid], WATCHED_S / 2), _memory(empty)
        with targets(APPS, Path(folder) / "src") as ports:
            full = Served(Path(folder) / "full")
            for number, port in enumerate(ports):
                full.declare(f"app-{number}", f"name: App {number}\nport: {port}\n")
            with full:
                known = _time_until_known(full)
                time.sleep(SETTLE_S)
                used, held = busy([full.pid], WATCHED_S), _memory(full)
                state, floor = (_requests(full, f"/api/{name}") for name in ("state", "health"))
    what = f"{APPS} apps"
    cpu = f"{what} : none, CPU of the whole server"
    return [
        bounded_figure("D2", f"{what} have a state, after the first answer", known, 5, unit="s"),
        bounded_figure("D3", cpu, used, 3, unit="%", floor=idle),
        bounded_figure("S9", f"{what} at 30 s, CPU beyond that of none", used - idle, 3, unit="%"),
        bounded_figure("D3", f"{what}: memory beyond that of none", held - none, 35, unit="MB"),
        bounded_figure(
            "S10", f"/api/state with {what}, p50 : health", state, 15, unit="ms", floor=floor
        ),
    ]


@contextlib.contextmanager
def targets(count: int, folder: Path) -> Iterator[list[int]]:
    """Web servers, ten in each process; each process has its own working directory."""
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


def _time_until_known(served: Served) -> float:
    """Seconds from the server's first answer until no app is unknown or starting."""
    began = time.monotonic()

    def known() -> bool:
        answer = served.api.get("/api/state")
        if answer.status_code == 503:
            return False
        counts = answer.raise_for_status().json()["counts"]
        return bool(counts["up"]) and not counts["unknown"] and not counts["starting"]

    until(known, seconds=60, what="every app has a state")
    return time.monotonic() - began


def _memory(served: Served) -> float:
    return float(psutil.Process(served.pid).memory_info().rss) / 1e6


def _requests(served: Served, path: str) -> float:
    """The median time of a request in milliseconds, over one connection."""
    connection = Connection(served.ports["dashboard"])
    return percentile((milliseconds(lambda: connection.get(path)) for _ in range(REQUESTS)), 0.5)
