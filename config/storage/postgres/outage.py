"""A server that says nothing: how long a thread waits for it, and what the others do meanwhile.

A stopped machine or a lost route answers neither yes nor no. Without a bound every thread would
wait for it in turn, and no file could be read any more.
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
    """Whether the server of this process was last found to answer. After it was not, one thread at
    a time tries again; the others are refused at once."""

    def __init__(self) -> None:
        self.silent_at = 0.0  # connections from before are not to be trusted (monotonic)
        self._gone = False
        self._again = 0.0
        self._trying = threading.Lock()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Around a new connection. OperationalError while it is not one's turn, which says nothing
        of the server."""
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
    """A connection that is given up when its server says nothing for `patience` seconds, or that it
    takes nothing, as one does whose place another has taken.

    None (commands such as migrate and backup): it may work as long as it wants.
    """

    patience: ClassVar[float | None] = None

    def tell_server(self) -> None:
        """Have the server give this client up likewise, with the locks it holds: by itself it keeps
        them for hours when a route is lost in the middle of a transaction."""
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
            self.pgconn.finish()  # another server may write meanwhile: a new connection finds it
            raise psycopg.OperationalError(str(error)) from None
