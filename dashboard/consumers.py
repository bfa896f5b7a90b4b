"""The MCP endpoint of the dashboard (section 15): this machine only, no credential."""

from __future__ import annotations

from typing import ClassVar

from config.kernel.errors import SvcError
from config.kernel.mcp.endpoint import McpConsumer
from config.kernel.mcp.operations import Principal, Registry
from config.kernel.mcp.results import Result, in_band
from config.kernel.web import threads
from config.kernel.web.answers import Refusal
from dashboard.files import store
from dashboard.guide.live import base_url
from dashboard.operations.caller import defect
from dashboard.tools import REGISTRY, Agent


class DashboardEndpoint(McpConsumer):
    """/mcp of the dashboard, on both mounts."""

    name = "svc-dashboard"
    registry: ClassVar[Registry | None] = REGISTRY

    async def admit(self) -> Principal | Refusal:
        writes = await threads.brief(_writes)
        return Agent("agent", base=base_url(self.scope), writes=writes)

    def failure(self, error: SvcError) -> Result:
        """In-band, with the sentence, word, status and extras that HTTP answers."""
        if error.text == "internal error":  # a defect, as the kernel tells it
            error = defect(self.scope.get("request_id", ""))
        return in_band({**error.body(), "status": error.status})


def _writes() -> bool:
    """As the file says it now."""
    allowed: bool = store.config().parsed.mcp_writes
    return allowed
