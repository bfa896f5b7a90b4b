"""The management clients for people to look at: GET /api/clients and its page (workspace.md 13).

Names variables, never what they hold; no secret, digest or prefix of one is ever shown.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, Sum

from config.kernel.logs import timestamp
from config.kernel.mcp.operations import Registry
from workspace.access.clients import Management, code_execution, management
from workspace.access.entries import Dropped, ManagementClient
from workspace.access.policy import Scope
from workspace.access.principals import Client
from workspace.models import AuditEntry, ClientUse


def clients(registry: Registry, found: Management | None = None) -> dict[str, Any]:
    """The body of GET /api/clients."""
    found = found or management()
    uses = {use.client: use for use in ClientUse.objects.all()}
    counts = _counts()
    rows = [
        _enabled(client, registry) | _used(client.client_id, uses, counts)
        for client in found.clients
    ]
    rows += [_dropped(client) | _used(client.client_id, uses, counts) for client in found.dropped]
    return {
        "enabled": found.enabled,
        "publicUrl": found.public_url or None,
        "instanceId": found.instance_id or None,
        "discovery": found.discovery,
        "trustedProxies": list(found.trust.entries),
        "clients": rows,
    }


def _enabled(client: ManagementClient, registry: Registry) -> dict[str, Any]:
    granted = registry.granted(Client(client.client_id, client.scope))
    scopes = {"svc:read" if operation.read_only else "svc:write" for operation in granted}
    records = (*client.records, *code_execution([client], registry))
    return {
        "clientId": client.client_id,
        "status": "enabled",
        "ref": client.ref,
        "scope": _scope(client.scope),
        "operations": [operation.name for operation in granted],
        "coarseScopes": sorted(scopes),
        "projects": list(client.scope.projects),
        "codeExecution": any(operation.code_execution for operation in granted),
        "maxSpawnDepth": client.scope.max_spawn_depth,
        "warnings": [record.text for record in records],
    }


def _dropped(client: Dropped) -> dict[str, Any]:
    return {
        "clientId": client.client_id,
        "status": "dropped",
        "reason": client.reason,
        "ref": client.ref or None,
        "scope": None,
        "operations": [],
        "coarseScopes": [],
        "projects": [],
        "codeExecution": False,
        "maxSpawnDepth": None,
        "warnings": [],
    }


def _scope(scope: Scope) -> dict[str, Any]:
    return {
        "projects": list(scope.projects),
        "allow": list(scope.allow),
        "deny": list(scope.deny),
        "denyProjects": list(scope.deny_projects),
        "maxSpawnDepth": scope.max_spawn_depth,
    }


def _used(
    client: str, uses: dict[str, ClientUse], counts: dict[str, tuple[int, int]]
) -> dict[str, Any]:
    use = uses.get(client)
    calls, failures = counts.get(client, (0, 0))
    return {
        "lastUsedAt": timestamp(use.last_used) if use else None,
        "lastPeer": use.last_peer if use else None,
        "calls24h": calls,
        "failures24h": failures,
    }


def _counts() -> dict[str, tuple[int, int]]:
    """Calls and failures of each client in the last day."""
    recent = AuditEntry.objects.filter(time__gte=datetime.now(UTC) - timedelta(days=1))
    rows = (
        recent.exclude(client="")
        .values("client")
        .order_by()
        .annotate(calls=Sum("count"), failures=Sum("count", filter=~Q(outcome="ok")))
    )
    return {row["client"]: (row["calls"], row["failures"] or 0) for row in rows}
