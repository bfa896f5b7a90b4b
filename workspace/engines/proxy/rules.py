"""What a turn may connect to. A name is judged together with the addresses it has now, and the
connection goes to one of these same addresses, so a name that changes its address gains nothing.
The reasons: docs/design/trust.md#what-the-proxy-decides.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from config.process.light_typing import NamedTuple
from config.web.hosts import IP, forms, ip, leads_here
from workspace.engines.network import Network

# Cloud machines ask these for their credentials; link-local addresses are refused as well.
METADATA = frozenset(
    map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)


class ConnectionNotAllowed(Exception):
    """A connection that is not made; the text says which setting would allow it."""


class Rules(NamedTuple):
    """The network of a turn, and the endpoints that its engine needs: (host pattern, port), always
    open. `anywhere`: this machine is as open as any other, except this service."""

    network: Network
    endpoints: tuple[tuple[str, int], ...] = ()
    anywhere: bool = False

    def permitted_addresses(
        self, host: str, port: int, addresses: Sequence[str], *, opened: bool = False
    ) -> list[str]:
        """Those of the host's addresses that may be connected to. `opened`: the sandbox listens at
        this port because the port is meant to be reached. Raises ConnectionNotAllowed if there is
        none."""
        name = plain(host)
        needed = opened or any(
            port == at and matches(pattern, name) for pattern, at in self.endpoints
        )
        if not needed:
            self._lists(name, addresses)
        problems = []
        good = []
        for address in addresses:
            problem = self._problem(name, port, ip(address), needed=needed)
            if problem is None:
                good.append(address)
            problems.append(problem)
        if not good:
            raise ConnectionNotAllowed(next(filter(None, problems), f"{host} has no address"))
        return good

    def _lists(self, name: str, addresses: Sequence[str]) -> None:
        if self.network.mode == "off":
            raise ConnectionNotAllowed("the network is off for this turn (network: off)")
        if self.network.mode == "host":
            return
        names = [name, *addresses]
        if any(matches(pattern, one) for pattern in self.network.deny for one in names):
            raise ConnectionNotAllowed(f"{name} is denied by network.deny")
        for patterns in self.network.allow:
            if not any(matches(pattern, one) for pattern in patterns for one in names):
                raise ConnectionNotAllowed(f"{name} is not in network.allow")

    def _problem(self, name: str, port: int, address: IP, *, needed: bool) -> str | None:
        """Why this address may not be connected to; None if it may."""
        if any(_special(one) for one in forms(address)):
            return f"{name} is a link-local, metadata or multicast address: no turn reaches it"
        if not leads_here(address):
            return None
        if port in self.network.own:
            return f"{name}:{port} is this service: no turn reaches it"
        open_here = self.anywhere or self.network.mode == "host"
        if needed or open_here or port in self.network.ports:
            return None
        return f"{name}:{port} is on this machine: open it with network.hostPorts: [{port}]"


def plain(host: str) -> str:
    """A name or an address in the form in which patterns are compared."""
    return host.strip("[]").rstrip(".").casefold()


def matches(pattern: str, name: str) -> bool:
    """Whether a host pattern matches this name or address: exact, `*.domain`, or a network."""
    pattern = plain(pattern)
    if pattern.startswith("*."):
        return name.endswith(pattern[1:])
    if "/" not in pattern:
        return name == pattern
    try:
        return ip(name) in ipaddress.ip_network(pattern, strict=False)
    except ValueError:
        return False


def _special(address: IP) -> bool:
    broadcast = isinstance(address, ipaddress.IPv4Address) and address.is_reserved
    return address in METADATA or address.is_link_local or address.is_multicast or broadcast
