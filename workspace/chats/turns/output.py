"""What a turn process and its tools print, in a file of bounded size: the beginning and the end.

The end is always on disk, since it explains a crash; the middle is left out. A full disk never
blocks the process that prints.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

log = logging.getLogger(__name__)

MOST, HEAD, TAIL = 10 << 20, 2 << 20, 4 << 20  # bytes of a file; what is kept when it reaches MOST
PART = 1 << 20
LINGER_S = 2.0


class Bounded:
    """A log file that never grows beyond MOST bytes, however much is written to it."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._fd).st_size  # from an earlier try of the same turn
        self._left_out = self._note = 0  # bytes left out, and the length of the note that says so

    def write(self, data: bytes) -> None:
        """Write at most PART bytes. A full disk raises OSError, and the data is dropped."""
        if self._size + len(data) > MOST:
            self._drop_middle()
        self._size += os.pwrite(self._fd, data, self._size)

    def _drop_middle(self) -> None:
        start = self._size - TAIL
        self._left_out += start - HEAD - self._note
        note = f"\n[{self._left_out} bytes left out]\n".encode()
        self._note = os.pwrite(self._fd, note, HEAD)
        place = HEAD + self._note
        while part := os.pread(self._fd, PART, start):
            place += os.pwrite(self._fd, part, place)
            start += len(part)
        os.ftruncate(self._fd, place)
        self._size = place

    def close(self) -> None:
        os.close(self._fd)


class Output:
    """A pipe to pass on as stdout and stderr, and a thread that stores what is written to it.

    The block ends when no process has the pipe open for writing, but at most LINGER_S later.
    """

    def __init__(self, path: Path) -> None:
        self._kept = Bounded(path)
        self._from, self.into = os.pipe()
        with suppress(OSError, AttributeError):  # Linux only; the user's pipe limit may be reached
            fcntl.fcntl(self._from, fcntl.F_SETPIPE_SZ, PART)
        self._thread = threading.Thread(target=self._keep, name="turn output", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.into)
        self._thread.join(LINGER_S)

    def _keep(self) -> None:
        full = False
        while data := os.read(self._from, PART):
            try:
                self._kept.write(data)
            except OSError as error:
                if not full:
                    log.warning("the output of a turn is not kept: %s", error.strerror)
                full = True
        os.close(self._from)
        self._kept.close()
