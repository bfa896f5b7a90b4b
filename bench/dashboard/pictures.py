"""D15: what the picture of an app costs, and what the pictures of an hour may cost at that
price."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.dashboard.cycles import listens
from bench.figures import Figure, bounded_figure
from dashboard.pictures.due import Allowance
from dashboard.pictures.rounds import Pace
from dashboard.rendering import chromium, thumbs
from dashboard.rendering.screenshot import Camera
from tests.service import free_port, until

PICTURES, HOUR = 8, 3600.0
PAGE = "<!doctype html><title>Shop</title>" + "<h1>Shop</h1><p>Fresh bread, every day." * 200


def figures() -> list[Figure]:
    command = chromium.find_browser(None)
    if command is None:
        return []  # cards and favicons need no browser
    counted, own = asyncio.run(_cpu_of_picture(command))
    share = _hour(counted) * (1 + own / counted) / HOUR * 100
    what = f"CPU of a picture, mean of {PICTURES}, our own part beside it"
    return [
        bounded_figure("D15", what, (counted + own) * 1000, 4000, unit="ms", floor=own * 1000),
        bounded_figure("D15", "pictures of an hour in which one is always due", share, 5, unit="%"),
    ]


async def _cpu_of_picture(command: str) -> tuple[float, float]:
    """CPU seconds of one picture: what the rules count, and what this process uses in addition."""
    camera = Camera()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "index.html").write_text(PAGE)
        port = free_port()
        site = subprocess.Popen(
            [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            until(lambda: listens(port))
            began = _cpu_seconds()
            for _ in range(PICTURES):
                png = await camera.take(command, f"http://127.0.0.1:{port}/")
                await asyncio.to_thread(thumbs.keep_screenshot, "shop", png)
            return camera.spent / PICTURES, (_cpu_seconds() - began) / PICTURES
        finally:
            site.kill()
            site.wait()


def _hour(cost: float) -> float:
    """CPU seconds spent on pictures in an hour in which one is due at any time."""
    allowance, spent, now = Allowance(Pace().at_once, Pace().share), 0.0, 0.0
    while (now := now + allowance.wait(now)) < HOUR:
        allowance.spend(cost)
        spent += cost
    return spent


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
