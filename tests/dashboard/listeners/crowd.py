"""Times scans beside psutil in one run; prints milliseconds as JSON.

`listeners N`: N sockets in N / 10 processes. `waiting N`: N connections in TIME_WAIT; run that one
in a network namespace of its own (`unshare -rn`), which is empty but for them.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from dashboard.listeners import procfs
from dashboard.listeners.scan import Scanner
from tests.dashboard.listeners.listening import bound

ROUNDS = 20
EACH = 10
SIOCSIFFLAGS, UP = 0x8914, 0x1


def times(call: Callable[[], object], rounds: int = ROUNDS) -> dict[str, float]:
    """Milliseconds: the quickest, which the rest of the machine disturbed least, and the median."""
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        found.append((time.perf_counter() - began) * 1000)
    return {"best": round(min(found), 3), "median": round(statistics.median(found), 3)}


@contextlib.contextmanager
def listeners(count: int) -> Iterator[None]:
    """Processes with ten listening sockets each."""
    pids = []
    for _ in range(count // EACH):
        told, tell = os.pipe()
        if (pid := os.fork()) == 0:
            kept = [bound("127.0.0.1", 0) for _ in range(EACH)]
            os.write(tell, bytes([len(kept)]))
            signal.pause()
        pids.append(pid)
        assert os.read(told, 1) == bytes([EACH])
        os.close(told)
        os.close(tell)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def bring_up_loopback() -> None:
    """And keep every connection waiting: none gives its port to a later one."""
    Path("/proc/sys/net/ipv4/tcp_tw_reuse").write_text("0")
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", UP)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


def open_and_close(count: int) -> int:
    """How many connections are in TIME_WAIT afterwards."""
    with bound("127.0.0.1", 0) as server:
        for _ in range(count):
            with socket.create_connection(server.getsockname()) as client:
                accepted, _ = server.accept()
                client.shutdown(socket.SHUT_WR)
                accepted.recv(1)
                accepted.close()
    text = Path("/proc/net/sockstat").read_text()
    return int(text.split("TCP:")[1].split(" tw ")[1].split()[0])


def compared() -> dict[str, object]:
    scanner = Scanner()
    first = scanner.scan()
    return {
        "listeners": len(first.listeners),
        "first": round(first.ms, 3),
        "scan": times(scanner.scan),
        "walks": scanner.owners.walks,
        "table": times(procfs.listening),
        "psutil": times(lambda: psutil.net_connections("tcp"), 5),
    }


def main(kind: str, count: int) -> None:
    if kind == "listeners":
        with listeners(count):
            told = compared()
    else:
        bring_up_loopback()
        with bound("127.0.0.1", 0), bound("::1", 0):
            before = times(Scanner().scan)
            waiting = open_and_close(count)
            told = {"before": before, "waiting": waiting, **compared()}
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
