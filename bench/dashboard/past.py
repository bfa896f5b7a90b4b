"""D4 and S10: 90 days of one app, read from a table with the hours that 500 apps leave behind."""

from __future__ import annotations

import random
import time
from typing import Any

from django.db import connection, transaction

from bench.figures import Figure, bounded_figure, percentile
from dashboard import models
from dashboard.history import store
from dashboard.history.hours import Hour
from dashboard.history.states import StoredState
from dashboard.history.timeline import HOUR
from dashboard.history.windows import history

NOW = 1_790_000_000
LAST = NOW * 1000 // HOUR
DAYS, APPS, READS = 90, 500, 200
ROWS = "SELECT * FROM dashboard_hour WHERE app_id = %s AND hour >= %s"

FIRST = "hour = %s AND app_id IN (SELECT id FROM dashboard_slug) ORDER BY app_id"


def figures() -> list[Figure]:
    _fill(APPS)
    ids = dict(models.Slug.objects.values_list("slug", "pk"))
    rows = models.Hour.objects.count()
    ours, floor = [], []
    with connection.cursor() as cursor:
        for number in range(READS):
            slug = f"app-{random.Random(number).randrange(APPS)}"
            began = time.perf_counter()
            cursor.execute(ROWS, [ids[slug], LAST - DAYS * 24])
            assert len(cursor.fetchall()) == DAYS * 24
            between = time.perf_counter()
            answer = history(slug, "90d", now=NOW)
            ended = time.perf_counter()
            assert answer["checks"] >= DAYS * 23 * 120
            floor.append((between - began) * 1000)
            ours.append((ended - between) * 1000)
    what = f"90 d history at {rows / 1e6:.2f} M hours, p50"
    return [
        bounded_figure("D4", f"{what} : fetching its {DAYS * 24} rows", percentile(ours, 0.5), 10,
                       unit="ms", floor=percentile(floor, 0.5))
    ]  # fmt: skip


def _fill(apps: int) -> None:
    """Write the hours in the order a daemon writes them: hour by hour, all apps together."""
    first = LAST - DAYS * 24
    rnd = random.Random(4)
    batch = store.Batch(hours={(f"app-{n}", first): _hour(first, rnd) for n in range(apps)})
    store.write(batch)
    columns = [str(field.column) for field in models.Hour._meta.concrete_fields]
    table = models.Hour._meta.db_table
    shifted = [f"{name} + %s" if name in ("id", "hour") else name for name in columns]
    copied = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(shifted)} FROM {table}"
    with transaction.atomic(), connection.cursor() as cursor:
        for later in range(1, DAYS * 24):
            cursor.execute(f"{copied} WHERE {FIRST}", [later, later, first])


def _hour(number: int, rnd: random.Random) -> Any:
    """The hour of an app that was probed every 30 s and failed twice."""
    hour = Hour(number)
    start = number * HOUR
    hour.spend(StoredState.UP, start, start + HOUR - 60_000)
    hour.spend(StoredState.DOWN, start + HOUR - 60_000, start + HOUR)
    for _ in range(118):
        hour.check(True, int(rnd.lognormvariate(9, 0.6)))
    hour.check(False, None)
    hour.check(False, None)
    return hour.row()
