"""S5 and figures 1, 3, 4, 6 and 10 of engine.md 13: what one turn costs, and how it stops."""

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

from bench.figures import Figure, compared
from tests.workspace.turns import BASE, World, book, fence, pss_mb, until
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
FILES = book(
    *(
        fence("Write", f"x{number}", f"file_path=f{number}.txt")
        if number % 2
        else fence("Read", f'{{"file_path": "m{number}.py"}}')
        for number in range(20)
    )
)
LEAVERS = "setsid sleep 600 & (setsid sleep 600 &); echo > begun; sleep 600"


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for number in range(200):
            (world.project / f"m{number}.py").write_text("# TODO\nx = 1\n")
        speed = [*_speed(world), *_confined(world)]
        return [*speed, _memory(world), *_stops(world), *_storage(world), *_prefix(world)]


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _python(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], cwd=BASE, check=True)


def _turn(world: World, prompt: str) -> Callable[[], object]:
    def run() -> None:
        code, log = world.start(world.job(prompt)).end()
        assert code == 0, log

    return run


def _speed(world: World) -> list[Figure]:
    """Interleaved, so that all of them see the same machine."""
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
            times[name].append(_milliseconds(work))
        spans.append(float(world.run(NIGHTLY)[-1]["ms"]))
    p50 = {name: statistics.median(found) for name, found in times.items()}
    p95 = statistics.quantiles(times["turn"], n=20)[-1]
    inner = statistics.median(spans)
    s = "import asyncio, json"
    return [
        compared("S5", "whole runbook turn : python -c pass", p50["turn"], p50["pass"],
                 unit="ms", most=3),
        compared("E1", f"turn process, p50 : {s}", p50["turn"], p50["base"], unit="ms", most=2),
        compared("E1", f"turn process, p95 : {s} p50", p95, p50["base"], unit="ms", most=3),
        compared("E3", f"nightly check, turn_start to turn_end : {s}", inner, p50["base"],
                 unit="ms", most=0.6),
    ]  # fmt: skip


def _confined(world: World) -> list[Figure]:
    """The same turns inside the sandbox and outside of it, interleaved."""
    scratch = str(world.root)
    state = sandbox.probe("bwrap", hide=(f"{scratch}/data",), scratch=scratch)
    if state.mode != "bwrap":
        return [Figure("E3", "a turn in the sandbox", str(state.reason), "", None, "", False)]
    found = []
    for name, prompt, most in (("20 file steps", FILES, 1.3), ("nightly check", NIGHTLY, 1.8)):
        times: dict[str, list[float]] = {"bwrap": [], "off": []}
        for _ in range(ROUNDS // 2):
            for mode, box in (("bwrap", state), ("off", sandbox.Sandbox())):
                job = world.job(prompt, sandbox=box)
                times[mode].append(_milliseconds(lambda job=job: world.start(job).end()))  # type: ignore[misc]
        inside, outside = (statistics.median(times[mode]) for mode in ("bwrap", "off"))
        what = f"{name}, in the sandbox : without"
        found.append(compared("E3", what, inside, outside, unit="ms", most=most))
    return found


def _memory(world: World) -> Figure:
    """PSS while a command runs: everything a runbook turn loads is loaded."""
    running = world.start(world.job(book(fence("Bash", "echo > begun; sleep 600"))))
    begun = world.project / "begun"
    until(begun.exists, bool)
    held = pss_mb(running.child.pid)
    running.stop()
    running.end()
    begun.unlink()
    return Figure(
        "E4", "PSS of a runbook turn process", f"{held:.1f} MB", "40 MB",
        held / 40, "<= 40 MB", held < 40,
    )  # fmt: skip


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
        left += sum(len(pids) for pids in procs.tagged(str(world.root)).values())
        begun.unlink()
    p50, most = statistics.median(spans), max(spans)
    return [
        Figure("E6", f"processes left by {STOPS} stopped turns", str(left), "0", None, "0",
               left == 0),
        Figure("E6", "Stop to exit, p50", f"{p50:.0f} ms", "300 ms", p50 / 300, "<= 0.3 s",
               p50 <= 300),
        Figure("E6", "Stop to exit, longest", f"{most:.0f} ms", "6 s", most / 6000, "<= 6 s",
               most <= 6000),
    ]  # fmt: skip


def _storage(world: World) -> list[Figure]:
    path = str(world.chats / "bench.jsonl")
    with transcript.Writer(path) as writer:
        plain = [
            _milliseconds(lambda: writer.append("assistant", "msg_x", text="x" * 200, block="b"))
            for _ in range(APPENDS)
        ]
        synced = [
            _milliseconds(lambda: writer.append("user", "msg_x", text="x" * 200, sender={}))
            for _ in range(APPENDS // 10)
        ]
    appended, durable = statistics.median(plain) * 1000, statistics.median(synced)
    return [
        Figure("E10", "append, p50", f"{appended:.0f} µs", "50 µs", appended / 50, "<= 50 µs",
               appended <= 50),
        Figure("E10", "append and fsync, p50", f"{durable:.2f} ms", "5 ms", durable / 5, "<= 5 ms",
               durable <= 5),
    ]  # fmt: skip


def _prefix(world: World) -> list[Figure]:
    scratch = str(world.root)
    state = sandbox.probe("bwrap", hide=(f"{scratch}/data",), scratch=scratch)
    if state.mode != "bwrap":
        return [Figure("E10", "bwrap prefix on /bin/true", str(state.reason), "", None, "", False)]
    argv = sandbox.wrap(
        ["/bin/true"], state, cwd=str(world.project), writable=[os.fspath(world.home)]
    )
    inside, bare = (
        statistics.median(
            _milliseconds(lambda: subprocess.run(command, check=True))  # noqa: B023
            for _ in range(ROUNDS)
        )
        for command in (argv, ["/bin/true"])
    )
    more = inside - bare
    return [
        Figure("E10", "bwrap prefix on /bin/true", f"+ {more:.1f} ms", "20 ms", more / 20,
               "<= + 20 ms", more <= 20)
    ]  # fmt: skip
