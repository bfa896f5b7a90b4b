"""Delete what the history of this node no longer keeps.

One chunk at a time, so that no other writer waits long.
"""

from __future__ import annotations

from django.db.models import Model, QuerySet

from config.storage import ranges
from dashboard import models
from dashboard.history import scope
from dashboard.history.timeline import DAY, HOUR

CHUNK = 20_000
REMOVED_MS = 90 * DAY  # for the history of a removed app


def prune(now: float, *, raw_hours: float = 24, days: float = 90) -> tuple[list[str], int]:
    """Delete old rows; they are kept one hour longer. Returns the deleted slugs and the number of
    deleted rows."""
    ts = round(now * 1000)
    old_samples = int(ts - raw_hours * HOUR - HOUR)
    old = int(ts - days * DAY - HOUR)
    every = scope.mine().order_by().values("pk")  # the index begins with the app
    rows = (
        _delete(models.Sample.objects.filter(app__in=every, ts__lt=old_samples))
        + _delete(models.Hour.objects.filter(app__in=every, hour__lt=old // HOUR))
        + _delete(models.Edge.objects.filter(app__in=every, ts__lt=old))
    )
    gone = scope.mine().filter(removed_at__lt=ts - REMOVED_MS)
    names = list(gone.values_list("slug", flat=True))
    for table in (models.Sample, models.Hour, models.Edge):
        rows += _delete(table.objects.filter(app__in=gone.order_by().values("pk")))
    return names, rows + _delete(gone)


def _delete(rows: QuerySet[Model]) -> int:
    return ranges.delete(rows, chunk=CHUNK)
