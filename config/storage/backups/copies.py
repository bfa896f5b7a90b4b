"""The database as one SQLite file, whatever store it is: how a backup takes and restore brings it.

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
    """A database as a backup sees it. `folder` is where a copy waits until it is brought in."""

    @property
    def folder(self) -> Path: ...

    def save(self, copy: Path) -> list[str]:
        """Write all of one moment to a new SQLite file, while others write; what to tell of it."""

    def refuse_data(self) -> None:
        """Conflict when it is not empty. OptionError when it cannot be used."""

    def load(self, copy: Path) -> contextlib.AbstractContextManager[None]:
        """Bring a copy in: it is there when the block has ended well, and else nothing is."""


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """The default: the file is copied by SQLite itself, and its copy becomes the file."""

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
    """PostgreSQL: rows are carried and compared, as `move-database` does (moving.py)."""

    folder: Path

    def save(self, copy: Path) -> list[str]:
        """One snapshot, which no writer waits for."""
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
    """In the copy, rows of this projects directory and this node name neither: where they are
    restored are others, which take rows without one for their own."""
    here = {"home": homes.home(), "node": nodes.me()}
    for model in moving.tables():
        for field in model._meta.local_fields:
            if field.name in here:
                rows = model._base_manager.using(COPY)
                rows.filter(**{field.name: here[field.name]}).update(**{field.name: ""})


def settings_of(copy: Path) -> dict[str, Any]:
    """Of a SQLite file that nobody else sees, and that is of no use after a crash."""
    quick = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;"
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": copy, "CONN_MAX_AGE": None,
            "OPTIONS": {"init_command": quick}}  # fmt: skip


def of_instance(data_dir: Path) -> Database:
    """The database of the settings."""
    if connection.vendor == "postgresql":
        return PostgresRows(data_dir)
    return SqliteFile(Path(str(connection.settings_dict["NAME"])))
