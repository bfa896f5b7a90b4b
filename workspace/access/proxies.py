"""Peers by socket address, and which of them are believed in their forwarded headers.

The peer is always the socket's address, never a value of a header.
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

UNKNOWN = "unknown"
PRESETS = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "linklocal": ("169.254.0.0/16", "fe80::/10"),
    "uniquelocal": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
}
DEFAULT = tuple(PRESETS)


def peer(scope: Mapping[str, Any]) -> str:
    """The peer's address for comparing and printing: IPv4 if mapped, without a zone id."""
    client = scope.get("client")
    return _text(client[0]) if client and client[0] else UNKNOWN


@functools.lru_cache(1024)
def _text(text: str) -> str:
    return str(address_of(text) or UNKNOWN)


@functools.lru_cache(1024)
def address_of(text: str) -> IPAddress | None:
    try:
        address = ipaddress.ip_address(text.split("%", 1)[0])
    except ValueError:
        return None
    return (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped) or address


@dataclass(frozen=True, slots=True)
class Trust:
    """Which peers are believed."""

    networks: tuple[IPNetwork, ...] = ()
    everyone: bool = False
    default: bool = False  # the built-in list; each peer believed by it is logged once
    entries: tuple[str, ...] = ()  # as configured, for people to read

    def believes(self, peer: str) -> bool:
        address = address_of(peer)
        return self.everyone or (
            address is not None and any(address in network for network in self.networks)
        )


def read(entries: Iterable[str], *, default: bool = False) -> tuple[Trust, list[str]]:
    """The trust list of these entries, and the unreadable entries. `none` beats `all`."""
    given = {entry.strip().lower(): entry.strip() for entry in entries if entry.strip()}
    words = tuple(given)
    networks: list[IPNetwork] = []
    dropped: list[str] = []
    for word in words:
        if word in {"none", "all", "*"}:
            continue
        found = [_network(text) for text in PRESETS.get(word, (word,))]
        networks += [network for network in found if network]
        dropped += [given[word] for network in found if network is None]
    if "none" in words:
        return Trust(entries=words), dropped
    return Trust(tuple(networks), bool({"all", "*"} & set(words)), default, words), dropped


def _network(text: str) -> IPNetwork | None:
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    mapped = isinstance(network, ipaddress.IPv6Network) and network.network_address.ipv4_mapped
    if mapped and network.prefixlen >= 96:
        return ipaddress.ip_network((mapped, network.prefixlen - 96))
    return network
