"""D12 and S11: scans beside psutil, in processes that hold the sockets (tests/.../crowd.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from bench.figures import Figure, bounded_figure, count_figure, ratio_figure

CROWD = [sys.executable, "-m", "tests.dashboard.listeners.crowd"]
ALONE = ["unshare", "-rn"]
WAITING = 15_000


def figures() -> list[Figure]:
    crowd, quiet = _json_of(*CROWD, "listeners", "500"), _json_of(*CROWD, "listeners", "10")
    what = "scan with 500 listeners, median : psutil.net_connections"
    found = [
        ratio_figure("S11", what, *_medians(crowd), unit="ms", most=0.15),
        _beside_psutil("steady scan of a normal machine", quiet, 1),
    ]
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        return found  # no network namespace to fill with connections
    waiting = _json_of(*ALONE, *CROWD, "waiting", str(WAITING))
    return [
        *found,
        _beside_psutil(f"scan beside {waiting['waiting']} TIME_WAIT sockets", waiting, 5),
        count_figure("D12", "full walks of /proc by 20 of these scans", waiting["walks"], 1),
    ]


def _medians(told: dict[str, Any]) -> tuple[float, float]:
    return told["scan"]["median"], told["psutil"]["median"]


def _beside_psutil(what: str, told: dict[str, Any], most: float) -> Figure:
    ours, floor = _medians(told)
    return bounded_figure("D12", f"{what}, median : psutil", ours, most, unit="ms", floor=floor)


def _json_of(*command: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(subprocess.check_output(command))
    return told
