"""The gate of /mcp: checks the Origin, secure transport and credential, before anything else.

It looks at the socket's peer and three headers, never at the method or the body. Tokens are
compared by digest in constant time and never leave this module. The order and its reasons:
docs/design/workspace.md#the-gate.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from config.web.answers import Header, Refusal
from config.web.guard import Headers
from config.web.hosts import loopback
from workspace.access import discovery, proxies
from workspace.access.clients import Management
from workspace.access.entries import TOKEN_LEAST, ManagementClient, embedded_instance
from workspace.access.principals import Client

log = logging.getLogger(__name__)

WARNED_PEERS = 32
NOT_FOUND = Refusal(404, {"error": "not found"})
FOREIGN_PAGE = Refusal(
    403,
    {
        "error": "Pages of this Origin may not call this endpoint; "
        "name it in managementApi.allowedOrigins to admit it.",
        "code": "origin_not_allowed",
    },
)
_PLAIN = (
    "Plain HTTP from {peer} was refused: the credential would be readable on the wire."
    " Terminate TLS in front of this service, or use loopback."
)
_UNTRUSTED = (
    "X-Forwarded-Proto: https from {peer} was ignored: that peer is not a trusted proxy."
    " If it is your TLS proxy, add it to managementApi.trustedProxies"
    " (or SVC_MANAGEMENT_TRUSTED_PROXIES); otherwise terminate TLS, or use loopback."
)


@dataclass(frozen=True, slots=True)
class GateRefusal:
    """A refusal of the gate: the word for the log, and the answer."""

    reason: str  # disabled, foreign_origin, insecure_transport, untrusted_proxy, missing, …
    answer: Refusal


class Gate:
    """The gate of one management API; its only state is the peers it has warned about."""

    def __init__(self, management: Management) -> None:
        self.management = management
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def admit(self, scope: dict[str, Any]) -> Client | GateRefusal:
        if not self.management.enabled:
            return GateRefusal("disabled", NOT_FOUND)
        headers, peer = Headers(scope), proxies.peer(scope)
        if (page := headers.all(b"origin")) and not self.management.welcomes(page):
            return GateRefusal("foreign_origin", FOREIGN_PAGE)
        if reason := self._insecure(scope, headers, peer):
            return GateRefusal(reason, _insecure_answer(reason, peer))
        token, reason = _token(headers.all(b"authorization"))
        client = self._client(token) if token else None
        if client is not None:
            return Client(client.client_id, client.scope)
        return GateRefusal(reason, self._unauthorized_answer(reason))

    def _insecure(self, scope: dict[str, Any], headers: Headers, peer: str) -> str:
        """ "" if the transport protects the credential, else the word for why it does not."""
        if scope.get("scheme") == "https" or loopback(peer):
            return ""
        if _last_hop(headers.all(b"x-forwarded-proto")) != "https":
            return "insecure_transport"
        if not self.management.trust.believes(peer):
            return "untrusted_proxy"
        if self.management.trust.default:
            self._warn(peer)
        return ""

    def _warn(self, peer: str) -> None:
        with self._lock:
            if peer in self._warned or len(self._warned) >= WARNED_PEERS:
                return
            self._warned.add(peer)
        log.warning(
            "management API: believed forwarded https from %s under the default trust list;"
            " name your proxy in managementApi.trustedProxies",
            peer,
        )

    def log_refusal(self, peer: str, reason: str, request_id: str) -> None:
        text = f"management API: refused {peer}: {reason}"
        log.warning(text, extra={"requestId": request_id})

    def _client(self, token: bytes) -> ManagementClient | None:
        """The client with this token, or None; takes as long whichever client matches."""
        digest = hashlib.sha256(token).digest()
        found = None
        for client in self.management.clients:
            if hmac.compare_digest(client.digest, digest):
                found = client
        instance = self.management.instance_id
        named = embedded_instance(token.decode("utf-8", "replace"), instance)
        bound = not instance or not named or named == instance
        return found if bound and len(token) >= TOKEN_LEAST else None

    def _unauthorized_answer(self, reason: str) -> Refusal:
        value = discovery.challenge(self.management, reason).encode("latin1")
        header: Header = (b"www-authenticate", value)
        return Refusal(401, {"error": "unauthorized", "code": "auth_required"}, (header,))


def _token(values: list[str]) -> tuple[bytes, str]:
    """The bearer token, and the word for a refusal if it is missing or not accepted."""
    if not any(values):
        return b"", "missing"
    parts = values[0].split()
    if len(values) > 1 or len(parts) != 2 or parts[0].lower() != "bearer":
        return b"", "malformed"
    return parts[1].encode("latin1"), "invalid"


def _last_hop(values: Iterable[str]) -> str:
    """The right-most value, which the nearest proxy added; "" if there is none."""
    hops = [hop for value in ",".join(values).split(",") if (hop := value.strip().lower())]
    return hops[-1] if hops else ""


def _insecure_answer(reason: str, peer: str) -> Refusal:
    text = (_PLAIN if reason == "insecure_transport" else _UNTRUSTED).format(peer=peer)
    body = {"error": "https required", "code": "insecure_transport", "message": text}
    return Refusal(403, body)
