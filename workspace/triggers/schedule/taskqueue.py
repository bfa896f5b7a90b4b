"""The queue between the processes of one cluster, made to outlive a process that is killed.

Stock queues are guarded by semaphores and cut long messages: a process killed while it reads or
writes keeps the others out for ever, or leaves half a message. Here each message crosses a socket
whole or not at all, in one system call, so that there is nothing to guard.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.queues import Queue
from typing import Any, Self

INLINE_BYTES = 16 * 1024  # a longer message travels as a file
ROOM_BYTES = 256 * 1024  # without it a message of macOS has at most 2 KB
FULL_S = 0.01
PLACE_S = 1.0
_fork = get_context("fork")


class TaskQueue(Queue):  # type: ignore[type-arg]
    """multiprocessing.Queue on a socket of whole messages, for forked processes."""

    _maxsize: int
    _reset: Any
    _reader: Any
    _writer: Any
    _sem: _Places

    def __init__(self, maxsize: int = 0) -> None:
        super().__init__(maxsize, ctx=_fork)
        self._reader.close()
        self._writer.close()
        out, into = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (out, into):
            for room in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                end.setsockopt(socket.SOL_SOCKET, room, ROOM_BYTES)
        self._reader, self._writer = _Messages(out), _Messages(into)
        self._rlock = self._wlock = _Open()
        self._sem = _Places(self._maxsize, self.empty)
        self._reset()

    def qsize(self) -> int:
        """How many are on their way, for statistics alone: 0 where no semaphore tells (macOS)."""
        try:
            return self._maxsize - self._sem.free()
        except NotImplementedError:
            return 0


class _Messages:
    """One end of the socket, in the words of multiprocessing.connection."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self.close = weakref.finalize(self, end.close)

    def send_bytes(self, message: bytes | memoryview) -> None:
        if len(message) <= INLINE_BYTES:
            self._send(message)
            return
        with tempfile.TemporaryFile() as file:
            file.write(message)
            file.flush()
            self._send(b"file", file.fileno())

    def _send(self, message: bytes | memoryview, *files: int) -> None:
        """Waits for room, as Linux does by itself; elsewhere a full socket is an error."""
        while True:
            try:
                socket.send_fds(self._end, [message], files)
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                time.sleep(FULL_S)

    def recv_bytes(self) -> bytes:
        flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # Linux
        message, files, _, _ = socket.recv_fds(self._end, INLINE_BYTES, 1, flags)
        if not files:
            return message
        with os.fdopen(files[0], "rb") as file:
            file.seek(0)
            return file.read()

    def poll(self, timeout: float = 0) -> bool:
        return bool(select.select([self._end], [], [], timeout)[0])


class _Open:
    """The lock of a door that needs none."""

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        return True

    def release(self) -> None:
        """Nothing was taken."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was taken."""


class _Places:
    """How many messages may be on their way. A process killed between a message and its place
    keeps the place; when none is left and nothing is on its way, they have all been lost."""

    def __init__(self, most: int, empty: Callable[[], bool]) -> None:
        self._places = _fork.BoundedSemaphore(most)
        self._empty = empty

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        if not block or timeout is not None:
            return self._places.acquire(block, timeout)
        while not self._places.acquire(timeout=PLACE_S):
            if self._empty():  # whoever reads this message gives a lost place back
                return True
        return True

    def release(self) -> None:
        with suppress(ValueError):  # it was not lost after all, only late
            self._places.release()

    def free(self) -> int:
        return self._places.get_value()
