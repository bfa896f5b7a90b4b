"""History in the database: one transaction for the data of a second, and the reads at a start.

Only the recorder's thread writes here. A row is written whole, whether it is new or not, so
writing a batch twice does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field, fields
from functools import cache
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import F, Model, OuterRef, Q, QuerySet, Subquery, Sum

from dashboard import models
from dashboard.history import scope
from dashboard.history.hours import Hour, of_row
from dashboard.history.states import StoredState
from dashboard.history.track import RECENT, Reading, Recent, check

HOUR_BITS = 24  # bits of an id: enough for hours until the year 3883
UPTIME_HOURS = {"24h": 24, "7d": 168, "90d": 2160}

Key = tuple[str, int]  # a slug, and a time in ms or the number of an hour
Totals = dict[str, dict[str, tuple[int, int]]]  # by slug and window: ms good, ms bad


@dataclass(frozen=True, slots=True)
class Standing:
    """The fields of a slug's row. `since` and `removed_at` in Unix ms, `interval` in ms."""

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
    """A slug of earlier runs, with its last sample."""

    pk: int
    slug: str
    last_ts: int | None
    last_state: int | None
    standing: Standing


@dataclass(slots=True)
class Batch:
    """The data to be written, by key."""

    slugs: dict[str, Standing] = field(default_factory=dict)
    samples: dict[Key, Reading] = field(default_factory=dict)
    edges: dict[Key, Move] = field(default_factory=dict)
    hours: dict[Key, dict[str, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.slugs or self.samples or self.edges or self.hours)

    def names(self) -> set[str]:
        keys = (*self.samples, *self.edges, *self.hours)
        return set(self.slugs) | {slug for slug, _number in keys}


# The columns of each table, in the order of its rows, and those that are its key.
_TABLES: dict[type[Model], tuple[tuple[str, ...], tuple[str, ...]]] = {
    models.Slug: (("node", "slug", *(one.name for one in fields(Standing))), ("node", "slug")),
    models.Hour: (("id", "app_id", *Hour(0).row()), ("app_id", "hour")),
    models.Sample: (("app_id", "ts", "state", "us", "status", "ok"), ("app_id", "ts")),
    models.Edge: (("app_id", "ts", "from_state", "to_state", "reason"), ("app_id", "ts")),
}


def write(batch: Batch) -> None:
    """Write the whole batch, or nothing if there is a DatabaseError."""
    with transaction.atomic():
        ids = _ids(batch)
        _put(
            models.Hour,
            [
                (_place(ids[slug], number), ids[slug], *row.values())
                for (slug, number), row in batch.hours.items()
            ],
        )
        _put(
            models.Sample,
            [
                (ids[slug], ts, int(one.state), one.us, one.status, one.ok)
                for (slug, ts), one in batch.samples.items()
            ],
        )
        _put(
            models.Edge,
            [
                (ids[slug], ts, move.before, move.after, move.reason)
                for (slug, ts), move in batch.edges.items()
            ],
        )


def _ids(batch: Batch) -> dict[str, int]:
    """The ids of all slugs in the batch, queried each time, as rows may have been pruned."""
    node = scope.here()
    _put(models.Slug, [(node, slug, *astuple(one)) for slug, one in batch.slugs.items()])
    names = batch.names()
    rows = scope.mine().filter(slug__in=names).order_by().values_list("slug", "pk")
    found = dict(rows)
    if lost := names - found.keys():
        _put(models.Slug, [(node, slug, *astuple(Standing())) for slug in lost])
        found = dict(rows.all())
    return found


def _place(app_id: int, hour: int) -> int:
    """The id of an hour. SQLite stores rows in the order of ids, so those of one app lie together.

    That way 90 days of an app are about 90 pages; in the order of writing, each row is on its own
    page.
    """
    return app_id << HOUR_BITS | hour


def _put(table: type[Model], rows: list[tuple[Any, ...]]) -> None:
    """Insert or replace whole rows with columns in the order of _TABLES.

    A raw statement: with bulk_create a flush costs almost three times as much.
    """
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_statement(table), rows)


@cache
def _statement(table: type[Model]) -> str:
    """The statement, in SQL that SQLite and PostgreSQL share."""
    columns, key = _TABLES[table]
    kept = {"id", *key}
    told = ", ".join(f'"{name}" = excluded."{name}"' for name in columns if name not in kept)
    marks = ", ".join(["%s"] * len(columns))
    insert = f'INSERT INTO "{table._meta.db_table}" ({_quote_names(columns)}) VALUES ({marks})'  # noqa: S608
    return f"{insert} ON CONFLICT ({_quote_names(key)}) DO UPDATE SET {told}"


def _quote_names(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def pasts() -> list[Past]:
    """Every slug of this node that has a history."""
    last = models.Sample.objects.filter(app=OuterRef("pk")).order_by("-ts")
    rows = scope.mine().values_list(
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


def recent(app_id: int) -> list[Recent]:
    """The last checks of an app, oldest first."""
    rows = models.Sample.objects.filter(app=app_id, ok__isnull=False).order_by("-ts")
    found = rows.values_list("ts", "ok", "us", "status", "state")[:RECENT]
    return [
        check(ts, bool(ok), us, status, StoredState(state))
        for ts, ok, us, status, state in reversed(found)
    ]


def hours_since(hour: int) -> Iterator[tuple[str, Hour]]:
    """The stored hours of every slug, beginning with `hour`."""
    every = scope.mine().order_by().values("pk")  # the index begins with the app
    rows = models.Hour.objects.filter(app__in=every, hour__gte=hour).select_related("app")
    for row in rows.order_by():
        yield row.app.slug, of_row(row)


def hours_of(keys: Iterable[Key]) -> dict[Key, Hour]:
    """Those of these hours that are stored."""
    wanted = set(keys)
    names, numbers = {slug for slug, _ in wanted}, {number for _, number in wanted}
    rows = models.Hour.objects.filter(
        app__in=scope.mine().filter(slug__in=names), hour__in=numbers
    ).select_related("app")
    found = {(row.app.slug, row.hour): row for row in rows}
    return {key: of_row(row) for key, row in found.items() if key in wanted}


def totals(end: int, through: int) -> Totals:
    """Per slug and window, the sums of the stored hours before `through`.

    `end`: the number of the hour at which the windows end. One pass over the table: grouped by the
    bare column, SQLite would look every row up through the index, which takes eight times as long.
    """
    sums: dict[str, Any] = {}
    for window, hours in UPTIME_HOURS.items():
        inside = Q(hour__gte=end - hours)
        sums[f"good_{window}"] = Sum(F("up") + F("degraded"), filter=inside, default=0)
        sums[f"bad_{window}"] = Sum("down", filter=inside, default=0)
    rows: Iterable[Any] = (
        _hours(end - max(UPTIME_HOURS.values()), through)
        .order_by()
        .annotate(number=F("app_id") + 0)
        .values("number")
        .annotate(**sums)
    )
    names = dict(scope.mine().values_list("pk", "slug"))
    return {
        names[row["number"]]: {
            window: (row[f"good_{window}"], row[f"bad_{window}"]) for window in UPTIME_HOURS
        }
        for row in rows
        if row["number"] in names
    }


def _hours(first: int, end: int) -> QuerySet[models.Hour]:
    """The stored hours of this node. In SQLite all are, so there is no filter that would use the
    index."""
    rows = models.Hour.objects.filter(hour__gte=first, hour__lt=end)
    return rows.filter(app__in=scope.mine().order_by().values("pk")) if scope.here() else rows
