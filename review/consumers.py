"""The MCP endpoint of the review part: this machine only, no credential."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from config.errors import SvcError
from config.mcp.endpoint import McpConsumer
from config.mcp.operations import Principal, Registry, Unrestricted
from config.mcp.results import Result, in_band
from config.web.answers import Refusal
from review.mcp.catalogue import REGISTRY


class Agent(Unrestricted):
    """Any program on this machine; there is no credential."""

    defaults: ClassVar[Mapping[str, str]] = {}


class ReviewEndpoint(McpConsumer):
    """/mcp of the review surface."""

    name = "svc-review"
    registry: ClassVar[Registry | None] = REGISTRY

    async def admit(self) -> Principal | Refusal:
        return Agent()

    def failure(self, error: SvcError) -> Result:
        """The error as a tool result, with the text, code word and status of the REST answer."""
        return in_band({"error": error.text, "code": error.code, "status": error.status})
