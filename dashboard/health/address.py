"""Resolve a host to the addresses a probe may connect to. A slow lookup delays only its own
name."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
from functools import lru_cache

from config.web import hosts, surfaces
from dashboard.health.target import EVERYWHERE, Target

LOOKUPS = 32  # names looked up at the same time; getaddrinfo cannot be interrupted
Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
# Metadata services at addresses that look like ordinary ones (AWS, Alibaba, Azure, Oracle).
_METADATA = frozenset({"fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"})
_in_flight: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Future[list[str]]] = {}


class Unresolved(OSError):
    """The name has no address, or was not resolved in time."""


class Forbidden(OSError):
    """Every address of the host is one that probes never connect to."""


class Itself(Forbidden):
    """The address is a listener of this service, which would answer with its own rights."""


async def addresses(target: Target, *, within: float | None = None) -> list[str]:
    """The addresses of the target, in the order to try. `within`: seconds for a lookup of the
    name.

    Raises Unresolved, Forbidden or Itself if there is none, TimeoutError if the lookup took too
    long.
    """
    found = await _addresses_of(target.host.lower().removesuffix("."), within)
    allowed = [address for address in dict.fromkeys(found) if not forbidden(address)]
    if not allowed:
        raise Forbidden(f"{found[0]} is never probed: it is not an address of an app")
    others = [address for address in allowed if not _itself(address, target.port)]
    if not others:
        raise Itself(f"{target.host}:{target.port} is this service itself: it is not probed")
    return others


async def _addresses_of(host: str, within: float | None) -> list[str]:
    """Loopback names are never looked up (RFC 6761), so no DNS answer can redirect them."""
    if host == "localhost" or host in EVERYWHERE or host.endswith(".localhost"):
        return ["127.0.0.1", "::1"]
    if _literal(host):
        return [host]
    async with asyncio.timeout(within):
        return await _lookup(host)


def _itself(address: str, port: int) -> bool:
    """Whether this service listens there, in whatever form the address is written."""
    return port in surfaces.ports().values() and hosts.leads_here(hosts.ip(address))


@lru_cache(1024)
def forbidden(address: str) -> bool:
    """Whether the address is link-local, metadata, multicast, unspecified or reserved."""
    ip = parse(address)
    return (
        str(ip) in _METADATA
        or ip.is_link_local
        or ip.is_multicast
        or ip.is_unspecified
        or (ip.is_reserved and not ip.is_loopback)
    )


def parse(address: str) -> Ip:
    """The address without its zone; of an IPv6 address that wraps an IPv4 one, the latter."""
    ip: Ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        return ip.ipv4_mapped or ip.sixtofour or ip
    return ip


def _literal(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host.partition("%")[0]))
    return False


async def _lookup(host: str) -> list[str]:
    """Look a name up. Concurrent lookups of one name share one thread, which is a daemon thread,
    so that a hung resolver does not delay a stop."""
    loop = asyncio.get_running_loop()
    key = (loop, host)
    answer = _in_flight.get(key)
    if answer is None:
        if len(_in_flight) >= LOOKUPS:
            raise Unresolved(
                f"{host} was not looked up: {LOOKUPS} other names are being waited for"
            )
        answer = _in_flight[key] = loop.create_future()
        answer.add_done_callback(lambda done: (_in_flight.pop(key), done.exception()))
        threading.Thread(target=_resolve, args=(host, loop, answer), daemon=True).start()
    return await asyncio.shield(answer)


def _resolve(host: str, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[list[str]]) -> None:
    found: list[str] = []
    try:
        infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        found = [str(info[4][0]) for info in infos]
        error = f"{host} has no address"
    except (OSError, UnicodeError) as failure:
        error = f"{host} does not resolve: {failure}"

    def tell() -> None:
        if answer.done():
            return
        if found:
            answer.set_result(found)
        else:
            answer.set_exception(Unresolved(error))

    with contextlib.suppress(RuntimeError):  # the loop has been closed since
        loop.call_soon_threadsafe(tell)
