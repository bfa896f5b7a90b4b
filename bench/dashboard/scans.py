"""D12 and S11: scans beside psutil, in processes that hold the sockets (tests/.../crowd.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from bench.dashboard.sizes import Sizes
from bench.figures import Figure, bounded, compared, counted

CROWD = [sys.executable, "-m", "tests.dashboard.listeners.crowd"]
ALONE = ["unshare", "-rn"]
MOST_X, WAITING_MS, STEADY_MS = 0.15, 5, 1


def figures(sizes: Sizes) -> list[Figure]:
    crowd = _told(*CROWD, "listeners", "500")
    quiet = _told(*CROWD, "listeners", "10")
    found = [
        compared(
            "S11",
            "scan with 500 listeners, median : psutil.net_connections",
            crowd["scan"]["median"],
            crowd["psutil"]["median"],
            unit="ms",
            most=MOST_X,
        ),
        bounded(
            "D12",
            "steady scan of a normal machine, median : psutil",
            quiet["scan"]["median"],
            STEADY_MS,
            unit="ms",
            floor=quiet["psutil"]["median"],
        ),
    ]
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        return found  # no network of one's own to fill with connections
    waiting = _told(*ALONE, *CROWD, "waiting", str(sizes.waiting))
    return [
        *found,
        bounded(
            "D12",
            f"scan beside {waiting['waiting']} TIME_WAIT sockets, median : psutil",
            waiting["scan"]["median"],
            WAITING_MS,
            unit="ms",
            floor=waiting["psutil"]["median"],
        ),
        counted("D12", "full walks of /proc by 20 of these scans", waiting["walks"], 1),
    ]


def _told(*command: str) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told
