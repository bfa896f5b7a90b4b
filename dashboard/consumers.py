"""The MCP endpoint of the dashboard: this machine only, no credential."""

from __future__ import annotations

from typing import ClassVar

from config.errors import SvcError
from config.mcp.endpoint import McpConsumer
from config.mcp.operations import Principal, Registry
from config.mcp.results import Result, in_band
from config.web.answers import Refusal
from config.web.http import threads
from dashboard.files import store
from dashboard.guide.live import base_url
from dashboard.mcp.caller import Agent
from dashboard.mcp.catalogue import REGISTRY
from dashboard.operations.common import defect


class DashboardEndpoint(McpConsumer):
    """/mcp of the dashboard, on both mounts."""

    name = "svc-dashboard"
    registry: ClassVar[Registry | None] = REGISTRY

    async def admit(self) -> Principal | Refusal:
        writes = await threads.brief(_writes)
        return Agent(base_url(self.scope), writes)

    def failure(self, error: SvcError) -> Result:
        """The error in-band: sentence, code word, status and extra fields as in the HTTP
        answer."""
        if error.text == "internal error":  # a defect, as the kernel reports it
            error = defect(self.scope.get("request_id", ""))
        return in_band({**error.body(), "status": error.status})


def _writes() -> bool:
    """Whether config.yaml allows writes at this moment."""
    allowed: bool = store.config().parsed.mcp_writes
    return allowed
