"""One bounded GET that cannot be redirected to private addresses or made to hang (promise G9).

Resolve, check, connect to the checked address; the same for every redirect. No cookie, no proxy,
no keep-alive, one deadline for all, a bound on what is read and on what it inflates to.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin

from config import __version__
from dashboard.health import connect, http
from dashboard.health.target import Target, of_url
from dashboard.rendering import body, reach
from dashboard.rendering.reach import AddressRefused, Permission

REDIRECTS = 3
SECONDS = 5.0
BYTES = 256 << 10
_REDIRECTED = frozenset({301, 302, 303, 307, 308})

__all__ = ["AddressRefused", "Got", "NoAnswer", "Permission", "Rules", "get", "origin", "reachable"]


class NoAnswer(Exception):
    """No usable answer came; the sentence says what did."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`most` bytes of body; a longer one is cut there with `cut`, else it is no answer."""

    permission: Permission = field(default_factory=Permission)
    most: int = BYTES
    seconds: float = SECONDS
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Got:
    """A 200 answer: the `url` it finally came from, and whether that is in the public network."""

    url: str
    type: str
    data: bytes
    public: bool


@dataclass(frozen=True, slots=True)
class _Hop:
    status: int
    location: str
    type: str
    data: bytes
    public: bool


async def get(url: str, rules: Rules) -> Got:
    """The body of a 200 answer. Otherwise NoAnswer or AddressRefused, with a sentence."""
    try:
        async with asyncio.timeout(rules.seconds):
            return await _follow(url, rules)
    except TimeoutError as error:
        raise NoAnswer(f"no whole answer within {rules.seconds:g} s") from error
    except (OSError, http.NotHttp, body.Malformed) as error:
        raise NoAnswer(str(error) or type(error).__name__) from error


def origin(url: str) -> str:
    """scheme://host:port of an http(s) URL, always with a port. AddressRefused for others."""
    target = _target(url)
    return f"{target.scheme}://{target.host.lower()}:{target.port}"


async def reachable(url: str) -> None:
    """Raise AddressRefused if the address of the URL is one that is never fetched (G9)."""
    try:
        async with asyncio.timeout(SECONDS):
            await reach.addresses(_target(url), private=True)
    except OSError as error:  # also a timeout
        raise AddressRefused(f"it has no address: {error or 'no answer in time'}") from error


async def _follow(url: str, rules: Rules) -> Got:
    permission = rules.permission
    for _ in range(REDIRECTS + 1):
        hop = await _ask(url, replace(rules, permission=permission))
        if hop.status == 200:
            return Got(url, hop.type, hop.data, hop.public)
        if hop.status not in _REDIRECTED or not hop.location:
            raise NoAnswer(f"it answers {hop.status}")
        if hop.public:  # the public network may not send us into the private one
            permission = Permission(private=False)
        try:
            url = urljoin(url, hop.location)
        except ValueError as error:
            raise AddressRefused(f"it redirects to no address: {error}") from error
    raise AddressRefused(f"it redirects more than {REDIRECTS} times")


async def _ask(url: str, rules: Rules) -> _Hop:
    target = _target(url)
    private = rules.permission.private_at(origin(url))
    addresses = await reach.addresses(target, private=private)
    sock, address = await connect.connect(addresses, target.port)
    public = reach.is_public(address)
    # in the private network a certificate is usually self-signed, and the image proves nothing
    target = replace(target, insecure=not public)
    tls = target.scheme == "https"
    reader, writer = await connect.streams(sock, target, tls=tls, limit=64 << 10)
    try:
        writer.write(http.request(target))
        head = await http.read_head(reader)
        told = head.headers
        data = b""
        if head.status == 200:
            data = await body.read(reader, head, most=rules.most, cut=rules.cut)
        return _Hop(
            head.status, told.get("location", ""), told.get("content-type", ""), data, public
        )
    finally:
        writer.transport.abort()  # nothing is left to send, and a stuck peer must not delay us


def _target(url: str) -> Target:
    try:
        scheme, host, port, path = of_url(url)
        host = host if host.isascii() else host.encode("idna").decode("ascii")
        target = Target(scheme=scheme, host=host, port=port, path=path)
        plain = port == (443 if scheme == "https" else 80) and not target.local
        headers = {
            "Host": target.host_header.rpartition(":")[0] if plain else target.host_header,
            "User-Agent": f"svc/{__version__} (icons)",
            "Accept": "image/*,text/html;q=0.9,*/*;q=0.1",
            "Accept-Encoding": "identity",
        }
        return replace(target, headers=headers)
    except ValueError as error:
        raise AddressRefused(str(error)) from error
