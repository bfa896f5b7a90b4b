"""One TCP socket in LISTEN as the kernel reports it, and from where it can be reached."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

Scope = Literal["loopback", "lan", "all"]


class Socket(NamedTuple):
    """`inode` is the kernel's number of the socket, 0 if the kernel does not report it."""

    ip: str
    port: int
    uid: int
    inode: int


@lru_cache(1024)
def address(packed: bytes) -> str:
    """4 or 16 bytes in network order as text; an IPv4 address mapped into IPv6 becomes IPv4."""
    if len(packed) == 4:
        return socket.inet_ntop(socket.AF_INET, packed)
    mapped = ipaddress.IPv6Address(packed).ipv4_mapped
    return str(mapped) if mapped else socket.inet_ntop(socket.AF_INET6, packed)


def scope(ips: Iterable[str]) -> Scope:
    """Who can reach a listener on these addresses: this machine, one network, or every network."""
    kinds = {_scope(ip) for ip in ips}
    return "all" if "all" in kinds else "lan" if "lan" in kinds else "loopback"


@lru_cache(1024)
def _scope(ip: str) -> Scope:
    parsed = ipaddress.ip_address(ip)
    if parsed.is_unspecified:
        return "all"
    return "loopback" if parsed.is_loopback else "lan"
