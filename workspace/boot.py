"""What the workspace logs when the server starts, and writes before it ends."""

from __future__ import annotations

import logging
import os

from config.mcp.operations import Registry
from workspace.access import audit, clients, reach
from workspace.engines import select
from workspace.engines.claude import setup
from workspace.notify import setting
from workspace.projects import store
from workspace.servers import offered

log = logging.getLogger(__name__)


class ManagementApi:
    """One of settings.SVC_BACKGROUND: logs clients at the start, flushes the audit at the end."""

    def start(self) -> None:
        found = clients.management()
        clients.log_boot(found, self._registry() if found.enabled else Registry())

    def stop(self) -> None:
        audit.flush()

    def _registry(self) -> Registry:
        """The operations, imported here in the start thread so that no request waits for the SDK.

        A service without clients does not load the SDK, which saves its memory.
        """
        from workspace import consumers

        return consumers.REGISTRY


class Agents:
    """One of settings.SVC_BACKGROUND: warns if agents are not confined, and of unused settings."""

    def start(self) -> None:
        key_seen = setup.key_warning(select.engine_cfg("claude"))
        network = [*store.network_warnings(), *reach.of_instance()]
        unused = [*select.agent_warnings(), *offered.of_instance(), *setting.current().sentences()]
        for text in filter(None, [*select.warnings(), *network, *unused, key_seen]):
            log.warning(text)
        if os.geteuid() == 0:
            log.warning(
                "The service runs as root, and so do its agents: run it as a user of its own."
            )

    def stop(self) -> None:
        """Do nothing: nothing runs."""
