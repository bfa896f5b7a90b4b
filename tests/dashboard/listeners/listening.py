"""A server process as tests need it: `python -m tests.dashboard.listeners.listening KIND PORT`.

Binds, says `ready PORT` and accepts nothing. Kinds: an address; `dual` (both loopback
addresses, by asyncio); `forked` (four workers share one socket); `reuseport` (four workers with a
socket each);
`many` (PORT counts the sockets); `named` (its process name holds control characters).
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

WORKERS = 4
NAME = "a) b\x1b[31m\tc\x07"


def bound(ip: str, port: int, *, reuse: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    server = socket.socket(family)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if reuse:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6 and ip != "::":
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.bind((ip, port))
    server.listen()
    return server


def fork_workers(bind: bool, port: int) -> list[socket.socket]:
    """The parent's sockets; each of four children has said that it is there."""
    mine = [] if bind else [bound("127.0.0.1", port)]
    for _ in range(WORKERS):
        told, tell = os.pipe()
        if os.fork() == 0:
            if bind:
                mine.append(bound("127.0.0.1", port, reuse=True))
            os.write(tell, b".")
            signal.pause()
        assert os.read(told, 1) == b"."
    return mine


async def serve_both(port: int) -> None:
    server = await asyncio.start_server(lambda *_streams: None, ["127.0.0.1", "::1"], port)
    print("ready", port, flush=True)
    await server.serve_forever()


def main(kind: str, port: int) -> None:
    match kind:
        case "dual":
            asyncio.run(serve_both(port))
            return
        case "forked" | "reuseport":
            servers = fork_workers(kind == "reuseport", port)
        case "many":
            servers = [bound("127.0.0.1", 0) for _ in range(port)]
        case "named":
            Path("/proc/self/comm").write_text(NAME)
            servers = [bound("127.0.0.1", port)]
        case _:
            servers = [bound(kind, port)]
    print("ready", servers[0].getsockname()[1] if servers else port, flush=True)
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
