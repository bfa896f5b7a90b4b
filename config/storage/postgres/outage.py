"""A server that does not answer: how long a thread waits for it, and what other threads do then.

A stopped machine or a lost route answers neither yes nor no. Without a limit every thread would
wait for it in turn, and files could no longer be read either.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import psycopg
from django.db import OperationalError
from psycopg import errors
from psycopg.abc import RV, PQGen

AGAIN_S = 0.25
ALIVE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3}


class Outage:
    """Whether the server last answered this process. After it did not, one thread at a time tries
    again; the others are refused at once."""

    def __init__(self) -> None:
        self.silent_at = 0.0  # connections made before are not trusted (monotonic)
        self._gone = False
        self._again = 0.0
        self._trying = threading.Lock()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """A block that makes a new connection. OperationalError if it is not this thread's turn to
        try, which says nothing about the server."""
        mine = self._trying.acquire(blocking=False)
        try:
            if self._gone and (not mine or time.monotonic() < self._again):
                raise OperationalError("the database was gone a moment ago")
            with self._noticing():
                yield
        finally:
            if mine:
                self._trying.release()

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        try:
            yield
        except OperationalError:
            self.found_gone()
            raise
        self._gone = False

    def found_gone(self) -> None:
        self._gone = True
        self._again = time.monotonic() + AGAIN_S

    def found_silent(self) -> None:
        self.silent_at = time.monotonic()
        self.found_gone()


OUTAGE = Outage()


class Patient(psycopg.Connection[Any]):
    """A connection that is closed if its server does not answer for `patience` seconds, or if it is
    read-only, as one is after another server has taken over from it.

    With None (commands such as migrate and backup) there is no limit.
    """

    patience: ClassVar[float | None] = None

    def tell_server(self) -> None:
        """Set a limit on the server for this client too, and so for its locks: by default it keeps
        them for hours if a route is lost in the middle of a transaction."""
        if self.patience is not None:
            values = {"idle_in_transaction_session_timeout": int(self.patience * 2000), **ALIVE}
            self.execute(
                ";".join(f"SET {name} = {value}" for name, value in values.items()).encode()
            )

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        if timeout is not None or self.patience is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.patience)
        except errors._WaitTimeout:
            self.pgconn.finish()
            OUTAGE.found_silent()
            why = f"the database said nothing for {self.patience:.0f} s"
            raise psycopg.OperationalError(why) from None
        except errors.ReadOnlySqlTransaction as error:
            self.pgconn.finish()  # another server may accept writes: a new connection finds it
            raise psycopg.OperationalError(str(error)) from None
