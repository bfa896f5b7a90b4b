"""What one app's probe asks for, validated on creation, so that it cannot break the protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, urlsplit

from config.web import hosts
from dashboard.files.schema import SILENT_PORTS

EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - what dev servers print for "any address"
ANSWERS = ((200, 499),)  # the statuses that are fine if the file names none
_RANGE = re.compile(r"([1-5][0-9]{2})(?:\s*-\s*([1-5][0-9]{2}))?")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HOST = re.compile(
    r"(?:[A-Za-z0-9_-]{1,63}\.){0,20}[A-Za-z0-9_-]{1,63}\.?|[0-9A-Fa-f:.]{2,45}(?:%\w+)?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
URL_SAFE = "%/:?#[]@!$&'()*+,;=~"

Scheme = Literal["http", "https", "tcp", "process", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One thing to probe. Raises ValueError if a value could not be sent as it is.

    `scheme`: `auto` is for an unknown listener: plain HTTP, TLS if the listener speaks that, and
    not a byte on SILENT_PORTS. `process` is (pid, start), probed by scheme `process`; the start is
    that of config.process.table, which does not change when the clock is set. None there means
    that no process is known. `timeout` is in seconds.
    """

    scheme: Scheme = "http"
    host: str = "localhost"
    port: int = 80
    path: str = "/"
    method: Literal["GET", "HEAD"] = "GET"
    statuses: tuple[tuple[int, int], ...] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    timeout: float = 5.0
    insecure: bool = False
    process: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise ValueError(f"port {self.port} is not between 1 and 65535")
        if not self.path.startswith("/"):
            raise ValueError(f"path {self.path!r} must begin with /")
        if _CONTROL.search(self.path):
            raise ValueError("path must not hold control characters")
        if not _HOST.fullmatch(self.host):
            raise ValueError(f"host {self.host!r} is not a host name or address")
        for name, value in self.headers.items():
            if not _TOKEN.fullmatch(name) or _CONTROL.search(value):
                raise ValueError(f"header {name!r} cannot be sent: name or value is malformed")

    @property
    def local(self) -> bool:
        """Whether the host is this machine, judged by its name alone."""
        host = self.host.lower().removesuffix(".")
        return host == "::1" or host in EVERYWHERE or hosts.is_allowed(host)

    @property
    def speaks(self) -> Scheme:
        """The scheme to use: `auto` becomes `tcp` on SILENT_PORTS."""
        return "tcp" if self.scheme == "auto" and self.port in SILENT_PORTS else self.scheme

    @property
    def host_header(self) -> str:
        """`localhost:<port>` for bare loopback, because dev servers refuse addresses in Host."""
        if self.local and not self.host.lower().rstrip(".").endswith(".localhost"):
            return f"localhost:{self.port}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def accepts(self, status: int) -> bool:
        return any(low <= status <= high for low, high in self.statuses or ANSWERS)


def of_url(url: str) -> tuple[Literal["http", "https"], str, int, str]:
    """(scheme, host, port, path with query) of an http(s) URL; ValueError says what is wrong."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r} is not an http or https address")
    if parts.username or parts.password:
        raise ValueError("a user or password in the address is never sent; use health.headers")
    path = quote(parts.path or "/", safe=URL_SAFE)
    query = f"?{quote(parts.query, safe=URL_SAFE)}" if parts.query else ""
    host = parts.hostname
    default = 443 if parts.scheme == "https" else 80
    scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
    return (
        scheme,
        host if host.isascii() else host.encode("idna").decode(),
        parts.port or default,
        path + query,
    )


def statuses(text: str) -> tuple[tuple[int, int], ...]:
    """`200-399,401` as inclusive ranges; ValueError names the part that is not valid."""
    ranges = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part.strip())
        if found is None or int(found[2] or found[1]) < int(found[1]):
            raise ValueError(f"{part.strip()!r} is not a status or a range like 200-399")
        ranges.append((int(found[1]), int(found[2] or found[1])))
    return tuple(ranges)
