"""D3: five hundred apps in a process that has Django, the dashboard's daemon and nothing else."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.dashboard.crowd import SETTLE_S, targets
from bench.dashboard.sizes import Sizes
from bench.figures import Figure, bounded

PART = [sys.executable, "-m", "bench.dashboard.part"]
MOST_MB, MOST_PERCENT = 90, 3


def figures(sizes: Sizes) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, targets(sizes.apps, Path(folder)) as ports:
        none_cpu, none_mb = _measured(Path(folder) / "none", [], sizes.watched_s / 2)
        cpu, mb = _measured(Path(folder) / "all", ports, sizes.watched_s)
    what = f"{sizes.apps} apps : none of the same listeners declared, this part alone"
    return [
        bounded("D3", f"{what}: CPU", cpu, MOST_PERCENT, unit="%", floor=none_cpu),
        bounded("D3", f"{what}: memory", mb, MOST_MB, unit="MB", floor=none_mb),
    ]


def _measured(data: Path, ports: list[int], seconds: float) -> tuple[float, float]:
    """Percent of a core, and MB resident."""
    apps = data / "dashboard" / "apps"
    apps.mkdir(parents=True)
    data.chmod(0o700)
    (data / "dashboard" / "config.yaml").write_text("screenshots: {enabled: false}\n")
    for number, port in enumerate(ports):
        (apps / f"app-{number}.yaml").write_text(f"name: App {number}\nport: {port}\n")
    with _daemon(data) as process:
        time.sleep(SETTLE_S)
        before, began = sum(process.cpu_times()[:2]), time.monotonic()
        time.sleep(seconds)
        used = sum(process.cpu_times()[:2]) - before
        return used / (time.monotonic() - began) * 100, process.memory_info().rss / 1e6


@contextlib.contextmanager
def _daemon(data: Path) -> Iterator[psutil.Process]:
    env = {"PATH": os.environ["PATH"], "HOME": str(data), "SVC_DATA_DIR": str(data)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(PART, env=env, text=True, **pipes) as made:  # type: ignore[call-overload]
        try:
            assert made.stdout.readline() == "ready\n"
            yield psutil.Process(made.pid)
            made.stdin.close()
            made.wait(10)
        finally:
            made.kill()
