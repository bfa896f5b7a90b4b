"""The result of one probe: a kind, in the terms of the states' reasons, and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypedDict

from config.logs import timestamp
from dashboard.health.target import Target


class Kind(StrEnum):
    """FINE: it answers. BAD: it answers, but badly. All others: it does not answer."""

    OK = "ok"
    REDIRECT = "redirect"
    AUTH = "auth-required"
    SERVER_ERROR = "http-5xx"
    GATEWAY = "gateway"
    STATUS = "status-mismatch"
    BODY = "body-mismatch"
    TLS = "tls"
    NOT_HTTP = "not-http"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    DNS = "dns"
    EXITED = "exited"
    NO_PROBE = "no-probe"  # not probed, because it is this service itself


FINE = frozenset({Kind.OK, Kind.REDIRECT, Kind.AUTH})
BAD = frozenset({Kind.SERVER_ERROR, Kind.GATEWAY, Kind.STATUS, Kind.BODY, Kind.TLS, Kind.NOT_HTTP})


@dataclass(frozen=True, slots=True)
class Page:
    """The start of an answer, read on request: identity and pictures use it."""

    title: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    body: bytes = b""  # 64 KiB at most


class Last(TypedDict):
    at: str
    ok: bool
    status: int | None
    ms: float | None
    addr: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one probe. `began` is in monotonic seconds, `at` is the same moment in Unix
    seconds.

    `ms`: from the first packet to the complete head (tcp: to the connection), None without one.
    `addr`: the address that accepted the connection, even if it then stayed silent. `lived`: the
    age in seconds of a process, for scheme `process`.
    """

    began: float
    at: float
    kind: Kind
    status: int | None = None
    ms: float | None = None
    addr: str | None = None
    scheme: str | None = None
    error: str | None = None
    page: Page | None = None
    lived: float | None = None

    @property
    def ok(self) -> bool:
        return self.kind in FINE

    @property
    def bad(self) -> bool:
        return self.kind in BAD

    @property
    def failed(self) -> bool:
        return not (self.ok or self.bad)

    def wire(self) -> Last:
        """The `last` field of an App."""
        return {
            "at": timestamp(datetime.fromtimestamp(self.at, UTC)),
            "ok": self.ok,
            "status": self.status,
            "ms": self.ms,
            "addr": self.addr,
            "error": self.error,
        }


def judge(target: Target, status: int) -> tuple[Kind, str | None]:
    """The kind of result that a status means, and a sentence if it is not fine."""
    if target.accepts(status):
        if 300 <= status <= 399:
            return Kind.REDIRECT, None
        return (Kind.AUTH if status in {401, 403} else Kind.OK), None
    if status in {502, 504}:
        return Kind.GATEWAY, f"answers {status}: nothing behind the gateway"
    if 500 <= status <= 599:
        return Kind.SERVER_ERROR, f"answers {status}"
    return Kind.STATUS, f"answers {status}, which health.status does not name"
