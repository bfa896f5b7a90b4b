"""The MCP endpoint of the review part (contract 13): this machine only, no credential."""

from __future__ import annotations

from typing import ClassVar

from config.kernel.errors import SvcError
from config.kernel.mcp.endpoint import McpConsumer
from config.kernel.mcp.operations import Principal, Registry
from config.kernel.mcp.results import Result, in_band
from config.kernel.web.answers import Refusal
from review.operations import Local
from review.tools import REGISTRY

AGENT = Local("agent")


class ReviewEndpoint(McpConsumer):
    """/mcp of the review surface."""

    name = "svc-review"
    registry: ClassVar[Registry | None] = REGISTRY

    async def admit(self) -> Principal | Refusal:
        return AGENT

    def failure(self, error: SvcError) -> Result:
        """In-band, with the sentence, word and status that REST answers."""
        return in_band({"error": error.text, "code": error.code, "status": error.status})
