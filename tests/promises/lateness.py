"""How late a ticker claims many armed triggers that become due one after the other.

Real clock, real ticker, a database of its own. Lateness = nominal time to the moment the claim
is on disk and handed to the workers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workspace.models import TriggerState

ROOT = Path(__file__).resolve().parent.parent.parent
ARMED_S = 500  # triggers whose grids are moved in a second, at the very least
P50_MS, P99_MS = 50.0, 500.0


def lateness(count: int, spread: float, watch: float, projects: Path) -> list[float]:
    """In ms, of each claim: a ticker beside `count` triggers that become due evenly over `spread`
    seconds, for the first `watch` of them."""
    from workspace.models import TriggerState
    from workspace.triggers import runs
    from workspace.triggers.schedule.clock import Clock
    from workspace.triggers.schedule.ticker import Ticker

    _write(count, projects)
    handed: dict[str, float] = {}
    ticker = Ticker(Clock())
    ticker.look(datetime.now(UTC))
    ticker.step()
    start = datetime.now(UTC) + timedelta(seconds=1 + count / ARMED_S)
    _arm(list(TriggerState.objects.order_by("name")), start, spread)
    deliver, runs.deliver = runs.deliver, lambda run: handed.setdefault(run.id, time.time())  # type: ignore[assignment]
    try:
        ticker.serving_since = datetime.now(UTC)
        end = start + timedelta(seconds=watch)
        while datetime.now(UTC) < end and len(handed) < count:
            due = min(ticker.step(), end)
            time.sleep(max(0.0, (due - datetime.now(UTC)).total_seconds()))
    finally:
        runs.deliver = deliver
    return _late(handed)


def _late(handed: dict[str, float]) -> list[float]:
    from workspace.models import Run

    due = {run.id: run.scheduled_for or run.queued_at for run in Run.objects.all()}
    return [(moment - due[run].timestamp()) * 1000 for run, moment in handed.items()]


def _write(count: int, projects: Path) -> None:
    """Ten projects share the triggers."""
    entry = {"trigger": {"type": "schedule", "interval": "1h"}, "run": {"prompt": "x"}}
    for number in range(10):
        folder = projects / f"p{number}"
        folder.mkdir(parents=True)
        mine = {f"t{n:05}": entry | {"enabled": True} for n in range(number, count, 10)}
        (folder / "project.yaml").write_text(json.dumps({"name": "P", "triggers": mine}))


def _arm(states: list[TriggerState], start: datetime, spread: float) -> None:
    """Move the grids so that the first firings fall evenly into the time after `start`."""
    for number, state in enumerate(states):
        state.next_at = start + timedelta(seconds=spread * number / len(states))
        state.armed_at = state.next_at - timedelta(hours=1)
    type(states[0]).objects.bulk_update(states, ["next_at", "armed_at"])


def middle_and_tail(late: list[float]) -> tuple[float, float]:
    cuts = quantiles(late, n=100)
    return cuts[49], cuts[98]


def measured(count: int, spread: float, watch: float, stores: Mapping[str, str]) -> list[float]:
    """In a process of its own, on a fresh data directory; `stores` as variables, else SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("SVC_")}
        env = kept | {"SVC_DATA_DIR": folder, "SVC_LOG_LEVEL": "error", **stores}
        sizes = [str(count), str(spread), str(watch)]
        argv = [sys.executable, "-m", "tests.promises.lateness", *sizes]
        done = subprocess.run(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True)
    late: list[float] = json.loads(done.stdout)
    return late


def _child(count: int, spread: float, watch: float) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    print(json.dumps(lateness(count, spread, watch, settings.PROJECTS_DIR)))


if __name__ == "__main__":
    _child(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
