"""The database compared with the code: migrations it lacks, and migrations of a newer version.

Migrations only go forward; a copy is kept before they run.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core.management import call_command
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import TextField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from config import __version__
from config.errors import DatabaseGone
from config.options import OptionError
from config.process import redis_client
from config.storage.sqlite.base import uri

log = logging.getLogger(__name__)

KEPT = 3
ANSWER_S = 6  # part of a start that ends within 10 s
AGAIN_S = 1.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MigrationState:
    """How far it is migrated: `pending` it lacks, `newer` the code lacks; `fresh`: it is empty."""

    pending: tuple[str, ...]
    newer: tuple[str, ...]
    fresh: bool

    def refuse_newer(self) -> None:
        """Raise OptionError if a newer version of svc has migrated this database."""
        if self.newer:
            raise OptionError(
                f"{name()} was made by a newer version "
                f"({self.newer[0]} is unknown to svc {__version__}); install that version or "
                "newer, or move the file away: projects, chats and triggers are files and stay"
            )


def reach() -> None:
    """Raise OptionError if the database or Redis does not answer: the service cannot start without
    them. However many addresses they have, this takes at most ANSWER_S."""
    deadline = time.monotonic() + ANSWER_S
    if connection.vendor == "postgresql":
        _until(deadline, _try_postgresql, f"{name()} does not answer", "SVC_DATABASE_URL")
    if gone():
        raise OptionError(f"{name()} is not there: `manage.py up` or `manage.py migrate` makes it")
    try:
        connection.ensure_connection()
    except OperationalError as error:
        raise OptionError(f"{name()} cannot be opened: {error}") from None
    if settings.SVC.redis_url:
        _until(
            deadline, redis_client.reach, f"{redis_client.name()} does not answer", "SVC_REDIS_URL"
        )


def give_up_after(seconds: float) -> None:
    """Wait at most so long for an answer of PostgreSQL; without this call there is no limit."""
    if connection.vendor == "postgresql":
        from config.storage.postgres.outage import Patient

        Patient.patience = seconds


def _try_postgresql() -> None:
    """Connect. This runs in a thread, so on a connection of its own."""
    try:
        connection.ensure_connection()
        _refuse_other_orders()
    except OperationalError as error:
        reason = " ".join(str(error).split())
        raise OptionError(f"{name()} does not answer: {reason}; see SVC_DATABASE_URL") from None
    finally:
        connection.close()


def _until(deadline: float, ask: Callable[[], None], told: str, setting: str) -> None:
    """Call `ask` in a thread, which is abandoned at the deadline: OptionError then."""
    raised: list[Exception] = []

    def work() -> None:
        try:
            ask()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="reach", daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    if thread.is_alive():
        raise OptionError(f"{told} within {ANSWER_S} s: it is silent; see {setting}")
    if raised:
        raise raised[0]


def _refuse_other_orders() -> None:
    """Keys must be compared as bytes, as SQLite does it: `<sha>:` is less than `<sha>;`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT datcollate, pg_encoding_to_char(encoding) FROM pg_database"
            " WHERE datname = current_database()"
        )
        collation, encoding = cursor.fetchone()
    if encoding != "UTF8" or collation.partition(".")[0] not in ("C", "POSIX"):
        raise OptionError(
            f"{name()} has encoding {encoding} and sorts by {collation}; make one with "
            f"`createdb -T template0 -E UTF8 -l C {connection.settings_dict['NAME']}`"
        )


def name() -> str:
    """The database's name for messages: no user, no password."""
    chosen = connection.settings_dict
    if connection.vendor != "postgresql":
        return f"the database {chosen['NAME']}"
    place = chosen["HOST"] or "this machine"
    port = f":{chosen['PORT']}" if chosen["PORT"] else ""
    return f"the PostgreSQL database {chosen['NAME']} on {place}{port}"


def once_there(store: Callable[[], object], *, within: float) -> None:
    """Call `store`. If the database is gone, retry, and raise its error after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        try:
            store()
            return
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() > deadline or isinstance(error, DatabaseGone):
                raise
            log.warning("a row waits for the database: %s", error)
            time.sleep(AGAIN_S)


def unless_gone(read: Callable[[], T], otherwise: Callable[[], T]) -> T:
    """What `read` returns, or what `otherwise` returns while the database is gone."""
    try:
        return read()
    except OperationalError as error:
        log.warning("an answer does without the database", extra={"why": str(error)})
        return otherwise()


def alone(*what: str) -> None:
    """Exclude other transactions that call this with the same words until this one ends.

    For rows that are read before they are written. SQLite's transactions are exclusive anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [":".join(what)]
            )


def make(chosen: Mapping[str, Any] | None = None) -> None:
    """Create the empty file of SQLite if there is none, readable by this user alone; its side files
    get the same mode. Only a start or a rebuild of the service does this, never a connection.

    `chosen`: the settings of a database other than the service's own.
    """
    chosen = chosen or connection.settings_dict
    if "sqlite" in chosen["ENGINE"]:
        Path(chosen["NAME"]).touch(mode=0o600)


def stamp() -> object:
    """A value that differs once anything was written, by any process; cheaper than a query of a
    table.

    SQLite reports this for all its connections. PostgreSQL does not: there each value is different.
    """
    if connection.vendor != "sqlite":
        return object()
    connection.ensure_connection()
    opened = connection.connection
    with connection.wrap_database_errors:
        (by_others,) = opened.execute("PRAGMA data_version").fetchone()
    return opened, by_others, opened.total_changes


def gone() -> bool:
    """Whether the file of SQLite is missing. Makes no query."""
    return connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists()


def look() -> MigrationState:
    """Compare the migrations of the code with those applied to the database."""
    reach()
    return state_of(connection)


def state_of(database: BaseDatabaseWrapper) -> MigrationState:
    """`look` for a connection that is known to work."""
    executor = MigrationExecutor(database)
    loader = executor.loader
    plan = executor.migration_plan(loader.graph.leaf_nodes())
    ours = {label for label, _name in loader.disk_migrations}
    unknown = set(loader.applied_migrations) - set(loader.disk_migrations)
    return MigrationState(
        pending=tuple(f"{migration.app_label}.{migration.name}" for migration, _back in plan),
        newer=tuple(sorted(f"{label}.{name}" for label, name in unknown if label in ours)),
        fresh=not loader.applied_migrations,
    )


def migrate(state: MigrationState) -> list[str]:
    """Bring the database to this version, after copying a SQLite file. Return sentences on the
    changes.

    PostgreSQL rolls back a migration that fails; its operator makes the copies.
    """
    if state.pending:
        if not state.fresh and connection.vendor == "sqlite":
            _keep_copy(Path(connection.settings_dict["NAME"]))
        call_command("migrate", interactive=False, verbosity=0)
    connection.close()
    return ["database made"] if state.fresh else [f"migrated {name}" for name in state.pending]


def _keep_copy(path: Path) -> None:
    """Keep an online copy beside the state files; only the newest KEPT copies are kept."""
    folder = settings.DATA_DIR / "state"
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    copy = folder / f"before-migrate-{stamp}.sqlite3"
    copy.touch(mode=0o600)
    source, target = sqlite3.connect(uri(path), uri=True), sqlite3.connect(uri(copy), uri=True)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()
    for old in sorted(folder.glob("before-migrate-*.sqlite3"))[:-KEPT]:
        old.unlink(missing_ok=True)


def text_at(path: str) -> Cast:
    """The text at a place inside a JSON column, `event__sessionId`, comparable on both stores.

    PostgreSQL cannot compare `json`, and SQLite would read the other side as JSON.
    """
    return Cast(KT(path), TextField())
