"""Clocks that all benchmarks share: of a call, of a call beside its floor, of the CPU of
processes."""

from __future__ import annotations

import gc
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from tests.wire import request

Work = Callable[[], object]


def milliseconds(work: Work) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def alternately(
    ours: Work, floor: Work, *, before: Work = tuple, rounds: int = 7
) -> tuple[float, float]:
    """The best time of both, in ms. `before` runs ahead of each call of ours and is not
    measured."""
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        gc.collect()
        least = milliseconds(floor)
        before()
        times.append((milliseconds(ours), least))
    best, least = map(min, zip(*times, strict=True))
    return best, least


def cpu_seconds(pids: Iterable[int]) -> float:
    """CPU seconds that these processes have used, including their threads that have ended."""
    total = 0.0
    for pid in pids:
        with suppress(OSError):  # the process has ended
            total += time.clock_gettime(~pid << 3 | 2)  # its CPU clock, as the C library numbers it
    return total


def busy(pids: Iterable[int], seconds: float) -> float:
    """Percent of one core that these processes use together."""
    known = list(pids)
    before = cpu_seconds(known)
    time.sleep(seconds)
    return (cpu_seconds(known) - before) / seconds * 100


class Connection:
    """One kept connection to a server of this machine, with next to no work on this side: the
    parser of http.client takes as long as a short answer."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb", 1 << 18)
        self._host = f"127.0.0.1:{port}"

    def get(self, path: str, accept: str = "*/*") -> bytes:
        return self._answer(f"GET {path} HTTP/1.1\nAccept: {accept}")

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        lines = [f"{name}: {value}" for name, value in headers.items()]
        lines = [f"POST {path} HTTP/1.1", f"Content-Length: {len(body)}", *lines]
        return self._answer("\n".join(lines), body)

    def _answer(self, head: str, body: bytes = b"") -> bytes:
        self._socket.sendall(request(head, body, host=self._host))
        status = self._file.readline()
        content = self._content(self._head())
        assert status.startswith(b"HTTP/1.1 200 "), (head, status, content[:300])
        return content

    def _head(self) -> dict[bytes, bytes]:
        found = {}
        while (line := self._file.readline()) != b"\r\n":
            name, colon, value = line.partition(b":")
            assert colon, line  # the server closed the connection
            found[name.lower()] = value.strip()
        return found

    def _content(self, head: dict[bytes, bytes]) -> bytes:
        if b"content-length" in head:
            content: bytes = self._file.read(int(head[b"content-length"]))
            return content
        assert head.get(b"transfer-encoding") == b"chunked", head
        parts = []
        while size := int(self._file.readline(), 16):
            parts.append(self._file.read(size))
            self._file.readline()
        self._file.readline()
        return b"".join(parts)
