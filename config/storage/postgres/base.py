"""PostgreSQL as SQLite is to its callers: what rows may hold, and that the database is just there.

Connections live as long as their threads, most of which serve no HTTP request, so Django's own
check at the start of a request would miss them. The look is one system call and no round trip.
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
    """Rows tell what files hold, NUL included; PostgreSQL stores none."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


class Moment(TimestamptzLoader):
    """psycopg's own loader of times, in C: Django's is Python, a quarter of a page of runs."""

    timezone = UTC  # what Django would look for, and what the connection is set to
    _own = adapters.get_loader(types["timestamptz"].oid, Format.TEXT) or TimestamptzLoader

    def __new__(cls, oid: int, context: AdaptContext | None = None) -> Any:
        return cls._own(oid, context)


class DatabaseOperations(operations.DatabaseOperations):
    def adapt_json_value(self, value: Any, encoder: Any) -> Any:
        return Json(value, dumps=lambda one: jsonio.column(one, encoder))


class DatabaseWrapper(base.DatabaseWrapper):
    """Columns as wide as SQLite's; JSON as it was written, not as jsonb would sort and refuse it.

    What a transaction had done before its server went is lost with it, so it must fail.
    """

    ops_class = DatabaseOperations
    _made = 0.0  # when the connection was, by the clock of OUTAGE
    data_types = base.DatabaseWrapper.data_types | {
        "CharField": "varchar",
        "JSONField": "json",
    }

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Django's own, which knows no connection but psycopg's."""
        self.isolation_level = IsolationLevel.READ_COMMITTED
        self._made = time.monotonic()
        connection = Patient.connect(**conn_params | {"autocommit": True})
        connection.tell_server()
        connection.adapters.register_dumper(str, WholeText)
        connection.adapters.register_loader("json", TextLoader)  # JSONField reads it
        connection.adapters.register_loader("timestamptz", Moment)
        return connection

    def ensure_connection(self) -> None:
        if self._left():
            self.close()
        if self.connection is None:
            with OUTAGE.attempt():
                super().ensure_connection()

    def close_if_unusable_or_obsolete(self) -> None:
        """Django's own asks the server about itself, which opens a new connection.

        It does so too when another thread finds the server silent meanwhile; that there is none
        to be had then fails the callers that need rows, not an answer that was made of files.
        """
        if self._left():
            self.close()
        elif self.connection is not None:
            with suppress(OperationalError):
                super().close_if_unusable_or_obsolete()

    def _left(self) -> bool:
        """Whether it is closed, or its server has said something unasked: only a goodbye is."""
        if self.connection is None or self.in_atomic_block:
            return False
        if self.connection.closed or self._made < OUTAGE.silent_at:
            return True
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return bool(poll.poll(0))
