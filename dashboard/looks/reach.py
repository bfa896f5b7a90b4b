"""Which addresses an icon may be fetched from (14.5, promise G9).

Link-local, metadata, multicast and unspecified addresses never, whatever the settings; private and
loopback ones by permission. An IPv4 address wrapped into an IPv6 one counts as what it holds.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from dashboard.files.schema import SILENT_PORTS
from dashboard.health import address
from dashboard.health.target import EVERYWHERE, Target

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
# Metadata services at addresses that look like ordinary ones (Azure, Oracle).
_METADATA = frozenset({"168.63.129.16", "192.0.0.192"})


class Refused(Exception):
    """The address is one that icons are never fetched from, or not by these rules."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether private and loopback addresses count; with `origin` only at that scheme://host:port.

    `origin` is for what an app's page names: its own server, and the public net, but no other
    server of this machine, where a GET may do something.
    """

    private: bool = True
    origin: str | None = None

    def private_at(self, origin: str) -> bool:
        return self.private and self.origin in {None, origin}


async def addresses(target: Target, *, private: bool) -> list[str]:
    """The addresses of the target that may be connected to, in order. Refused when there is none.

    Each was checked as it stands here: connect to these, never to the name again. OSError when
    the name does not resolve.
    """
    if target.host in EVERYWHERE:
        raise Refused(f"{target.host} is no address of a server")
    if target.port in SILENT_PORTS:
        raise Refused(f"port {target.port} belongs to another protocol")
    try:
        found = await address.addresses(target)
    except address.Forbidden as error:
        raise Refused(f"{target.host} is never asked for an icon") from error
    fit = [one for one in found if not never(one)]
    if not fit:
        raise Refused(f"{target.host} is never asked for an icon")
    allowed = [one for one in fit if private or is_public(one)]
    if not allowed:
        raise Refused(f"{target.host} is a private address, which is not allowed here")
    return allowed


def never(text: str) -> bool:
    """Whether no setting allows the address."""
    ip = _unwrapped(text)
    return str(ip) in _METADATA or address.forbidden(str(ip))


def is_public(text: str) -> bool:
    return _unwrapped(text).is_global


def _unwrapped(text: str) -> Ip:
    ip: Ip = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        return ip.ipv4_mapped or ip.sixtofour or ip
    return ip
