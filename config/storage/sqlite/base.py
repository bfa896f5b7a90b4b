"""SQLite whose file may be taken away: nothing is made in its place, and nothing goes on in it.

Connections live as long as their threads. One whose file was deleted would go on in a file without
a name, and the next one would make an empty file for itself: what either of them accepts is lost.
So each use looks at the name first, and no connection makes a file. The look is one system call.
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
        """What Django's own way makes of a column's time, which the driver has read already, in two
        thirds of its time: a page of a list holds hundreds."""
        if type(value) is datetime and value.tzinfo is None and connection.timezone is UTC:
            return value.replace(tzinfo=UTC)
        return super().convert_datetimefield_value(value, expression, connection)


class DatabaseWrapper(base.DatabaseWrapper):
    """A file that was put in place of the first is taken up between two transactions."""

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
                raise self._gone() from None
            raise
        self._file = before if before == self._there() else None
        return made

    def close_if_unusable_or_obsolete(self) -> None:
        """Before and after each request, also of one that files alone can answer: Django's own
        looks by opening a connection, which must not fail then."""
        if not self._moved():
            super().close_if_unusable_or_obsolete()
        elif not self.in_atomic_block:
            self.close()

    def ensure_connection(self) -> None:
        if self._moved():
            if self.in_atomic_block:
                raise self._gone()
            self.close()
        super().ensure_connection()

    def _commit(self) -> None:
        if self._moved():
            raise self._gone()
        super()._commit()  # type: ignore[misc]

    def _moved(self) -> bool:
        """Whether the connection has another file open than the one of the name."""
        return self.connection is not None and self._file != self._there()

    def _there(self) -> File | None:
        """The file of the name, None when there is none."""
        try:
            found = os.stat(self.settings_dict["NAME"])  # noqa: PTH116 - before each statement
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _gone(self) -> DatabaseGone:
        return DatabaseGone(f"the database {self.settings_dict['NAME']} was removed or replaced")


def uri(path: str | os.PathLike[str], mode: str = "rw") -> str:
    """What opens the file and never makes it."""
    return f"file:{quote(os.fspath(path))}?mode={mode}"
