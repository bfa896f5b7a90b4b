"""The management API around the server's life: it speaks at the start and flushes at the end."""

from __future__ import annotations

from config.kernel.operations import Registry
from workspace.access import audit, clients


class ManagementApi:
    """One of settings.SVC_BACKGROUND."""

    def start(self) -> None:
        clients.log_boot(clients.management(), self._registry())

    def stop(self) -> None:
        audit.flush()

    def _registry(self) -> Registry:
        """Imported here, in the start thread, so that no first request waits for the SDK."""
        from workspace import consumers

        return consumers.REGISTRY
