"""The management API around the server's life: it speaks at the start and flushes at the end."""

from __future__ import annotations

from config.kernel.operations import Registry
from workspace.access import audit, clients


class ManagementApi:
    """One of settings.SVC_BACKGROUND."""

    def start(self) -> None:
        found = clients.management()
        clients.log_boot(found, self._registry() if found.enabled else Registry())

    def stop(self) -> None:
        audit.flush()

    def _registry(self) -> Registry:
        """Imported here, in the start thread, so that no first request waits for the SDK.

        A service without clients does without the SDK's memory.
        """
        from workspace import consumers

        return consumers.REGISTRY
