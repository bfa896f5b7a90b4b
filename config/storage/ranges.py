"""Reads a few of a million rows: by ranges of keys, by steps through an index, in chunks.

Keys of a ledger grow with time, except where a clock was set or differs between servers.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

SLACK = timedelta(hours=1)  # how far keys and times may disagree
CHUNK = 500  # rows deleted at once: a few milliseconds
REST_S = 0.01
Row = TypeVar("Row", bound=Model)


def between(
    rows: QuerySet[Row], column: str, since: datetime | None, until: datetime | None
) -> QuerySet[Row]:
    """Those rows whose indexed `column` is at or after `since`, and at or before `until`."""
    if since is not None:
        first = _first(rows, column, f"{column}__gte", since - SLACK)
        rows = rows.filter(**{f"{column}__gte": since})
        rows = rows.none() if first is None else rows.filter(pk__gte=first)
    if until is not None:
        beyond = _first(rows, column, f"{column}__gt", until + SLACK)
        rows = rows.filter(**{f"{column}__lte": until})
        rows = rows if beyond is None else rows.filter(pk__lt=beyond)
    return rows


def _first(rows: QuerySet[Row], column: str, after: str, moment: datetime) -> object:
    """The key of the first row of the whole table that the lookup `after` finds for the moment."""
    table = rows.model._default_manager.filter(**{after: moment})
    return table.order_by(column).values_list("pk", flat=True).first()


def values(table: type[Model], column: str) -> list[str]:
    """The distinct values of a column that an index begins with, in order.

    Takes one step through the index for each value; DISTINCT would read every row of the index.
    """
    name, rows = connection.ops.quote_name(column), table._meta.db_table
    following = f"SELECT MIN({name}) FROM {rows} WHERE {name} > found.value"  # noqa: S608 - names
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE found(value) AS (SELECT MIN({name}) FROM {rows} UNION ALL"  # noqa: S608
            f" SELECT ({following}) FROM found WHERE found.value IS NOT NULL)"
            " SELECT value FROM found WHERE value IS NOT NULL"
        )
        return [value for (value,) in cursor.fetchall()]


def newest(rows: QuerySet[Row], most: int) -> QuerySet[Row]:
    """Those of `rows` that are among the `most` rows of the table with the greatest keys."""
    keys = rows.model._default_manager.order_by("-pk").values_list("pk", flat=True)
    oldest = keys[most : most + 1].first()
    return rows if oldest is None else rows.filter(pk__gt=oldest)


def delete(rows: QuerySet[Row], *, chunk: int = CHUNK) -> int:
    """Delete chunk by chunk, each in its own transaction, with a pause after each: waiting writers
    of SQLite retry only now and then, so without pauses they would be kept out."""
    deleted = 0
    table = rows.model._default_manager
    while keys := list(rows.order_by().values_list("pk", flat=True)[:chunk]):
        deleted += table.filter(pk__in=keys).delete()[0]
        time.sleep(REST_S)
    return deleted
