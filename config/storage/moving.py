"""Copies all rows from one database to another: counted, compared, all of them or none.

Only rows are moved; projects, chats and triggers are files and stay. The source is only read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice, starmap
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connections, models, transaction

from config.errors import Conflict, Invalid

SOURCE, TARGET = "default", "target"
CHUNK = 100  # rows in memory at once, each of which may hold a long prompt
ROWS = 2**256


@dataclass(frozen=True, slots=True)
class Table:
    """What one table holds: how many rows, and a checksum that does not depend on their order."""

    name: str
    rows: int
    checksum: str


def move(target: dict[str, Any]) -> list[Table]:
    """Copy everything into `target` (settings of a database). Conflict if it holds rows or if
    others use the source, Invalid if the rows that arrived differ from those sent; the target then
    holds nothing."""
    with attached(TARGET, target):
        refuse_others(SOURCE)
        refuse_rows(TARGET)
        call_command("migrate", database=TARGET, interactive=False, verbosity=0)
        with transaction.atomic(using=SOURCE), transaction.atomic(using=TARGET):
            return carry(SOURCE, TARGET)


def carry(source: str, target: str) -> list[Table]:
    """Copy every row from one connection to another, inside transactions of the caller. The
    caller ensures that the first is a snapshot and that the second is rolled back if this raises
    Invalid."""
    moved = list(tables())
    for model in moved:
        _copy(model, source, target)
    told = [_verify(model, source, target) for model in moved]
    _go_on_counting(moved, target)
    return told


@contextmanager
def attached(alias: str, target: dict[str, Any]) -> Iterator[None]:
    """Make a further database available under an alias inside the block."""
    connections.settings[alias] = connections.configure_settings(
        {**connections.settings, alias: target}
    )[alias]
    try:
        yield
    finally:
        connections[alias].close()
        del connections[alias]
        del connections.settings[alias]


def tables() -> Iterator[type[models.Model]]:
    """The models of every table of ours and of the queue; migrations fill Django's own tables."""
    for config in apps.get_app_configs():
        if not config.name.startswith("django.contrib"):
            yield from (model for model in config.get_models() if not model._meta.proxy)


def refuse_others(alias: str) -> None:
    """Raise Conflict if servers of other machines are connected, which PostgreSQL allows."""
    connection = connections[alias]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'svc' AND pid <> pg_backend_pid()"
            )
            (others,) = cursor.fetchone()
        if others:
            raise Conflict(f"{others} connections of other servers are open: stop them first")


def refuse_rows(alias: str) -> None:
    """Raise Conflict if a table of ours exists and holds a row. Changes nothing."""
    connection = connections[alias]
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
        for name in (model._meta.db_table for model in tables()):
            if name not in there:
                continue
            cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(name)} LIMIT 1")  # noqa: S608
            if cursor.fetchone():
                raise Conflict(
                    f"{connection.settings_dict['NAME']} holds rows already ({name}); "
                    "name an empty database, or move that one away"
                )


def _fields(model: type[models.Model]) -> Sequence[models.Field[Any, Any]]:
    return model._meta.local_concrete_fields


def _rows(model: type[models.Model], alias: str) -> Generator[tuple[Any, ...], None, None]:
    names = [field.attname for field in _fields(model)]
    rows = model._base_manager.using(alias).order_by().values_list(*names)
    yield from rows.iterator(chunk_size=CHUNK)


def _copy(model: type[models.Model], source: str, alias: str) -> None:
    target = connections[alias]
    fields = _fields(model)
    quote = target.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    insert = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608
    with closing(_rows(model, source)) as sent, target.cursor() as cursor:
        rows = (
            [
                field.get_db_prep_save(value, target)
                for field, value in zip(fields, row, strict=True)
            ]
            for row in sent
        )
        while chunk := list(islice(rows, CHUNK)):
            cursor.executemany(insert, chunk)


def _verify(model: type[models.Model], source: str, target: str) -> Table:
    sent, arrived = starmap(_table, ((model, source), (model, target)))
    if sent != arrived:
        raise Invalid(
            f"{sent.name}: {sent.rows} rows ({sent.checksum}) were sent, "
            f"{arrived.rows} ({arrived.checksum}) arrived; nothing was moved"
        )
    return arrived


def _table(model: type[models.Model], alias: str) -> Table:
    count = total = 0
    for row in _rows(model, alias):
        count += 1
        total = (total + _number(row)) % ROWS
    return Table(model._meta.db_table, count, f"{total:064x}"[:16])


def _number(row: tuple[Any, ...]) -> int:
    """A number computed from the row's values; PostgreSQL stores NUL as U+FFFD."""
    text = json.dumps(row, default=_plain).replace("\\u0000", "\\ufffd")
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


def _plain(value: Any) -> str:
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else str(value)


def _go_on_counting(moved: Sequence[type[models.Model]], alias: str) -> None:
    """Set PostgreSQL's counters for new keys, which copied rows have not advanced."""
    target = connections[alias]
    with target.cursor() as cursor:
        for statement in target.ops.sequence_reset_sql(no_style(), list(moved)):
            cursor.execute(statement)
