"""Names and addresses: which peer, Host or Origin is this machine. Exact comparison, no lookups.

Defeats DNS rebinding: a page of another name cannot pass for localhost, however it resolves
(README 3).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"https?://(.+)", re.IGNORECASE)
_LOCALHOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*localhost")
_QUAD = re.compile(r"127(?:\.(?:0|[1-9][0-9]{0,2})){3}")


def loopback(peer: str | None) -> bool:
    """Whether a socket address is this machine. IPv4-mapped is unmapped, a zone id dropped."""
    try:
        address = ipaddress.ip_address((peer or "").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def host_of(authority: str) -> str | None:
    """The lower-case host of `host[:port]`, without one trailing dot; None when malformed."""
    found = _AUTHORITY.fullmatch(authority)
    if found is None or (found[2] and int(found[2]) > 65535):
        return None
    return found[1].lower().removesuffix(".")


def origin_host(origin: str) -> str | None:
    """The host of an http(s) origin; None for `null`, other schemes and anything malformed."""
    found = _ORIGIN.fullmatch(origin)
    return host_of(found[1]) if found else None


def allowed(host: str | None, extra: Collection[str] = ()) -> bool:
    """localhost, *.localhost, 127.0.0.0/8 in dotted quad, [::1], or one of `extra`."""
    if not host:
        return False
    if _QUAD.fullmatch(host):
        return all(int(part) < 256 for part in host.split("."))
    return host == "[::1]" or host in extra or _LOCALHOST.fullmatch(host) is not None
