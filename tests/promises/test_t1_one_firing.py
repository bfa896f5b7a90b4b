"""T1: one firing per trigger and nominal time, however many schedulers look."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from tests.promises.rings import ring
from tests.workspace.triggers.conftest import utc  # noqa: F401 - the zone of the host
from tests.workspace.triggers.world import NOON, World
from workspace.models import Run
from workspace.triggers.schedule.ticker import Ticker

ENTRIES = """\
triggers:
  every:
    trigger: {type: schedule, interval: 60s}
    run: {prompt: hi, overlap: parallel}
    enabled: true
  cron:
    trigger: {type: schedule, cron: "* * * * *"}
    run: {prompt: hi, overlap: parallel}
    enabled: true
"""


@pytest.mark.promise("T1")
@pytest.mark.django_db(transaction=True)
def test_schedulers_that_race_for_every_nominal_time_fire_each_once(settings, tmp_path: Path):
    schedulers, times = ring(fast=4, slow=16), ring(fast=60, slow=10_000)
    settings.PROJECTS_DIR = tmp_path
    world = World(tmp_path)
    world.write(ENTRIES)
    world.arm()
    start = threading.Barrier(schedulers + 1)
    end = threading.Barrier(schedulers + 1)

    def scheduler() -> None:
        ticker = Ticker(world.clock)
        try:
            ticker.look(NOON)
            for _ in range(times):
                start.wait(60)
                ticker.step()
                end.wait(60)
        finally:
            connection.close()

    with ThreadPoolExecutor(schedulers) as pool:
        running = [pool.submit(scheduler) for _ in range(schedulers)]
        for _ in range(times):
            world.clock.step(seconds=60)
            start.wait(60)
            end.wait(60)
        for one in running:
            one.result()

    for name in ("every", "cron"):
        fired = Run.objects.filter(trigger=name).order_by("scheduled_for")
        expected = [NOON + timedelta(minutes=n) for n in range(1, times + 1)]
        assert [*fired.values_list("scheduled_for", flat=True)] == expected
        assert set(fired.values_list("status", flat=True)) == {"queued"}
