"""Make the running service drop every cache of reviews, which no route does.

`settings` adds it as one more background part; the measuring process asks over a local socket.
"""

from __future__ import annotations

import contextlib
import threading
from multiprocessing.connection import Client, Listener
from pathlib import Path

from django.conf import settings

from review import caches


def address(data: Path) -> str:
    return str(data / "run" / "forget.sock")


def forget(data: Path) -> None:
    """Make the service of this data directory drop its caches, and wait until it has."""
    with Client(address(data)) as asking:
        asking.recv()


class Forgetter:
    """One of settings.SVC_BACKGROUND: each connection is a request to drop the caches."""

    def start(self) -> None:
        self._listener = Listener(address(Path(settings.DATA_DIR)))
        threading.Thread(target=self._obey, name="bench-forget", daemon=True).start()

    def stop(self) -> None:
        self._listener.close()

    def _obey(self) -> None:
        with contextlib.suppress(OSError):  # the connection was closed
            while True:
                with self._listener.accept() as asking:
                    caches.clear()
                    asking.send(True)
