"""Which requests a surface accepts at all, decided from the headers, before Django and the body.

Checks the peer, its user, Host, Origin, Sec-Fetch-Site, content type and size. It replaces Django's
CSRF and host checks on every surface, the admin included; it never looks at what is requested.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from config.errors import Denied, SvcError, TooLarge, UnsupportedMedia
from config.web.answers import App, Message, Receive, Refusal, Send, refusal, refuse
from config.web.hosts import host_of, is_allowed, is_forwarding, loopback, origin_host

Scope = dict[str, Any]
Authenticate = Callable[[Scope], Awaitable[Any]]  # returns the principal, or a Refusal

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
JSON = frozenset({"application/json"})
ANY: frozenset[str] = frozenset()  # the app checks the type itself
ENDLESS = 1 << 62  # the app limits the body itself
# types that a form or `no-cors` script of any page may send; "" is a missing type
FORMS = frozenset({"", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded"})
OWN_SITES = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of one surface; `{value}` is what was sent, `{limit}` the rule's."""

    peer: str = "This server answers only requests from this machine."
    proxy: str = (
        "This is only for the machine itself, and the request came through a proxy (it has the "
        "header {value}): a proxy publishes the workspace only."
    )
    user: str = (
        "This server answers the user who runs it; this connection belongs to uid {value}. "
        "Name that user in SVC_LOCAL_USERS to admit them."
    )
    unknown: str = (
        "It cannot be determined which user of this machine sent this: the connection was closed "
        "too early, or this kernel does not say (see `manage.py doctor`)."
    )
    host: str = 'Host "{value}" is not allowed here; add it to SVC_ALLOWED_HOSTS.'  # {port}: ours
    origin: str = 'A page of "{value}" may not write here.'
    cross_site: str = "A page of another site sent this write; it was refused."
    media: str = "Content-Type must be application/json"  # {value}: the type that was sent
    size: str = "Request body is larger than {limit} bytes"
    peer_code: str = "peer_not_allowed"
    cross_site_code: str = "origin_not_allowed"


async def nobody() -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Rules:
    """How strict one surface is."""

    limit: int  # of a body, in bytes
    local: bool = True  # peer, Host and Origin must be this machine (or one of `hosts`)
    users: frozenset[int] | None = None  # uids of this machine that are served; None: all
    hosts: frozenset[str] = frozenset()  # further host names, lower case
    also: Callable[[], Awaitable[Collection[str]]] = nobody  # hosts that may change while it runs
    origins: frozenset[str] = frozenset()  # hosts whose pages may write too
    proxied: bool = False  # whether requests may come through a proxy
    json_always: bool = True  # a write needs a content type even if its body is empty
    media: frozenset[str] = JSON  # accepted content types
    words: Words = field(default_factory=Words)

    async def knows(self, host: str | None) -> bool:
        """Whether the host is this machine, or is configured as if it were."""
        return is_allowed(host, self.hosts) or is_allowed(host, await self.also())


class Headers:
    """The request's headers as text: a list of values for each name."""

    def __init__(self, scope: Scope) -> None:
        self._values: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            self._values.setdefault(name, []).append(value.decode("latin1").strip())

    def all(self, name: bytes) -> list[str]:
        return self._values.get(name, [])

    def pairs(self) -> list[tuple[str, str]]:
        """(name, value) for each value of each header."""
        return [(name.decode("latin1"), one) for name in self._values for one in self.all(name)]

    def only(self, name: bytes) -> str:
        """The value of a header sent exactly once, else ""."""
        values = self.all(name)
        return values[0] if len(values) == 1 else ""

    def forwarding(self) -> str:
        """The name of a header that only proxies add; "" if there is none."""
        names = (name.decode("latin1") for name in self._values)
        return next(filter(is_forwarding, names), "")


async def check_request(scope: Scope, headers: Headers, rules: Rules) -> None:
    """Check origin, type and size, once the caller is known: 403, 415, 413 in this order."""
    if scope["method"] in WRITES:
        await _check_origin(headers, rules)
        _check_media(scope["method"], headers, rules)
    length = headers.only(b"content-length")
    if length.isdecimal() and int(length) > rules.limit:
        raise too_large(rules)


async def check_caller(scope: Scope, headers: Headers, rules: Rules) -> None:
    """Check peer, user, forwarding and Host for a surface that serves only this machine."""
    if not rules.local:
        return
    words = rules.words
    if not _of_this_machine(scope):
        raise Denied(words.peer, code=words.peer_code)
    if not rules.proxied and (name := headers.forwarding()):
        raise Denied(words.proxy.format(value=name[:100]), code=words.peer_code)
    if rules.users is not None and (uid := scope.get("peer_uid")) not in rules.users:
        text = words.unknown if uid is None else words.user.format(value=uid)
        raise Denied(text, code="user_not_allowed")
    sent = headers.all(b"host")
    if len(sent) != 1 or not await rules.knows(host_of(sent[0])):
        port = (scope.get("server") or ("", ""))[1]
        text = words.host.format(value=", ".join(sent)[:100], port=port)
        raise Denied(text, code="host_not_allowed")


def _of_this_machine(scope: Scope) -> bool:
    """Whether the peer is on this machine. A unix socket has no address, but a known user."""
    client = scope.get("client")
    return loopback(client[0]) if client else scope.get("peer_uid") is not None


async def _check_origin(headers: Headers, rules: Rules) -> None:
    """Refuse a write by a page of another origin; a caller without Origin is not a page."""
    words, sent = rules.words, headers.all(b"origin")
    if sent and not (len(sent) == 1 and await _known_origin(origin_host(sent[0]), headers, rules)):
        value = ", ".join(sent)[:100]
        raise Denied(words.origin.format(value=value), code="origin_not_allowed")
    if "cross-site" in (site.lower() for site in headers.all(b"sec-fetch-site")):
        raise Denied(words.cross_site, code=words.cross_site_code)


async def _known_origin(host: str | None, headers: Headers, rules: Rules) -> bool:
    if host is None:
        return False
    if rules.local:
        return await rules.knows(host)
    return host == host_of(headers.only(b"host")) or host in rules.hosts | rules.origins


def _check_media(method: str, headers: Headers, rules: Rules) -> None:
    """Refuse content types that the rules do not accept. Without a preflight, browsers send a
    foreign page's write only in the types of a form."""
    if method == "DELETE":
        return
    foreign = _foreign(headers)
    kind = headers.only(b"content-type").partition(";")[0].strip().lower()
    length = headers.only(b"content-length")
    empty = not headers.all(b"transfer-encoding") and length in ("", "0")
    if empty and not rules.json_always and not foreign:
        return
    if rules.media:
        refused = kind not in rules.media or bool(headers.all(b"content-encoding"))
    else:
        refused = foreign and kind in FORMS
    if refused:
        raise UnsupportedMedia(rules.words.media.format(value=kind[:100]))


def _foreign(headers: Headers) -> bool:
    """Whether a browser may have sent this for a page that is not from this very port."""
    host = headers.only(b"host").lower()
    origins = [origin.lower().partition("://")[2] for origin in headers.all(b"origin")]
    sites = {site.lower() for site in headers.all(b"sec-fetch-site")}
    return any(origin != host for origin in origins) or not sites <= OWN_SITES


def too_large(rules: Rules) -> TooLarge:
    return TooLarge(rules.words.size.format(limit=rules.limit))


class Guard:
    """ASGI: check the rules and the caller, then run the app with a body of limited size."""

    def __init__(self, app: App, rules: Rules, authenticate: Authenticate | None = None) -> None:
        self.app, self.rules, self.authenticate = app, rules, authenticate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (why := await self._find_refusal(scope)) is not None:
            await refuse(send, why)
        else:
            await self._run_limited(scope, receive, send)

    async def _find_refusal(self, scope: Scope) -> Refusal | None:
        """The refusal by the first broken rule; None if none, with the principal in the scope."""
        headers = Headers(scope)
        try:
            await check_caller(scope, headers, self.rules)
            if self.authenticate is not None:
                principal = await self.authenticate(scope)
                if isinstance(principal, Refusal):
                    return principal
                scope["principal"] = principal
            await check_request(scope, headers, self.rules)
        except SvcError as error:
            return refusal(error)
        return None

    async def _run_limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app; answer 413 once the body exceeds the limit, unless an answer has begun."""
        read, begun = 0, False

        async def receive_counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.rules.limit:
                raise too_large(self.rules)
            return message

        async def send_watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive_counted, send_watched)
        except TooLarge as error:
            if begun:
                raise
            await refuse(send, refusal(error))
