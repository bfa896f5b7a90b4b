"""The database as one SQLite file, whatever the store: how it is backed up and restored.

So an archive of one store can be restored into the other, and no program of a database is needed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from django.core.management import call_command
from django.db import connection, connections, transaction

from config.errors import Conflict, Invalid
from config.options import OptionError
from config.process import nodes
from config.storage import database, homes, moving
from config.storage.sqlite.base import uri

ROWS, COPY = "default", "copy"
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class Database(Protocol):
    """A database as a backup uses it. `folder` is where a copy waits until it is loaded."""

    @property
    def folder(self) -> Path: ...

    def save(self, copy: Path) -> list[str]:
        """Write a snapshot to a new SQLite file while others write; return notes for the report."""

    def refuse_data(self) -> None:
        """Raise Conflict if the database is not empty, OptionError if it cannot be used."""

    def load(self, copy: Path) -> contextlib.AbstractContextManager[None]:
        """Load a copy: its rows are there if the block ends well, and none are if it raises."""


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """The default: SQLite itself copies the file, and a loaded copy is moved into its place."""

    path: Path

    @property
    def folder(self) -> Path:
        return self.path.parent

    def save(self, copy: Path) -> list[str]:
        if not self.path.is_file():
            return []
        with (
            contextlib.closing(sqlite3.connect(uri(self.path), uri=True, timeout=20)) as source,
            contextlib.closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")
        return []

    def refuse_data(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-wal")):
            if path.is_file() and path.stat().st_size:
                raise Conflict(f"{path} already holds data; restore into an empty SVC_DATA_DIR")

    @contextmanager
    def load(self, copy: Path) -> Iterator[None]:
        yield
        copy.replace(self.path)


@dataclass(frozen=True, slots=True)
class PostgresRows:
    """PostgreSQL: rows are copied and compared, as `move-database` does it (moving.py)."""

    folder: Path

    def save(self, copy: Path) -> list[str]:
        """Copy from one snapshot; no writer has to wait for it."""
        state = database.look()
        state.refuse_newer()
        if state.pending:
            raise OptionError(f"{database.name()} is not migrated yet; run manage.py migrate first")
        with moving.attached(COPY, settings_of(copy)):
            call_command("migrate", database=COPY, interactive=False, verbosity=0)
            with transaction.atomic(using=ROWS), transaction.atomic(using=COPY):
                with connections[ROWS].cursor() as cursor:
                    cursor.execute(SNAPSHOT)
                told = moving.carry(ROWS, COPY)
                _forget_place()
        rows = f"{sum(table.rows for table in told)} rows of {database.name()}, all compared"
        return [f"{rows}; if several servers share it: the rows of all, the files of this one"]

    def refuse_data(self) -> None:
        database.look().refuse_newer()
        moving.refuse_others(ROWS)
        moving.refuse_rows(ROWS)

    @contextmanager
    def load(self, copy: Path) -> Iterator[None]:
        with moving.attached(COPY, settings_of(copy)):
            if unknown := database.state_of(connections[COPY]).newer:
                raise Invalid(f"its database was made by a newer version ({unknown[0]})")
            for alias in (COPY, ROWS):
                call_command("migrate", database=alias, interactive=False, verbosity=0)
            with transaction.atomic(using=COPY), transaction.atomic(using=ROWS):
                moving.carry(COPY, ROWS)
                yield


def _forget_place() -> None:
    """In the copy, clear the home and node of rows of this projects directory and this node: where
    they are restored, these are different ones, and rows without one are adopted."""
    here = {"home": homes.home(), "node": nodes.me()}
    for model in moving.tables():
        for field in model._meta.local_fields:
            if field.name in here:
                rows = model._base_manager.using(COPY)
                rows.filter(**{field.name: here[field.name]}).update(**{field.name: ""})


def settings_of(copy: Path) -> dict[str, Any]:
    """Settings of a SQLite file that no other process uses and that is of no use after a crash."""
    quick = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;"
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": copy, "CONN_MAX_AGE": None,
            "OPTIONS": {"init_command": quick}}  # fmt: skip


def of_instance(data_dir: Path) -> Database:
    """The database of this instance's settings."""
    if connection.vendor == "postgresql":
        return PostgresRows(data_dir)
    return SqliteFile(Path(str(connection.settings_dict["NAME"])))
