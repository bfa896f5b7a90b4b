"""The `health` block of an app: which answers are fine, and how often the app is probed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dashboard.files import convert
from dashboard.files.durations import Unfit
from dashboard.files.fields import Fields

Type = Literal["http", "tcp", "process", "none"]

# databases and mail servers, to which our bytes could do harm: TCP connect only
SILENT_PORTS = frozenset(
    {22, 25, 53, 111, 139, 445, 631, 1433, 1521, 2049, 3306, 5432, 5672, 6379, 9042, 9092, 11211,
     27017}
)  # fmt: skip
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
BODY = 1024  # characters of the text to look for


@dataclass(frozen=True, slots=True)
class Health:
    """None: not set in the file; default_type decides the type, config.yaml the figures."""

    type: Type | None = None
    url: str | None = None
    path: str | None = None
    method: Literal["GET", "HEAD"] = "GET"
    status: convert.Ranges | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    interval: float | None = None
    timeout: float | None = None
    failures: int | None = None
    successes: int | None = None
    slow: float | None = None
    insecure: bool = False


def default_type(*, port: int | None, url: str | None, service: bool) -> Type:
    """How an app is probed when its file does not say."""
    if url is None and port in SILENT_PORTS:
        return "tcp"
    if port is not None or url is not None:
        return "http"
    return "process" if service else "none"


interval = convert.duration("1s", "24h")
timeout = convert.duration("100ms", "60s")
count = convert.whole(1, 20)
slow = convert.duration("1ms", "60s")


def read_health(fields: Fields | None) -> Health:
    if fields is None:
        return Health()
    health = Health(
        type=fields.text("type", convert.word("http", "tcp", "process", "none")),
        url=fields.text("url", convert.web),
        path=fields.text("path", convert.below_root),
        method=fields.text("method", convert.word("GET", "HEAD")) or "GET",
        status=fields.text("status", convert.ranges(100, 599)),
        headers=_headers(fields),
        body=fields.text("body", convert.text(BODY)),
        interval=fields.read("interval", interval),
        timeout=fields.read("timeout", timeout),
        failures=fields.read("failures", count),
        successes=fields.read("successes", count),
        slow=fields.read("slow", slow),
        insecure=fields.read("insecure", convert.flag) or False,
    )
    if health.body is not None and health.method == "HEAD":
        fields.wrong("cannot be looked for with method HEAD", "body")
    fields.finish()
    return health


def _headers(fields: Fields) -> tuple[tuple[str, str], ...]:
    found = fields.entries("headers", header_value)
    for name in found:
        if not TOKEN.fullmatch(name):
            fields.wrong("is not the name of a header", "headers", name)
    return tuple(found.items())


def header_value(value: str) -> str:
    if not value.isascii():
        raise Unfit("must be ASCII text")
    return convert.text(4096)(value)
