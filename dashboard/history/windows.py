"""GET history: what an app was and how fast it answered, over a day, a week or 90 days.

The day is read from samples, the longer windows from hour rows. Averages of averages are never
formed: counts, sums and histograms are added (contract 8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, CharField, F, Max, Min, Sum

from config.kernel.errors import Invalid
from dashboard import models
from dashboard.history import raw, scope
from dashboard.history.figures import Figures
from dashboard.history.hist import Histogram, unpack
from dashboard.history.states import COLUMNS, COUNTED
from dashboard.history.timeline import HOUR
from dashboard.history.units import moment

TRANSITIONS = 200


@dataclass(frozen=True, slots=True)
class Window:
    """`size` and `rounding` (of its end) in ms."""

    buckets: int
    size: int
    rounding: int
    source: str


WINDOWS = {
    "24h": Window(96, HOUR // 4, HOUR // 4, "raw"),
    "7d": Window(168, HOUR, HOUR, "hourly"),
    "90d": Window(90, 24 * HOUR, HOUR, "hourly"),
}


class Packed(Aggregate):
    """All histograms of a group one behind the other, in hexadecimal: text adds on any database."""

    name = "Packed"
    function = "GROUP_CONCAT"
    template = "%(function)s(HEX(%(expressions)s), '')"
    output_field = CharField()

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        return self.as_sql(
            compiler,
            connection,
            function="STRING_AGG",
            template="%(function)s(ENCODE(%(expressions)s, 'hex'), '')",
        )


def history(slug: str, window: str = "24h", *, now: float) -> dict[str, Any]:
    """The History record of section 8; a slug without rows has an empty one.

    `now` in Unix seconds. Raises Invalid (bad_query).
    """
    if window not in WINDOWS:
        raise Invalid('Query "window" must be 24h, 7d or 90d.', code="bad_query")
    plan = WINDOWS[window]
    ts = math.floor(now * 1000)
    end = -(-ts // plan.rounding) * plan.rounding
    start = end - plan.buckets * plan.size
    app = scope.mine().filter(slug=slug).first()
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
        **whole.wire(),
        "latency": whole.latency_wire(),
        "buckets": [
            {"at": moment(start + number * plan.size), **figures.bucket_wire()}
            for number, figures in enumerate(buckets)
        ],
        "transitions": _transitions(app, start, ts) if app else [],
        "source": plan.source,
    }


def _from_hours(app: models.Slug, start: int, plan: Window) -> list[Figures]:
    first, step = start // HOUR, plan.size // HOUR
    inside = models.Hour.objects.filter(
        app=app, hour__gte=first, hour__lt=first + plan.buckets * step
    )
    rows = (
        inside.order_by()
        .annotate(bucket=(F("hour") - first) / step)
        .values_list("bucket")
        .annotate(
            *(Sum(name) for name in COLUMNS.values()),
            *(Sum("n"), Sum("failed"), Sum("us_sum"), Min("us_min"), Max("us_max"), Packed("hist")),
        )
    )
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


def _transitions(app: models.Slug, start: int, now: int) -> list[dict[str, Any]]:
    """The last changes of state inside the window, oldest first; `seconds`: how long it lasted."""
    edges = models.Edge.objects.filter(app=app, ts__gte=start, ts__lte=now).order_by("-ts")
    found: list[dict[str, Any]] = []
    until = now
    for ts, before, after, reason in edges.values_list("ts", "from_state", "to_state", "reason")[
        :TRANSITIONS
    ]:
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
