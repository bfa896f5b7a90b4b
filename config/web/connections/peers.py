"""Which user of this machine is at the other end of a connection, according to the kernel.

On loopback both ends of a connection are sockets of this machine, so the kernel knows who owns
the other one: by netlink sock_diag, which looks one connection up by its addresses, or by the
tables in /proc. For a socket that its program has closed, some kernels report uid 0 because it
has no owner; such an answer is ignored, and so is one about another socket.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from config.web.hosts import loopback

NETLINK, SOCK_DIAG = 16, 4  # AF_NETLINK and NETLINK_SOCK_DIAG, Linux only
SOCK_DIAG_BY_FAMILY, REQUEST = 20, 1
PEERCRED = 17  # SO_PEERCRED
OPEN = frozenset({1, 4, 5, 8})  # ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT
TIMEOUT_S = 0.5
TABLES = Path("/proc/net")
ASKED = hasattr(socket, "AF_NETLINK") or TABLES.exists()  # whether this system can identify users

# linux/netlink.h and linux/inet_diag.h
_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port id
_REQUEST = struct.Struct("=BBxxI")  # family, protocol, states
_ANSWER = struct.Struct("=xBxx36s24xII")  # state, ports and addresses, uid, inode
_ANY_SOCKET = bytes(4) + b"\xff" * 8  # on any interface, with any cookie

End = tuple[bytes, int]  # address and port
Way = Callable[[End, End], int | None]


def uid_of(transport: Any) -> int | None:
    """The uid at the other end of a connection within this machine; None if unknown."""
    if not ASKED:
        return None
    there, here = transport.getPeer(), transport.getHost()
    if not hasattr(there, "port"):
        return _by_credentials(transport)
    if not _near(there.host):
        return None
    try:
        ask = way()
        return ask and ask(_end(there.host, there.port), _end(here.host, here.port))
    except OSError:
        return None


@cache
def way() -> Way | None:
    """The first method that gives the right user for a connection of our own; None: no method."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        ends = _end(*client.getsockname()), _end(*client.getpeername())
        mine = Path(f"/proc/self/fd/{client.fileno()}").stat().st_uid
        return next((ask for ask in (by_netlink, by_table) if _tells(ask, ends, mine)), None)


def _tells(ask: Way, ends: tuple[End, End], mine: int) -> bool:
    try:
        return ask(*ends) == mine
    except OSError:
        return False


def by_netlink(there: End, here: End) -> int | None:
    """Ask the kernel for one connection; the cost does not grow with their number."""
    forms = [
        struct.pack("!HH16s16s", there[1], here[1], *pair) for pair in _forms(there[0], here[0])
    ]
    family = socket.AF_INET if len(there[0]) == 4 else socket.AF_INET6
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0xFFFFFFFF) + forms[0] + _ANY_SOCKET
    head = _HEADER.pack(_HEADER.size + len(body), SOCK_DIAG_BY_FAMILY, REQUEST, 1, 0)
    with socket.socket(NETLINK, socket.SOCK_RAW, SOCK_DIAG) as link:
        link.settimeout(TIMEOUT_S)
        link.send(head + body)
        data = link.recv(4096)
    if _HEADER.unpack_from(data)[1] != SOCK_DIAG_BY_FAMILY:
        return None  # no such connection
    state, ends, uid, inode = _ANSWER.unpack_from(data, _HEADER.size)
    return uid if ends in forms and state in OPEN and (uid or inode) else None


def by_table(there: End, here: End) -> int | None:
    """Search the tables of all connections, for systems that refuse netlink."""
    for pair in _forms(there[0], here[0]):
        wanted = [_table_address(pair[0], there[1]), _table_address(pair[1], here[1])]
        table = TABLES / ("tcp" if len(pair[0]) == 4 else "tcp6")
        for line in table.read_text("ascii").splitlines() if table.exists() else ():
            words = line.split()
            if words[1:3] == wanted:
                uid, inode = int(words[7]), int(words[9])
                return uid if int(words[3], 16) in OPEN and (uid or inode) else None
    return None


def _table_address(address: bytes, port: int) -> str:
    """An address as the tables show it: 32-bit numbers in the machine's own byte order."""
    words = struct.unpack(f"={len(address) // 4}I", address)
    return f"{''.join(f'{word:08X}' for word in words)}:{port:04X}"


def _forms(there: bytes, here: bytes) -> list[tuple[bytes, bytes]]:
    """Both addresses in the forms the kernel may keep: an IPv6 socket can reach an IPv4 one."""
    mapped = bytes(10) + b"\xff\xff"
    return [(there, here), *([(mapped + there, mapped + here)] if len(there) == 4 else [])]


_near = lru_cache(64)(loopback)


def _end(host: str, port: int) -> End:
    return _pack(host), port


@lru_cache(64)
def _pack(host: str) -> bytes:
    address = ipaddress.ip_address(host.partition("%")[0])
    return (getattr(address, "ipv4_mapped", None) or address).packed


def _by_credentials(transport: Any) -> int:
    """The uid at the other end of a unix socket."""
    found = transport.getHandle().getsockopt(socket.SOL_SOCKET, PEERCRED, 12)
    return int(struct.unpack("=iII", found)[1])
