"""Queue, event and value of multiprocessing, as the processes of one django-q2 cluster share them.

Those of multiprocessing are guarded by semaphores, and a killed process never releases one: an idle
worker holds one while it waits, so a single kill -9 would silence the whole cluster. Nothing here
takes a lock, and a message is written and read in one system call or not at all (promise T3,
tests/workspace/triggers/test_shared.py).
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import socket
import tempfile
import time
import weakref
from contextlib import AbstractContextManager, nullcontext
from multiprocessing.reduction import ForkingPickler
from multiprocessing.sharedctypes import RawValue
from typing import Any

from config.process import wakeup

INLINE_BYTES = 16 * 1024  # a longer message is passed as a file
ROOM_BYTES = 256 * 1024  # without this a message on macOS has at most 2 KB
FULL_S = 0.01
REST_S = 60.0  # a worker that has worked ends after one to two times this without work
STOP = "STOP"  # the message that ends a worker of django-q2


class TaskQueue:
    """What django-q2 needs of a queue. With a limit, a message waits until the one before it has
    been taken: what has not been sent yet can still go to another scheduler.

    Only queues of tasks have a limit. Their workers end when there is nothing to do, because the
    first task gives a fork 15 MB of its own; the guard then forks a fresh one (at most 2 s later,
    so they do not all end at once). A STOP message does not wait for the one before it to be taken,
    because the worker it is for may have ended already."""

    def __init__(self, maxsize: int = 0) -> None:
        self._one_by_one = maxsize > 0
        self._taken = False
        self._out, self._in = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (self._out, self._in):
            weakref.finalize(self, end.close)
            for room in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                end.setsockopt(socket.SOL_SOCKET, room, ROOM_BYTES)

    def put(self, message: Any) -> None:
        data = ForkingPickler.dumps(message)
        while self._one_by_one and message != STOP and not self.empty():
            time.sleep(FULL_S)
        if len(data) <= INLINE_BYTES:
            self._send(data)
            return
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            self._send(b"file", file.fileno())

    def _send(self, data: bytes | memoryview, *files: int) -> None:
        """Wait for room where Linux would block by itself; elsewhere a full socket is an error."""
        while True:
            try:
                socket.send_fds(self._in, [data], files)
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                time.sleep(FULL_S)

    def get(self) -> Any:
        rests = self._one_by_one and self._taken
        received = self._receive(REST_S * (1 + random.random()) if rests else None)  # noqa: S311
        if received is None:
            return STOP
        self._taken = True
        data, files = received
        if files:
            with os.fdopen(files[0], "rb") as file:
                file.seek(0)
                data = file.read()
        return ForkingPickler.loads(data)

    def _receive(self, seconds: float | None) -> tuple[bytes, list[int]] | None:
        """The next message; None if none came in time. Another process may take a message first."""
        flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # Linux
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            if until is not None:
                left = max(0.0, until - time.monotonic())
                if not wakeup.readable(self._out.fileno(), left):
                    return None
                flags |= socket.MSG_DONTWAIT
            try:
                data, files, _, _ = socket.recv_fds(self._out, INLINE_BYTES, 1, flags)
            except BlockingIOError:
                continue
            return data, files

    def empty(self) -> bool:
        return not wakeup.readable(self._out.fileno(), 0)

    def qsize(self) -> int:
        """Whether a message is on its way, as 0 or 1; for statistics that nothing reads."""
        return int(not self.empty())

    def close(self) -> None:
        """Does nothing: `put` has sent everything."""

    join_thread = close


class Timer:
    """multiprocessing.Value of a number. The guard reads and the worker writes one aligned float;
    if both happen at the same time, the worker gets one wrong time."""

    def __init__(self, kind: str, start: float) -> None:
        self._number = RawValue(kind, start)

    @property
    def value(self) -> float:
        return float(self._number.value)

    @value.setter
    def value(self, number: float) -> None:
        self._number.value = number

    def get_lock(self) -> AbstractContextManager[None]:
        return nullcontext()


class Flag:
    """multiprocessing.Event for one use: set once, seen by all. Safe in a signal handler."""

    def __init__(self) -> None:
        self._seen, self._raised = multiprocessing.Pipe(duplex=False)

    def set(self) -> None:
        self._raised.send_bytes(b"!")

    def is_set(self) -> bool:
        return self._seen.poll()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is set; waits for that at most `timeout` seconds."""
        return self._seen.poll(timeout)
