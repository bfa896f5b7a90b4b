"""Every list of a database that holds years of rows beside the same list of an empty one: CPU of a
request."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import chats_bench
from bench.figures import Figure
from bench.stores.modes import Mode
from bench.timing import Connection, cpu_seconds
from tests.service import ROOT, Service
from tests.workspace import filling
from tests.workspace.test_many_rows import PATHS

RUNS, AUDIT = 100_000, 1_000_000
ROUNDS, WARM_UP, SETTLED, MOST = 8, 2, 100, 3.0
CHATS = range(1, 1000, filling.PROJECTS)  # those of project p1


def figures(mode: Mode) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        empty, full = (_service(mode, Path(folder) / name) for name in ("empty", "full"))
        command = [sys.executable, "-m", "tests.workspace.filling", str(RUNS), str(AUDIT)]
        subprocess.run(command, cwd=ROOT, env=full.env, check=True)
        try:
            costs = [_asking(mode, service.start()) for service in (empty, full)]
            for ask in costs:  # until the work that a start does after the first answers is done
                for _ in range(SETTLED):
                    ask("/api/runs")
            return [_worst([one for one in PATHS if "p=20" not in one], costs)]
        finally:
            empty.kill9()
            full.kill9()


def _service(mode: Mode, folder: Path) -> Service:
    """Projects with triggers, and chats that they write to."""
    service = Service(folder, env=mode.environment(), scheduler=False)
    entry = "{trigger: {type: schedule, interval: 1h}, run: {prompt: x}, enabled: true}"
    triggers = "".join(f"  t{n:02}: {entry}\n" for n in range(filling.TRIGGERS))
    for slug in (*(f"p{n}" for n in range(filling.PROJECTS)), "rare"):
        home = service.projects / slug
        home.mkdir(parents=True)
        (home / "project.yaml").write_text(f"name: {slug}\ntriggers:\n{triggers}")
    chats = service.projects / "p1" / ".chats"
    chats.mkdir()
    for number in CHATS:
        made = chats_bench.write_chat(chats, f"Chat {number}", turns=1)
        for suffix in (".yaml", ".jsonl"):
            path = (chats / made).with_suffix(suffix)
            text = path.read_text().replace("origin: human", "origin: scheduled\ntrigger: t05")
            path.unlink()
            (chats / filling.chat(number)).with_suffix(suffix).write_text(text)
    return service


def _asking(mode: Mode, service: Service) -> Callable[[str], float]:
    """A function that returns the CPU time of a request in ms, including the database's."""
    connection = Connection(service.ports["main"])
    server = service.pid

    def ask(path: str) -> float:
        kind = "application/json" if "/api/" in path else "*/*"
        pids = [server, *mode.pids()]
        before = {pid: cpu_seconds([pid]) for pid in pids}
        connection.get(path, kind)
        return sum(max(0.0, cpu_seconds([pid]) - was) for pid, was in before.items()) * 1000

    return ask


def _worst(paths: list[str], costs: list[Callable[[str], float]]) -> Figure:
    """The list whose cost grew most."""
    found = []
    for path in paths:
        rounds = [[ask(path) for ask in costs] for _ in range(ROUNDS + WARM_UP)][WARM_UP:]
        empty, full = (min(times) for times in zip(*rounds, strict=True))
        found.append((full / empty, full, empty, path))
    ratio, full, empty, path = max(found)
    ours = f"{full:.1f} ms ({path})"
    what = f"worst of {len(paths)} lists : of an empty database"
    return Figure("L1", what, ours, f"{empty:.1f} ms", ratio, f"<= {MOST:g} x", ratio <= MOST)
