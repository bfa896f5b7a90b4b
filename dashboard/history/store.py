"""History in the database: one transaction for what a second brought, and the reads of a start.

Only the recorder's thread writes here. A row is written whole, whether it is new or not, so a
batch that is written twice does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Model, OuterRef, Q, Subquery, Sum

from dashboard import models
from dashboard.history.hours import Hour, of_row
from dashboard.history.track import RECENT, Check, Reading

HOUR_BITS = 24  # of an id: hours until the year 3883
UPTIME_HOURS = {"24h": 24, "7d": 168, "90d": 2160}

Key = tuple[str, int]  # a slug, and a time in ms or the number of an hour
Totals = dict[str, dict[str, tuple[int, int]]]  # by slug and window: ms good, ms bad


@dataclass(frozen=True, slots=True)
class Standing:
    """What the row of a slug says. `since` and `removed_at` in Unix ms, `interval` in ms."""

    state: str = ""
    since: int | None = None
    reason: str = ""
    observed_id: str = ""
    interval: int = 30_000
    removed_at: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """One change of state."""

    before: str
    after: str
    reason: str


class Past(NamedTuple):
    """A slug of earlier runs, and its last sample."""

    pk: int
    slug: str
    last_ts: int | None
    last_state: int | None
    standing: Standing


@dataclass(slots=True)
class Batch:
    """What is to be written, by key."""

    slugs: dict[str, Standing] = field(default_factory=dict)
    samples: dict[Key, Reading] = field(default_factory=dict)
    edges: dict[Key, Move] = field(default_factory=dict)
    hours: dict[Key, models.Hour] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.slugs or self.samples or self.edges or self.hours)

    def names(self) -> set[str]:
        keys = (*self.samples, *self.edges, *self.hours)
        return set(self.slugs) | {slug for slug, _number in keys}


def write(batch: Batch) -> None:
    """All of it or, with a DatabaseError, nothing."""
    with transaction.atomic():
        ids = _ids(batch)
        _put(
            models.Hour,
            [_of(ids[slug], row) for (slug, _number), row in batch.hours.items()],
            ("app", "hour"),
        )
        _put(
            models.Sample,
            [
                models.Sample(
                    app_id=ids[slug],
                    ts=ts,
                    state=reading.state,
                    us=reading.us,
                    status=reading.status,
                    ok=reading.ok,
                )
                for (slug, ts), reading in batch.samples.items()
            ],
            ("app", "ts"),
        )
        _put(
            models.Edge,
            [
                models.Edge(
                    app_id=ids[slug],
                    ts=ts,
                    from_state=move.before,
                    to_state=move.after,
                    reason=move.reason,
                )
                for (slug, ts), move in batch.edges.items()
            ],
            ("app", "ts"),
        )


def _ids(batch: Batch) -> dict[str, int]:
    """The ids of all slugs named, asked anew each time: rows may have been pruned."""
    _put(
        models.Slug,
        [
            models.Slug(
                slug=slug,
                observed_id=standing.observed_id,
                state=standing.state,
                since=standing.since,
                reason=standing.reason,
                interval=standing.interval,
                removed_at=standing.removed_at,
            )
            for slug, standing in batch.slugs.items()
        ],
        ("slug",),
    )
    names = batch.names()
    rows = models.Slug.objects.filter(slug__in=names).values_list("slug", "pk")
    if lost := names - dict(rows).keys():
        models.Slug.objects.bulk_create(models.Slug(slug=slug) for slug in lost)
    return dict(rows.all())


def _of(app_id: int, row: models.Hour) -> models.Hour:
    """The row of that app. SQLite keeps rows in the order of their ids: those of one app together.

    Side by side, 90 days of an app are some 90 pages; in the order of writing, a page for each row.
    """
    row.app_id = app_id
    row.pk = app_id << HOUR_BITS | row.hour
    return row


def _put(table: type[Model], rows: list[Model], key: tuple[str, ...]) -> None:
    """Insert or replace."""
    names = [column.name for column in table._meta.concrete_fields if not column.primary_key]
    table._default_manager.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=list(key),
        update_fields=[name for name in names if name not in key],
    )


def pasts() -> list[Past]:
    """Every slug that has a history."""
    last = models.Sample.objects.filter(app=OuterRef("pk")).order_by("-ts")
    rows = models.Slug.objects.values_list(
        "pk",
        "slug",
        Subquery(last.values("ts")[:1]),
        Subquery(last.values("state")[:1]),
        *("state", "since", "reason", "observed_id", "interval", "removed_at"),
    )
    return [
        Past(pk, slug, last_ts, last_state, Standing(*rest))
        for pk, slug, last_ts, last_state, *rest in rows
    ]


def recent(app_id: int) -> list[Check]:
    """The last checks of an app, oldest first."""
    rows = models.Sample.objects.filter(app=app_id, ok__isnull=False).order_by("-ts")
    found = rows.values_list("ts", "ok", "us", "status")[:RECENT]
    return [Check(ts, bool(ok), us, status) for ts, ok, us, status in reversed(found)]


def hours_since(hour: int) -> Iterator[tuple[str, Hour]]:
    """The stored hours of every slug from `hour` on."""
    every = models.Slug.objects.order_by().values("pk")  # names the first column of the index
    rows = models.Hour.objects.filter(app__in=every, hour__gte=hour).select_related("app")
    for row in rows.order_by():
        yield row.app.slug, of_row(row)


def hours_of(keys: Iterable[Key]) -> dict[Key, Hour]:
    """The stored ones of these hours."""
    wanted = set(keys)
    names, numbers = {slug for slug, _ in wanted}, {number for _, number in wanted}
    rows = models.Hour.objects.filter(
        app__in=models.Slug.objects.filter(slug__in=names), hour__in=numbers
    ).select_related("app")
    found = {(row.app.slug, row.hour): row for row in rows}
    return {key: of_row(row) for key, row in found.items() if key in wanted}


def totals(end: int, through: int) -> Totals:
    """Per slug and window, what the stored hours before `through` add up to.

    `end`: the number of the hour at which the windows end. One pass over the table: grouped by
    the bare column, SQLite would look every row up through the index, eight times as long.
    """
    sums: dict[str, Any] = {}
    for window, hours in UPTIME_HOURS.items():
        inside = Q(hour__gte=end - hours)
        sums[f"good_{window}"] = Sum(F("up") + F("degraded"), filter=inside, default=0)
        sums[f"bad_{window}"] = Sum("down", filter=inside, default=0)
    rows: Iterable[Any] = (
        models.Hour.objects.filter(hour__gte=end - max(UPTIME_HOURS.values()), hour__lt=through)
        .order_by()
        .annotate(number=F("app_id") + 0)
        .values("number")
        .annotate(**sums)
    )
    names = dict(models.Slug.objects.values_list("pk", "slug"))
    return {
        names[row["number"]]: {
            window: (row[f"good_{window}"], row[f"bad_{window}"]) for window in UPTIME_HOURS
        }
        for row in rows
        if row["number"] in names
    }
