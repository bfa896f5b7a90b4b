"""E4 and E6 for the engines with a model, run for real against scripted servers: how much memory a
turn uses, and how soon it ends after it was stopped. Needs `make engines`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.figures import Figure, bounded_figure, percentile
from config.process import table, tree
from tests.workspace.chats.turns.world import pss_mb
from tests.workspace.engines.conformance.drivers import ALL, Driver, Say, driving

MOST_MB = {"claude": 90, "builtin": 120, "acp": 60}
PROGRAM_MB = 260  # the Claude Code process, in addition to its turn process
STOPS, STOP_MS = 5, 300.0
ANSWER = "A long answer, of which this is the beginning."


def main() -> list[Figure]:
    figures = []
    for name in MOST_MB:
        if missing := ALL[name].missing():
            figures.append(Figure("E4", missing, "", "", None, "", False))
            continue
        with tempfile.TemporaryDirectory() as folder, driving(name, Path(folder)) as driver:
            figures += _turns(driver)
    return figures


def _turns(driver: Driver) -> list[Figure]:
    """Run turns that write until stopped; the largest memory, and the median time to end."""
    held, below, ends = [], [], []
    for _ in range(STOPS):
        driver.expect(Say(ANSWER, held=True))
        running = driver.start()
        running.until(lambda _: _is_read(driver))
        pid = running.child.pid
        parents = {one: process.parent for one, process in table.scan().items()}
        held.append(pss_mb(pid))
        below.append(sum(map(pss_mb, tree.descendants(parents, {pid}) - {pid})))
        began = time.perf_counter()
        running.stop()
        running.end()
        ends.append((time.perf_counter() - began) * 1000)
    name, most = driver.name, MOST_MB[driver.name]
    figures = [
        bounded_figure("E4", f"PSS of a {name} turn process", max(held), most, unit="MB"),
        bounded_figure(
            "E6", f"{name}: Stop to exit, p50", percentile(ends, 0.5), STOP_MS, unit="ms"
        ),
    ]
    if name == "claude":
        what = "PSS of Claude Code and what it starts"
        figures.append(bounded_figure("E4", what, max(below), PROGRAM_MB, unit="MB"))
    return figures


def _is_read(driver: Driver) -> bool:
    """Whether a watcher of the running turn has received anything."""
    path = driver.world.transcript.with_suffix(".live")
    return path.exists() and bool(path.read_bytes())
