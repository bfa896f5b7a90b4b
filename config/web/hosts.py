"""Which peer, Host or Origin is this machine. Names are compared exactly, without DNS lookups.

This defeats DNS rebinding: a page of another name cannot pass as localhost, whatever its address.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection, Iterable
from functools import lru_cache

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"(https?)://(.+)", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_LOCALHOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*localhost")
_QUAD = re.compile(r"127(?:\.(?:0|[1-9][0-9]{0,2})){3}")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_TEREDO = ipaddress.IPv6Network("2001::/32")


@lru_cache(1024)
def loopback(peer: str | None) -> bool:
    """Whether a socket address is loopback. IPv4-mapped ones count; a zone id is ignored."""
    try:
        address = ipaddress.ip_address((peer or "").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def host_of(authority: str) -> str | None:
    """The lower-case host of `host[:port]`, less one trailing dot; None if malformed."""
    found = _AUTHORITY.fullmatch(authority)
    if found is None or (found[2] and int(found[2]) > 65535):
        return None
    return found[1].lower().removesuffix(".")


def origin_host(origin: str) -> str | None:
    """The host of an http(s) origin; None for `null`, other schemes and anything malformed."""
    found = _ORIGIN.fullmatch(origin)
    return host_of(found[2]) if found else None


def origin_of(text: str) -> str | None:
    """An http(s) origin as browsers write it, without a default port; None if it is not one."""
    found = _ORIGIN.fullmatch(text.lower())
    if found is None or host_of(found[2]) is None:
        return None
    return f"{found[1]}://{found[2].removesuffix(_DEFAULT_PORTS[found[1]])}"


def is_allowed(host: str | None, extra: Collection[str] = ()) -> bool:
    """Whether it is localhost, *.localhost, a dotted quad of 127.0.0.0/8, [::1], or in `extra`."""
    if not host:
        return False
    if _QUAD.fullmatch(host):
        return all(int(part) < 256 for part in host.split("."))
    return host == "[::1]" or host in extra or _LOCALHOST.fullmatch(host) is not None


def is_forwarding(header: str) -> bool:
    """Whether only proxies add a header of this name: the sender may be on another machine."""
    name = header.lower()
    return name == "forwarded" or name.startswith("x-forwarded-")


def ip(address: str) -> IP:
    """The address without its zone."""
    return ipaddress.ip_address(address.partition("%")[0])


def forms(address: IP) -> Iterable[IP]:
    """The address, and the IPv4 address embedded in it, if any."""
    yield address
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64 or address in ipaddress.IPv6Network("::/96"):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address in _TEREDO and address.teredo:
            inner = address.teredo[1]
        if inner is not None:
            yield inner


def leads_here(address: IP) -> bool:
    """Whether a connection to the address, in any of its forms, ends on this machine."""
    return any(_here(one) for one in forms(address))


def _here(address: IP) -> bool:
    """Whether it is an address of ours: no other can be bound. Not cached: addresses change."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True
