"""The ASGI endpoints with their own gate: /mcp, /_svc/mcp, the endpoints of parts below it, and
OAuth discovery.

Each identifies its caller and records its calls; the kernel implements the transport.
"""

from __future__ import annotations

import functools
from typing import Any

from channels.generic.http import AsyncHttpConsumer

from config.mcp import turn_tools
from config.mcp.endpoint import Call, McpConsumer
from config.mcp.operations import Principal
from config.web.answers import Receive, Refusal, Send, refuse, send_json
from config.web.guard import Headers
from config.web.http import threads
from workspace.access import discovery, proxies
from workspace.access.audit import LEDGER
from workspace.access.clients import management
from workspace.access.gate import FOREIGN_PAGE, NOT_FOUND, Gate, GateRefusal
from workspace.access.principals import Agent, Client, Helper
from workspace.chats.turns import jobs, tokens
from workspace.mcp.catalogue import REGISTRY

__all__ = ["REGISTRY", "Discovery", "ManagementEndpoint", "PartEndpoint", "TurnEndpoint"]

OUTCOMES = {
    "insecure_transport": "insecure_transport",
    "untrusted_proxy": "insecure_transport",
    "malformed": "auth_failed",
    "invalid": "auth_failed",
}
NOT_ALLOWED = Refusal(
    405,
    {"error": "method not allowed", "code": "method_not_allowed"},
    ((b"allow", b"GET, HEAD, OPTIONS"),),
)


@functools.cache
def gate() -> Gate:
    return Gate(management())


class ManagementEndpoint(McpConsumer):
    """/mcp: clients outside of the instance, by bearer token and scope."""

    registry = REGISTRY

    async def admit(self) -> Principal | Refusal:
        found = gate().admit(self.scope)
        if not isinstance(found, GateRefusal):
            return found
        if found.reason != "disabled":
            self._record_refusal(found.reason)
        return found.answer

    def _record_refusal(self, reason: str) -> None:
        peer, request_id = proxies.peer(self.scope), self.scope.get("request_id", "")
        gate().log_refusal(peer, reason, request_id)
        if outcome := OUTCOMES.get(reason):
            LEDGER.add_refusal(peer=peer, outcome=outcome, request_id=request_id)

    def record(self, call: Call) -> None:
        assert isinstance(call.principal, Client)
        request_id, peer = self.scope.get("request_id", ""), proxies.peer(self.scope)
        LEDGER.call(call, client=call.principal.client, peer=peer, request_id=request_id)


class TurnEndpoint(McpConsumer):
    """/_svc/mcp: running turns of this service, by their token."""

    registry = REGISTRY

    async def admit(self) -> Principal | Refusal:
        page = Headers(self.scope).all(b"origin")
        if page and not management().welcomes(page):
            return FOREIGN_PAGE
        token = tokens.token_of(self.scope)
        found = await threads.run(tokens.caller, token) if token else None
        return found or NOT_FOUND

    def record(self, call: Call) -> None:
        if not call.tool:
            return
        by = call.principal
        agent, part = (by.agent, by.part) if isinstance(by, Helper) else (by, "manage")
        assert isinstance(agent, Agent)
        request_id, peer = self.scope.get("request_id", ""), proxies.peer(self.scope)
        LEDGER.turn(call, agent, part=part, peer=peer, request_id=request_id)


class PartEndpoint(TurnEndpoint):
    """/_svc/mcp/<part>: the operations that another part gives to running turns only."""

    async def admit(self) -> Principal | Refusal:
        part = self.scope["url_route"]["kwargs"]["part"]
        registry = turn_tools.registries().get(part)
        found = await super().admit()
        if registry is None or not isinstance(found, Agent):
            return found if isinstance(found, Refusal) else NOT_FOUND
        self.registry = registry  # type: ignore[misc] # of this one request
        return await threads.run(jobs.helper, found, part)


class Discovery(AsyncHttpConsumer):  # type: ignore[misc]
    """The protected-resource document, which is public."""

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        found, method = management(), scope["method"]
        if not found.discovery or scope["path"] not in discovery.paths(found):
            await refuse(send, NOT_FOUND)
        elif method in ("GET", "HEAD"):
            await send_json(send, 200, discovery.document(found), discovery.HEADERS)
        elif method == "OPTIONS":
            start = {"type": "http.response.start", "status": 204, "headers": discovery.PREFLIGHT}
            await send(start)
            await send({"type": "http.response.body", "body": b""})
        else:
            await refuse(send, NOT_ALLOWED)
