"""Which addresses an icon may be fetched from (promise G9).

Addresses that are never probed are never asked for an icon either, whatever the settings; private
and loopback addresses need permission.
"""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.files.schema import SILENT_PORTS
from dashboard.health import address
from dashboard.health.target import EVERYWHERE, Target


class AddressRefused(Exception):
    """The address is one that icons are never fetched from, or not with this permission."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether private and loopback addresses are allowed; with `origin` only that
    scheme://host:port.

    `origin` is for the addresses in an app's page: its own server and the public network are
    allowed, but no other server of this machine, where a GET may have effects.
    """

    private: bool = True
    origin: str | None = None

    def private_at(self, origin: str) -> bool:
        return self.private and self.origin in {None, origin}


async def addresses(target: Target, *, private: bool) -> list[str]:
    """The addresses of the target that may be connected to, in order. AddressRefused if there are
    none.

    These very addresses were checked: connect to them, and never resolve the name again. OSError
    if the name does not resolve.
    """
    if target.host in EVERYWHERE:
        raise AddressRefused(f"{target.host} is not the address of a server")
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
    return address.parse(text).is_global
