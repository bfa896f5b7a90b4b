"""Servers on loopback that accept and say nothing: alone, or between a service and its store."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def mute() -> Iterator[int]:
    """A port whose server takes every connection and never answers."""
    taken = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            with suppress(OSError):
                while True:
                    taken.append(server.accept()[0])

        taking = threading.Thread(target=take, daemon=True)
        taking.start()
        try:
            yield int(server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)  # wakes the thread
            taking.join()
            for one in taken:
                one.close()


@contextmanager
def swallowing() -> Iterator[int]:
    """A port that answers no packet: its backlog is full, and nobody takes from it."""
    fillers = []
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        for _ in range(3):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(server.getsockname())
            fillers.append(filler)
        try:
            yield int(server.getsockname()[1])
        finally:
            for one in fillers:
                one.close()


class Proxy:
    """A port in front of a server; `freeze` holds back every byte, `thaw` lets them go on, and
    `lose` leaves the connections of before silent for ever while new ones are served."""

    def __init__(self, upstream: str | tuple[str, int]) -> None:
        self._upstream = upstream
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self._open: list[socket.socket] = []
        self._gate = threading.Event()
        self._gate.set()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def freeze(self) -> None:
        self._gate.clear()

    def thaw(self) -> None:
        self._gate.set()

    def lose(self) -> None:
        self._gate = threading.Event()
        self._gate.set()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread, which may have just taken one
        self._accepting.join()
        self._server.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._gate.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._server.accept()[0]
                far = socket.socket(
                    socket.AF_UNIX if isinstance(self._upstream, str) else socket.AF_INET
                )
                self._open += [near, far]
                if far.connect_ex(self._upstream):
                    near.close()
                    continue
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=_pump, args=(*pair, self._gate), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket, gate: threading.Event) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            gate.wait()
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
