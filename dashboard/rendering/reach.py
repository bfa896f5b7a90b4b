"""Which addresses an icon may be fetched from (promise G9).

What a probe never goes to is never asked for an icon either, whatever the settings; private and
loopback addresses are by permission.
"""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.files.schema import SILENT_PORTS
from dashboard.health import address
from dashboard.health.target import EVERYWHERE, Target


class AddressRefused(Exception):
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
    """The addresses of the target that may be connected to, in order. AddressRefused without any.

    Each was checked as it stands here: connect to these, never to the name again. OSError when
    the name does not resolve.
    """
    if target.host in EVERYWHERE:
        raise AddressRefused(f"{target.host} is no address of a server")
    if target.port in SILENT_PORTS:
        raise AddressRefused(f"port {target.port} belongs to another protocol")
    try:
        found = await address.addresses(target)
    except address.Itself as error:
        raise AddressRefused(str(error)) from error
    except address.Forbidden as error:
        raise AddressRefused(f"{target.host} is never asked for an icon") from error
    allowed = [one for one in found if private or is_public(one)]
    if not allowed:
        raise AddressRefused(f"{target.host} is a private address, which is not allowed here")
    return allowed


def is_public(text: str) -> bool:
    return address.parsed(text).is_global
