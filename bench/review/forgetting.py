"""A way to make the running service forget all it remembers of reviews, which no route has.

`settings` names it as one more background part; the measuring process asks over a local socket.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from pathlib import Path

from django.conf import settings

from review import caches

DONE = b"done"


def address(data: Path) -> str:
    return str(data / "run" / "forget.sock")


def forget(data: Path) -> None:
    """Have the service of this data directory forget, and wait until it has."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(address(data))
        assert asking.recv(len(DONE)) == DONE


class Forgetter:
    """One of settings.SVC_BACKGROUND: each connection is an order to forget."""

    def __init__(self) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._address = address(Path(settings.DATA_DIR))

    def start(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._address)  # noqa: PTH108
        self._listener.bind(self._address)
        self._listener.listen()
        threading.Thread(target=self._obey, name="bench-forget", daemon=True).start()

    def stop(self) -> None:
        self._listener.close()

    def _obey(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                asking, _ = self._listener.accept()
                with asking:
                    caches.clear()
                    asking.sendall(DONE)
