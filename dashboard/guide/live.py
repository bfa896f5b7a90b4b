"""What the guide shows of this machine right now, taken from the same records HTTP answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from config.kernel.web.guard import Headers
from dashboard import operations
from dashboard.operations import Local, Record


@dataclass(frozen=True, slots=True)
class Live:
    """Records of section 7; `base` is the address of this part as the reader reached it."""

    base: str
    now: datetime
    config: Record
    apps: list[Record]
    observed: list[Record]
    groups: list[Record]
    lost: Record | None
    nodes: list[Record]
    errors: list[Record]


def gather(caller: Local, base: str) -> Live:
    """Unavailable while the daemon is still starting."""
    apps = operations.list_apps(caller)
    return Live(
        base=base,
        now=datetime.now(UTC),
        config=operations.get_config(caller)["config"],
        apps=apps["apps"],
        observed=[one for one in operations.list_observed(caller)["observed"] if not one["hidden"]],
        groups=operations.list_bookmarks(caller)["groups"],
        lost=operations.get_lost(caller)["lost"],
        nodes=operations.list_nodes(caller)["nodes"],
        errors=apps["fileErrors"],
    )


def base_url(scope: Mapping[str, Any]) -> str:
    """Where this part is for whoever sent the request; its Host has passed the guard."""
    host = Headers(scope).only(b"host")  # type: ignore[arg-type]
    return f"{scope.get('scheme', 'http')}://{host}{scope.get('root_path', '')}"
