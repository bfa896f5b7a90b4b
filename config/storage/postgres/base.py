"""PostgreSQL that is to its callers like SQLite: the same values in rows, and no lost connections.

Connections live as long as their threads, most of which serve no HTTP request, so Django's own
check at the start of a request would not cover them. The check here is one system call, not a round
trip.
"""

from __future__ import annotations

import select
import time
from contextlib import suppress
from datetime import UTC
from typing import Any

from django.db import OperationalError
from django.db.backends.postgresql import base, operations
from psycopg import IsolationLevel, adapters
from psycopg.abc import AdaptContext
from psycopg.postgres import types
from psycopg.pq import Format
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import Json
from psycopg.types.string import StrDumper, TextLoader

from config import jsonio
from config.storage.postgres.outage import OUTAGE, Patient


class WholeText(StrDumper):
    """Text with NUL as U+FFFD: rows hold what files hold, and PostgreSQL cannot store NUL."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


class Moment(TimestamptzLoader):
    """psycopg's loader of times, in C: Django's Python takes a quarter of a page of runs' time."""

    timezone = UTC  # read by Django; the connection's time zone is set to it
    _own = adapters.get_loader(types["timestamptz"].oid, Format.TEXT) or TimestamptzLoader

    def __new__(cls, oid: int, context: AdaptContext | None = None) -> Any:
        return cls._own(oid, context)


class DatabaseOperations(operations.DatabaseOperations):
    def adapt_json_value(self, value: Any, encoder: Any) -> Any:
        return Json(value, dumps=lambda one: jsonio.column(one, encoder))


class DatabaseWrapper(base.DatabaseWrapper):
    """Columns as wide as SQLite's; JSON as it was written, where jsonb would sort or refuse it.

    In a transaction a connection is never replaced: what was done before the server went is lost,
    so the transaction must fail.
    """

    ops_class = DatabaseOperations
    _made = 0.0  # when the connection was made, by the clock of OUTAGE
    data_types = base.DatabaseWrapper.data_types | {
        "CharField": "varchar",
        "JSONField": "json",
    }

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Like Django's own, which supports no connection class but psycopg's."""
        self.isolation_level = IsolationLevel.READ_COMMITTED
        self._made = time.monotonic()
        connection = Patient.connect(**conn_params | {"autocommit": True})
        connection.tell_server()
        connection.adapters.register_dumper(str, WholeText)
        connection.adapters.register_loader("json", TextLoader)  # JSONField reads it
        connection.adapters.register_loader("timestamptz", Moment)
        return connection

    def ensure_connection(self) -> None:
        if self._hung_up():
            self.close()
        if self.connection is None:
            with OUTAGE.attempt():
                super().ensure_connection()

    def close_if_unusable_or_obsolete(self) -> None:
        """Close a lost connection. Django's own check asks the server, if need be on a new one.

        That also happens if another thread finds the server silent at that moment. If there is no
        connection to be had then, only callers that need rows fail, not an answer made from files.
        """
        if self._hung_up():
            self.close()
        elif self.connection is not None:
            with suppress(OperationalError):
                super().close_if_unusable_or_obsolete()

    def _hung_up(self) -> bool:
        """Whether it is closed, older than an outage, or has unread data: a server sends nothing
        unasked but a goodbye."""
        if self.connection is None or self.in_atomic_block:
            return False
        if self.connection.closed or self._made < OUTAGE.silent_at:
            return True
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return bool(poll.poll(0))
