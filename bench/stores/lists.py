"""Every list of a database after years beside the same list of an empty one: CPU of a request."""

from __future__ import annotations

import http.client
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import chats_bench
from bench.figures import Figure
from bench.stores import filling
from bench.stores.cpu import spent
from bench.stores.modes import Mode
from tests.service import ROOT, Service

RUNS, AUDIT = 100_000, 1_000_000
ROUNDS, WARM_UP, SETTLED, MOST = 8, 2, 100, 3.0
FILLED_S = 60.0
CHATS = range(1, 1000, filling.PROJECTS)  # those of p1


def _moment(**ago: float) -> str:
    return (datetime.now(UTC) - timedelta(**ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def paths() -> dict[str, list[str]]:
    """By what a person would call it."""
    old, later, now = _moment(days=20), _moment(days=19.96), _moment()
    past = (f"until={old}", f"since={now}", f"since={old}&until={later}")
    run = ("status=failed", "status=running", "cause=manual", "client=rare", "client=nobody",
           "trigger=t05", "trigger=none", "project=rare", "q=nowhere", *past)  # fmt: skip
    call = ("client=rare", "client=nobody", "operation=operation_3", "operation=none",
            "project=rare", "project=none", "outcome=not_found", "outcome=none", "before=500",
            *past)  # fmt: skip
    mine = "/api/projects/p1"
    admin = "/admin/workspace"
    return {
        "pages": ["/runs", "/audit", "/clients", "/projects/p1/runs", "/projects/p1/triggers"],
        "runs": ["/api/runs", *(f"/api/runs?{one}" for one in run), f"{mine}/runs",
                 f"{mine}/runs?status=failed"],
        "audit": ["/api/audit", *(f"/api/audit?{one}" for one in call)],
        "triggers with their last runs": [f"{mine}/triggers", f"{mine}/triggers/runtime"],
        "chats": [f"{mine}/chats", f"{mine}/chats/{filling.chat(CHATS[1])}"],
        "instance": ["/api/projects", mine, "/api/clients", "/api/badges", "/api/places?q=p1",
                     "/api/unread", "/api/pause", "/api/search?q=report"],
        "metrics": ["/metrics"],
        "admin": [f"{admin}/run/", f"{admin}/run/?q=nowhere", f"{admin}/run/?status=failed",
                  f"{admin}/turn/", f"{admin}/turn/?q=nowhere", f"{admin}/auditentry/",
                  f"{admin}/auditentry/?q=nowhere", f"{admin}/auditentry/?client=rare"],
    }  # fmt: skip


def figures(mode: Mode) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        empty, full = (_service(mode, Path(folder) / name) for name in ("empty", "full"))
        began = time.monotonic()
        command = [sys.executable, "-m", "bench.stores.filling", str(RUNS), str(AUDIT)]
        subprocess.run(command, cwd=ROOT, env=full.env, check=True)
        filled = time.monotonic() - began
        try:
            costs = [_asking(mode, service.start()) for service in (empty, full)]
            for ask in costs:  # until what a start does behind the first answers is done
                for _ in range(SETTLED):
                    ask("/api/runs")
            lists = [_group(name, found, costs) for name, found in paths().items()]
        finally:
            empty.kill9()
            full.kill9()
    name = f"filling {RUNS:,} runs with their turns and {AUDIT:,} audit rows"
    fast = filled < FILLED_S
    one = Figure("L0", name, f"{filled:.0f} s", "", None, f"< {FILLED_S:.0f} s", fast)
    return [one, *lists]


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
        made = chats_bench.written(chats, f"Chat {number}", turns=1)
        for suffix in (".yaml", ".jsonl"):
            path = (chats / made).with_suffix(suffix)
            text = path.read_text().replace("origin: human", "origin: scheduled\ntrigger: t05")
            path.unlink()
            (chats / filling.chat(number)).with_suffix(suffix).write_text(text)
    return service


def _asking(mode: Mode, service: Service) -> Callable[[str], float]:
    """A function that tells the CPU a request costs, in ms, the database's included."""
    connection = http.client.HTTPConnection("127.0.0.1", service.ports["main"])
    server = service.pid

    def ask(path: str) -> float:
        kind = "application/json" if "/api/" in path else "*/*"
        pids = [server, *mode.pids()]
        before = {pid: spent([pid]) for pid in pids}
        connection.request("GET", path, headers={"Accept": kind})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, f"{path}: {answer.status}"
        return sum(max(0.0, spent([pid]) - was) for pid, was in before.items()) * 1000

    return ask


def _group(name: str, found: list[str], costs: list[Callable[[str], float]]) -> Figure:
    """The list that grew most."""
    worst, at, path = 0.0, (0.0, 0.0), ""
    for one in found:
        rounds = [[ask(one) for ask in costs] for _ in range(ROUNDS + WARM_UP)][WARM_UP:]
        empty, full = (min(times) for times in zip(*rounds, strict=True))
        if full / empty > worst:
            worst, at, path = full / empty, (full, empty), one
    what = f"{name}: worst of {len(found)} lists ({path}) : empty"
    return Figure("L1", what, f"{at[0]:.1f} ms", f"{at[1]:.1f} ms", worst, "<= 3 x", worst <= MOST)
