"""WebFetch and WebSearch: bounded, and never directed at this machine's network.

An address is judged after resolution, and the connection goes to that very address, so a name that
changes its address in between (DNS rebinding) gains nothing. Redirects are judged again.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit

from config.process.light_typing import Any, NamedTuple
from workspace.engines.network import Network
from workspace.engines.proxy.rules import ConnectionNotAllowed, Rules
from workspace.engines.tools import Settings, ToolError

SECONDS, BYTES, REDIRECTS = 30.0, 2 * 1024 * 1024, 5
_AGENT = "svc-turn"
_UNICAST, _TEREDO = ipaddress.IPv6Network("2000::/3"), ipaddress.IPv6Network("2001::/32")
_WRITTEN = "/%:@!$&'()*+,;=?[]~"  # what stays unquoted in a path or a query
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Answer(NamedTuple):
    status: int
    kind: str
    charset: str
    location: str | None
    body: bytes


def fetch(args: Mapping[str, Any], settings: Settings, seconds: float) -> str:
    """The text of a page, preceded by `prompt` for the model that asked."""
    _need_network(settings)
    anywhere = bool(settings.web.get("allowPrivate"))
    rules = Rules(settings.network, anywhere=anywhere)
    answer = _follow(args["url"], time.monotonic() + min(seconds, SECONDS), rules)
    if answer.status >= 400:
        raise ToolError(f"the server answered {answer.status}")
    text = _decode(answer)
    if answer.kind in ("text/html", "application/xhtml+xml"):
        text = html_to_text(text)
    elif not (answer.kind.startswith("text/") or re.search("json|xml|javascript", answer.kind)):
        raise ToolError(f"not text: {answer.kind or 'unknown type'}")
    prompt = args.get("prompt")
    return f"{prompt}\n\n{text}" if prompt else text


def search(args: Mapping[str, Any], settings: Settings, seconds: float) -> str:
    """The results of the operator's search service, which answers like SearXNG."""
    _need_network(settings)
    url = settings.web.get("searchUrl")
    if not url:
        raise ToolError("WebSearch is not configured: set tools.web.searchUrl in svc.config.yaml")
    query = urlencode({"q": args["query"], "format": "json"})
    full = f"{url}{'&' if '?' in url else '?'}{query}"
    rules = Rules(Network("host", own=settings.network.own), anywhere=True)
    answer = _follow(full, time.monotonic() + min(seconds, SECONDS), rules)
    try:
        results = json.loads(answer.body)["results"]
        hits = [hit for hit in results if isinstance(hit, dict) and _is_allowed(hit, args)]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ToolError("the search service did not answer as expected") from None
    shown = [[str(hit.get(key, "")) for key in ("title", "url", "content")] for hit in hits[:20]]
    return "\n\n".join("\n".join(lines) for lines in shown) or "No results found"


def _need_network(settings: Settings) -> None:
    if settings.network.mode == "off":
        raise ToolError("the network is off for this turn")


def _is_allowed(hit: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
    host = urlsplit(str(hit.get("url", ""))).hostname or ""

    def among(domains: list[Any]) -> bool:
        return any(host == domain or host.endswith(f".{domain}") for domain in domains)

    allowed, blocked = args.get("allowed_domains") or [], args.get("blocked_domains") or []
    return (not allowed or among(allowed)) and not among(blocked)


def _follow(url: str, deadline: float, rules: Rules) -> Answer:
    for _ in range(REDIRECTS + 1):
        answer = _get(_parse_url(url), deadline, rules)
        if answer.status not in (301, 302, 303, 307, 308) or not answer.location:
            return answer
        try:
            url = urljoin(url, answer.location)
        except ValueError:
            raise ToolError("the server leads to what is not a URL") from None
    raise ToolError(f"more than {REDIRECTS} redirects")


def _parse_url(url: str) -> SplitResult:
    """The parts of a URL as they are sent, all ASCII. Raises ToolError."""
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.netloc.rpartition("@")[2]
        if not host.isascii():
            host = host.encode("idna").decode()
    except ValueError:
        raise ToolError("not a URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ToolError("only http and https URLs can be fetched")
    path, query = (quote(part, safe=_WRITTEN) for part in (parts.path, parts.query))
    return parts._replace(netloc=host, path=path, query=query)


def _get(url: SplitResult, deadline: float, rules: Rules) -> Answer:
    try:
        connection = _connect(url, deadline, rules)
        cut = threading.Timer(_seconds_left(deadline), _shut, [connection.sock])
        cut.start()
        try:
            path = (url.path or "/") + (f"?{url.query}" if url.query else "")
            headers = {"Host": url.netloc, "User-Agent": _AGENT, "Accept": "*/*"}
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            body = response.read(BYTES + 1)
            if len(body) > BYTES:
                raise ToolError(f"the page is larger than {BYTES} bytes")
            _seconds_left(deadline)
            return Answer(
                response.status,
                response.headers.get_content_type(),
                response.headers.get_content_charset() or "utf-8",
                _location(response.headers.get("Location") or ""),
                body,
            )
        finally:
            cut.cancel()
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ToolError(f"the page cannot be fetched: {error}") from None


def _location(header: str) -> str:
    """The header as text: servers send UTF-8 bytes, but headers are decoded as Latin-1."""
    return header.encode("latin-1", errors="replace").decode(errors="replace")


def _connect(url: SplitResult, deadline: float, rules: Rules) -> http.client.HTTPConnection:
    """A connection to one permitted address of the host."""
    host = url.hostname or ""
    port = url.port or (443 if url.scheme == "https" else 80)
    address = _resolve(host, port, rules)
    raw = socket.create_connection((address, port), timeout=_seconds_left(deadline))
    if url.scheme == "https":
        raw = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
    connection = http.client.HTTPConnection(host, port)
    connection.sock = raw
    return connection


def _resolve(host: str, port: int, rules: Rules) -> str:
    addresses = [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if not rules.anywhere and not all(public(address) for address in addresses):
        raise ToolError(f"{host} is an address of this machine or its network")
    try:
        return rules.permitted_addresses(host, port, addresses)[0]
    except ConnectionNotAllowed as refused:
        raise ToolError(str(refused)) from None


def public(address: str) -> bool:
    """Whether an address is on the public internet, in whatever form it is written."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is None:
            return found in _UNICAST and found not in _TEREDO and found.is_global
        found = inner
    return found.is_global and not found.is_multicast


def _shut(raw: socket.socket) -> None:
    """End a connection whose time is over, even if it still delivers slowly."""
    with contextlib.suppress(OSError):
        raw.shutdown(socket.SHUT_RDWR)


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise ToolError("the page took too long")
    return left


def _decode(answer: Answer) -> str:
    try:
        return answer.body.decode(answer.charset, errors="replace")
    except (LookupError, UnicodeError):  # some codecs cannot replace
        return answer.body.decode(errors="replace")


class _Text(HTMLParser):
    """The text of a page, a line per block, without scripts and styles."""

    _HIDDEN = frozenset({"script", "style", "noscript", "template", "svg"})
    _BLOCKS = frozenset(
        {
            "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section",
            "article", "header", "footer", "pre", "table", "title",
        }
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in self._HIDDEN
        if tag in self._BLOCKS:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in self._HIDDEN and self.hidden > 0
        if tag in self._BLOCKS:
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words.append(data)


def html_to_text(page: str) -> str:
    parser = _Text()
    try:
        parser.feed(page)
        parser.close()
    except AssertionError:  # html.parser gives up on some declarations
        raise ToolError("the page is no HTML that can be read") from None
    lines = (" ".join(line.split()) for line in "".join(parser.words).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


TOOLS: dict[str, Callable[[Mapping[str, Any], Settings, float], str]] = {
    "WebFetch": fetch,
    "WebSearch": search,
}
