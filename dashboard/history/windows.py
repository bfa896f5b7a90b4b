"""GET history: the states of an app and how fast it answered, over a day, a week or 90 days.

The day is read from samples, the longer windows from hour rows. No averages are averaged: counts,
sums and histograms are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypedDict

from django.db import connection

from config.errors import Invalid
from dashboard import models
from dashboard.history import raw, scope
from dashboard.history.figures import Bucket, Figures, Latency, Seconds
from dashboard.history.hist import Histogram, unpack
from dashboard.history.states import COLUMNS, COUNTED
from dashboard.history.timeline import HOUR
from dashboard.history.units import moment

TRANSITIONS = 200
Source = Literal["raw", "hourly"]
Span = Literal["24h", "7d", "90d"]
# Raw SQL: Django takes longer to compile this query than the database to run it.
_EDGES = f"""
    SELECT ts, from_state, to_state, reason FROM {models.Edge._meta.db_table}
    WHERE app_id = %s AND ts >= %s AND ts <= %s ORDER BY ts DESC LIMIT %s
"""  # noqa: S608
_Stretch = TypedDict("_Stretch", {"from": str, "to": str})


class Transition(_Stretch):
    at: str
    reason: str
    seconds: float


class History(_Stretch):
    slug: str
    window: Span
    bucketSeconds: int  # noqa: N815
    uptime: float | None
    seconds: Seconds
    checks: int
    failed: int
    latency: Latency | None
    buckets: list[Bucket]
    transitions: list[Transition]
    source: Source


@dataclass(frozen=True, slots=True)
class Window:
    """`size` and `rounding` (of the window's end) in ms."""

    buckets: int
    size: int
    rounding: int
    source: Source


WINDOWS: dict[Span, Window] = {
    "24h": Window(96, HOUR // 4, HOUR // 4, "raw"),
    "7d": Window(168, HOUR, HOUR, "hourly"),
    "90d": Window(90, 24 * HOUR, HOUR, "hourly"),
}


def history(slug: str, window: str = "24h", *, now: float) -> History:
    """The record History; an empty one for a slug without rows.

    `now` in Unix seconds. Raises Invalid (bad_query).
    """
    if window not in WINDOWS:
        raise Invalid('Query "window" must be 24h, 7d or 90d.', code="bad_query")
    plan = WINDOWS[window]
    ts = math.floor(now * 1000)
    end = -(-ts // plan.rounding) * plan.rounding
    start = end - plan.buckets * plan.size
    app = scope.find(slug)
    if app is None:
        buckets = [Figures() for _ in range(plan.buckets)]
    elif plan.source == "raw":
        buckets = raw.buckets(app, start, plan.size, plan.buckets, ts)
    else:
        buckets = _from_hours(app, start, plan)
    whole = Figures.of(buckets)
    return {
        "slug": slug,
        "window": window,
        "from": moment(start),
        "to": moment(end),
        "bucketSeconds": plan.size // 1000,
        "uptime": whole.uptime,
        "seconds": whole.seconds,
        "checks": whole.checks,
        "failed": whole.failed,
        "latency": whole.latencies(),
        "buckets": [one.bucket(start + number * plan.size) for number, one in enumerate(buckets)],
        "transitions": _transitions(app, start, ts) if app else [],
        "source": plan.source,
    }


def _from_hours(app: models.Slug, start: int, plan: Window) -> list[Figures]:
    first, step = start // HOUR, plan.size // HOUR
    with connection.cursor() as cursor:
        cursor.execute(
            _statement(connection.vendor), [first, step, app.pk, first, first + plan.buckets * step]
        )
        rows = cursor.fetchall()
    found = [Figures() for _ in range(plan.buckets)]
    for number, *columns in rows:
        *spent, checks, failed, total, low, high, packed = columns
        found[number] = Figures(
            spent=dict(zip(COUNTED, spent, strict=True)),
            checks=checks,
            failed=failed,
            latency=Histogram(unpack([bytes.fromhex(packed)]), total, low, high),
        )
    return found


@cache
def _statement(vendor: str) -> str:
    """Sum hours into buckets. SQLite and PostgreSQL share the SQL except for one expression: the
    histograms of a bucket, concatenated as text. Raw, because Django would take as long to compile
    the query as reading the rows takes."""
    table = models.Hour._meta.db_table
    packed = "STRING_AGG(ENCODE(hist, 'hex'), '')"
    packed = packed if vendor == "postgresql" else "GROUP_CONCAT(HEX(hist), '')"
    sums = ", ".join(
        f"CAST(SUM({name}) AS bigint)" for name in (*COLUMNS.values(), "n", "failed", "us_sum")
    )
    return (
        f"SELECT (hour - %s) / %s, {sums}, MIN(us_min), MAX(us_max), {packed} FROM {table}"  # noqa: S608
        " WHERE app_id = %s AND hour >= %s AND hour < %s GROUP BY 1"
    )


def _transitions(app: models.Slug, start: int, now: int) -> list[Transition]:
    """The last changes of state in the window, oldest first; `seconds`: how long each lasted."""
    with connection.cursor() as cursor:
        cursor.execute(_EDGES, [app.pk, start, now, TRANSITIONS])
        edges = cursor.fetchall()
    found: list[Transition] = []
    until = now
    for ts, before, after, reason in edges:
        found.append(
            {
                "at": moment(ts),
                "from": before,
                "to": after,
                "reason": reason,
                "seconds": (until - ts) / 1000,
            }
        )
        until = ts
    return found[::-1]
