"""S1, S3, S4 and S12 in each mode of stores side by side, and what grows with their rows.

Needs Debian's postgresql and redis-server, and requirements-cluster.txt. Lists and requests are
measured in CPU time, so that other work on the machine is not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bench import trigger_bench
from bench.figures import Figure, percentile
from bench.stores import lists, served
from bench.stores.modes import Mode, modes
from tests.service import ROOT, Service

TRIGGERS, SPREAD_S, WATCH_S = 10_000, 60.0, 30.0
DELETED, PAUSE_MS = 1_000_000, 200.0


def main() -> list[Figure]:
    with modes() as found:
        figures = [in_mode(mode, served.figures(mode)) for mode in found]
        for mode in found:
            if mode.redis is None:  # rows are the same with a Redis beside them
                figures.append(in_mode(mode, scheduler(mode)))
                figures.append(in_mode(mode, lists.figures(mode)))
                figures.append(in_mode(mode, deletion(mode)))
    return [figure for group in figures for figure in group]


def in_mode(mode: Mode, figures: list[Figure]) -> list[Figure]:
    return [replace(figure, mode=mode.name) for figure in figures]


def scheduler(mode: Mode) -> list[Figure]:
    """T2 at 10,000 triggers that are due within a minute."""
    found = trigger_bench.ticked(TRIGGERS, SPREAD_S, WATCH_S, mode.environment())
    p50, p99 = trigger_bench.middle_and_tail(found.late_ms)
    held = p50 < trigger_bench.P50_MS and p99 < trigger_bench.P99_MS
    target = f"< {trigger_bench.P50_MS:.0f} ms, < {trigger_bench.P99_MS:.0f} ms"
    armed = f"{TRIGGERS:,} triggers"

    def told(what: str, ours: str) -> Figure:
        return Figure("T2", f"{armed}: {what}", ours, "", None, "", True)

    return [
        Figure("T2", f"{armed}, due within {SPREAD_S:.0f} s: lateness of claims, p50, p99",
               f"{p50:.0f} ms, {p99:.0f} ms", "", None, target, held),
        told("armed anew by a ticker", f"{found.armed_s:.1f} s"),
        told("a step with nothing due", f"{found.step_ms:.1f} ms"),
        told("memory of the ticker alone", f"{found.memory_mb:.0f} MB"),
    ]  # fmt: skip


def deletion(mode: Mode) -> list[Figure]:
    """The longest write of somebody else while nine tenths of the audit are deleted."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder), env=mode.environment())
        run = [sys.executable, "-m"]
        filled = [*run, "bench.stores.filling", "10", str(DELETED)]
        subprocess.run(filled, cwd=ROOT, env=service.env, check=True)
        command = [*run, "bench.stores.writers", "3"]
        done = subprocess.run(
            command, cwd=ROOT, env=service.env, stdout=subprocess.PIPE, check=True
        )
        service.http.close()
    found = json.loads(done.stdout)
    beside, alone = max(found["beside"]), max(found["alone"])
    tails = [f"{percentile(found[name], 0.99):.0f} ms" for name in ("beside", "alone")]
    what = f"longest write beside the deletion of {found['deleted']:,} audit rows : alone"
    return [
        Figure("L2", what, f"{beside:.0f} ms", f"{alone:.0f} ms", beside / alone,
               f"< {PAUSE_MS:.0f} ms", beside < PAUSE_MS),
        Figure("L2", "the same, p99", f"{tails[0]} : {tails[1]}", "", None, "", True),
        Figure("L2", "the deletion", f"{found['seconds']:.0f} s", "", None, "", True),
    ]  # fmt: skip
