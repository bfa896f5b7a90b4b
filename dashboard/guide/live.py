"""What the guide shows of this machine at this moment, from the same records as the HTTP
answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from config.errors import Unavailable
from config.web.guard import Headers
from config.web.hosts import host_of
from dashboard.daemon import Views, current, ownport, read
from dashboard.operations import apps, bookmarks, nodes
from dashboard.operations.common import Record


@dataclass(frozen=True, slots=True)
class Live:
    """Records of the API; `base` is the address at which the reader reached this part."""

    base: str
    now: datetime
    config: Record
    apps: Sequence[Record]
    observed: Sequence[Record]
    groups: Sequence[Record]
    lost: Record | None
    nodes: Sequence[Record]
    errors: Sequence[Record]


def gather(base: str) -> Live:
    """The records at this moment. Unavailable while the daemon is still starting."""
    listed = apps.list_apps()
    return Live(
        base=base,
        now=datetime.now(UTC),
        config=read(Views.config)["config"],
        apps=listed["apps"],
        observed=[one for one in read(Views.observed)["observed"] if not one["hidden"]],
        groups=bookmarks.list_bookmarks()["groups"],
        lost=read(Views.lost)["lost"],
        nodes=nodes.list_nodes()["nodes"],
        errors=listed["fileErrors"],
    )


def base_url(scope: Mapping[str, Any]) -> str:
    """The address of this part for the sender of the request, whose Host has passed the guard."""
    host = Headers(scope).only(b"host") or ""  # type: ignore[arg-type]
    scheme = _proxy_scheme(scope, host) or scope.get("scheme", "http")
    return f"{scheme}://{host}{scope.get('root_path', '')}"


def _proxy_scheme(scope: Mapping[str, Any], authority: str) -> str | None:
    """The scheme of the user's own proxy when the request used its host name, as the proxy
    forwards in plain HTTP. None when it used another name, or our port without a proxy."""
    try:
        fronted = current().state.config.fronted
    except Unavailable:
        return None
    port = (scope.get("server") or ("", None))[1]
    names = [name.lower().removesuffix(".") for name in ownport.names(settings.SVC, fronted.host)]
    proxied = host_of(authority) in names and not authority.endswith(f":{port}")
    return str(fronted.scheme) if proxied else None
