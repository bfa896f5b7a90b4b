"""SQLite with a file that may be removed: no other file is created, and the removed one is not
used.

Connections live as long as their threads. After its file was deleted, a connection would go on in a
file without a name, and the next one would create an empty file: whatever either accepts is lost.
So each use checks the name first, and no connection creates a file. The check is one system call.
"""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from django.db.backends.sqlite3 import base, operations

from config import jsonio
from config.errors import DatabaseGone

File = tuple[int, int]  # device and inode


class DatabaseOperations(operations.DatabaseOperations):
    def adapt_json_value(self, value: Any, encoder: Any) -> str:
        return jsonio.column(value, encoder)

    def convert_datetimefield_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """The result of Django's own method in two thirds of its time, since the driver has already
        parsed the time: a page of a list has hundreds."""
        if type(value) is datetime and value.tzinfo is None and connection.timezone is UTC:
            return value.replace(tzinfo=UTC)
        return super().convert_datetimefield_value(value, expression, connection)


class DatabaseWrapper(base.DatabaseWrapper):
    """A file that replaced the first one is opened between two transactions."""

    ops_class = DatabaseOperations
    _file: File | None = None  # what the connection has open

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        return params | {"database": uri(params["database"])}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        before = self._there()
        try:
            made = super().get_new_connection(conn_params)
        except sqlite3.OperationalError:
            if before is None:
                raise self._gone_error() from None
            raise
        self._file = before if before == self._there() else None
        return made

    def close_if_unusable_or_obsolete(self) -> None:
        """Called before and after each request, even one that needs only files. Django's own opens
        a connection for its check, which must not fail then."""
        if not self._was_replaced():
            super().close_if_unusable_or_obsolete()
        elif not self.in_atomic_block:
            self.close()

    def ensure_connection(self) -> None:
        if self._was_replaced():
            if self.in_atomic_block:
                raise self._gone_error()
            self.close()
        super().ensure_connection()

    def _commit(self) -> None:
        if self._was_replaced():
            raise self._gone_error()
        super()._commit()  # type: ignore[misc]

    def _was_replaced(self) -> bool:
        """Whether the file that the connection has open is no longer the one at the path."""
        return self.connection is not None and self._file != self._there()

    def _there(self) -> File | None:
        """The file at the path; None if there is none."""
        try:
            found = os.stat(self.settings_dict["NAME"])  # noqa: PTH116 - before each statement
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _gone_error(self) -> DatabaseGone:
        return DatabaseGone(f"the database {self.settings_dict['NAME']} was removed or replaced")


def uri(path: str | os.PathLike[str], mode: str = "rw") -> str:
    """A URI that opens the file and never creates it."""
    return f"file:{quote(os.fspath(path))}?mode={mode}"
