"""S5, E1, E3, E4, E6 and E10: what one turn costs, and how it stops."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.figures import Figure, bounded_figure, count_figure, ratio_figure
from bench.timing import milliseconds
from tests.workspace.chats.turns.world import BASE, World, book, fence, pss_mb, until
from workspace.chats import transcript
from workspace.engines import procs, sandbox

ROUNDS, STOPS, APPENDS = 60, 100, 2000
WRITE = book(fence("Write", "x", "file_path=a.txt"))
NIGHTLY = book(
    fence("Grep", '{"pattern": "TODO", "glob": "**/*.py", "output_mode": "count"}', "name=todo"),
    fence("Bash", "true", "name=tests"),
    fence("Write", "{{todo.output}} {{tests.status}}", "file_path=reports/{{date.utc}}.md"),
    "Report written.\n",
)
LEAVERS = "setsid sleep 600 & (setsid sleep 600 &); echo > begun; sleep 600"


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for number in range(200):
            (world.project / f"m{number}.py").write_text("# TODO\nx = 1\n")
        rows = [*_speed(world), _memory(world), *_stops(world), *_storage(world)]
        return [*rows, _prefix(world)]


def _python(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], cwd=BASE, check=True)


def _turn(world: World, prompt: str) -> Callable[[], object]:
    def run() -> None:
        code, log = world.start(world.job(prompt)).end()
        assert code == 0, log

    return run


def _speed(world: World) -> list[Figure]:
    """Measured alternately, so that all of them see the same machine."""
    works = {
        "pass": _python("pass"),
        "base": _python("import asyncio, json"),
        "turn": _turn(world, WRITE),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    spans = []
    world.run(NIGHTLY)
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(milliseconds(work))
        spans.append(float(world.run(NIGHTLY)[-1]["ms"]))
    p50 = {name: statistics.median(found) for name, found in times.items()}
    p95 = statistics.quantiles(times["turn"], n=20)[-1]
    inner = statistics.median(spans)
    s = "import asyncio, json"
    return [
        ratio_figure("S5", "whole runbook turn : python -c pass", p50["turn"], p50["pass"],
                     unit="ms", most=3),
        ratio_figure("E1", f"turn process, p50 : {s}", p50["turn"], p50["base"], unit="ms", most=2),
        ratio_figure("E1", f"turn process, p95 : {s} p50", p95, p50["base"], unit="ms", most=3),
        ratio_figure("E3", f"nightly check, turn_start to turn_end : {s}", inner, p50["base"],
                     unit="ms", most=0.6),
    ]  # fmt: skip


def _memory(world: World) -> Figure:
    """PSS while a command runs, when everything that a runbook turn loads has been loaded."""
    running = world.start(world.job(book(fence("Bash", "echo > begun; sleep 600"))))
    begun = world.project / "begun"
    until(begun.exists, bool)
    held = pss_mb(running.child.pid)
    running.stop()
    running.end()
    begun.unlink()
    return bounded_figure("E4", "PSS of a runbook turn process", held, 40, unit="MB")


def _stops(world: World) -> list[Figure]:
    dice = random.Random(6)
    left, spans = 0, []
    begun = world.project / "begun"
    for _ in range(STOPS):
        running = world.start(world.job(book(fence("Bash", LEAVERS))))
        until(begun.exists, bool)
        time.sleep(dice.random() * 0.05)
        began = time.perf_counter()
        running.stop()
        running.end()
        spans.append((time.perf_counter() - began) * 1000)
        left += sum(len(pids) for pids in procs.pids_by_turn(str(world.root)).values())
        begun.unlink()
    return [
        count_figure("E6", f"processes left by {STOPS} stopped turns", left),
        bounded_figure("E6", "Stop to exit, p50", statistics.median(spans), 300, unit="ms"),
        bounded_figure("E6", "Stop to exit, longest", max(spans), 6000, unit="ms"),
    ]


def _storage(world: World) -> list[Figure]:
    path = str(world.chats / "bench.jsonl")
    with transcript.Writer(path) as writer:
        plain = [
            milliseconds(lambda: writer.append("assistant", "msg_x", text="x" * 200, block="b"))
            for _ in range(APPENDS)
        ]
        synced = [
            milliseconds(lambda: writer.append("user", "msg_x", text="x" * 200, sender={}))
            for _ in range(APPENDS // 10)
        ]
    appended, durable = statistics.median(plain) * 1000, statistics.median(synced)
    return [
        bounded_figure("E10", "append, p50", appended, 50, unit="µs"),
        bounded_figure("E10", "append and fsync, p50", durable, 5, unit="ms"),
    ]


def _prefix(world: World) -> Figure:
    scratch, what = str(world.root), "bwrap prefix on /bin/true"
    state = sandbox.probe("bwrap", hide=(f"{scratch}/data",), scratch=scratch)
    if state.mode != "bwrap":
        return Figure("E10", what, str(state.reason), "", None, "", False)
    bare = ["/bin/true"]
    inside = sandbox.wrap(bare, state, cwd=str(world.project), writable=[os.fspath(world.home)])
    spans = [
        statistics.median(
            milliseconds(lambda: subprocess.run(command, check=True))  # noqa: B023
            for _ in range(ROUNDS)
        )
        for command in (inside, bare)
    ]
    return bounded_figure("E10", what, spans[0] - spans[1], 20, unit="ms more")
