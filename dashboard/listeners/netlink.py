"""Listening sockets by netlink sock_diag: the kernel filters, so other connections cost nothing.

Two dumps, IPv4 and IPv6; layouts from linux/netlink.h and linux/inet_diag.h.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from functools import lru_cache

from dashboard.listeners.sockets import Socket, address

NETLINK, SOCK_DIAG = 16, 4  # AF_NETLINK and NETLINK_SOCK_DIAG, which only exist on Linux
SOCK_DIAG_BY_FAMILY, REQUEST_DUMP = 20, 0x301
ERROR, DONE = 2, 3
LISTEN = 1 << 10
TIMEOUT_S = 1.0
BUFFER = 1 << 18

_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port id
_REQUEST = struct.Struct("=BBBBI48x")  # family, protocol, extensions, padding, states, any socket
_PORT, _OWNER = struct.Struct("!H"), struct.Struct("=II")  # uid, inode
_PORT_AT, _SOURCE_AT, _OWNER_AT, _MESSAGE = 4, 8, 64, 72


def listening() -> list[Socket]:
    """Every TCP socket in LISTEN in this network namespace. OSError if the kernel refuses."""
    families = (socket.AF_INET, socket.AF_INET6)
    return [_socket(message) for family in families for message in _dump(family)]


@lru_cache(4096)
def _socket(message: bytes) -> Socket:
    size = 4 if message[0] == socket.AF_INET else 16
    (port,) = _PORT.unpack_from(message, _PORT_AT)
    uid, inode = _OWNER.unpack_from(message, _OWNER_AT)
    return Socket(address(message[_SOURCE_AT : _SOURCE_AT + size]), port, uid, inode)


def _dump(family: int) -> Iterator[bytes]:
    """The inet_diag messages of one address family, without their netlink headers."""
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, LISTEN)
    head = _HEADER.pack(_HEADER.size + len(body), SOCK_DIAG_BY_FAMILY, REQUEST_DUMP, 1, 0)
    with socket.socket(NETLINK, socket.SOCK_RAW, SOCK_DIAG) as link:
        link.settimeout(TIMEOUT_S)
        link.send(head + body)
        while True:
            for kind, message in _messages(link.recv(BUFFER)):
                if kind == DONE:
                    return
                if kind == ERROR:
                    code = -struct.unpack_from("=i", message)[0]
                    raise OSError(code, os.strerror(code))
                yield message


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The type and body of each netlink message; OSError for a truncated one."""
    at = 0
    while at < len(data):
        length, kind, *_rest = _HEADER.unpack_from(data, at)
        body = data[at + _HEADER.size : at + length]
        whole = _MESSAGE if kind == SOCK_DIAG_BY_FAMILY else 4
        if len(body) != length - _HEADER.size or len(body) < whole:
            raise OSError(errno.EBADMSG, "a netlink message is cut")
        yield kind, body
        at += (length + 3) & ~3
