#!/usr/bin/env python3
"""Connect standard input and output to HOST PORT, through the proxy at the port $SVC_WAY: for ssh
and git, where they cannot use a proxy themselves. Run alone, by any Python there is.
"""

import os
import socket
import sys
import threading

BLOCK = 65536


def main(host: str, port: str) -> int:
    host = host.strip("[]")
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    with socket.create_connection(("127.0.0.1", int(os.environ["SVC_WAY"]))) as way:
        way.sendall(f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            if not (part := way.recv(1)):
                return 1
            head += part
        if not head.startswith(b"HTTP/1.1 200 "):
            return 1
        threading.Thread(target=_send, args=(way,), daemon=True).start()
        while part := way.recv(BLOCK):
            _write(part)
    return 0


def _send(way: socket.socket) -> None:
    while part := os.read(0, BLOCK):
        way.sendall(part)
    way.shutdown(socket.SHUT_WR)


def _write(part: bytes) -> None:
    while part:
        part = part[os.write(1, part) :]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
