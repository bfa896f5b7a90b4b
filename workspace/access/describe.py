"""The management clients as people see them: GET /api/clients and its page.

It names variables but not their values; no secret, digest or prefix of a secret is ever shown.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

from config.logs import timestamp
from config.mcp.operations import Registry
from workspace.access.clients import Management, code_execution, management
from workspace.access.entries import Dropped, ManagementClient
from workspace.access.policy import Scope
from workspace.access.principals import Client
from workspace.models import AuditEntry, ClientUse

DAY = timedelta(days=1)


class Clients(TypedDict):
    enabled: bool
    publicUrl: str | None
    instanceId: str | None
    discovery: bool
    trustedProxies: list[str]
    clients: list[dict[str, Any]]


def clients(registry: Registry, found: Management | None = None) -> Clients:
    """The body of GET /api/clients."""
    found = found or management()
    uses = {use.client: use for use in ClientUse.objects.all()}
    rows = [
        _enabled_record(one, registry) | _usage_record(one.client_id, uses) for one in found.clients
    ]
    rows += [_dropped_record(one) | _usage_record(one.client_id, uses) for one in found.dropped]
    return {
        "enabled": found.enabled,
        "publicUrl": found.public_url or None,
        "instanceId": found.instance_id or None,
        "discovery": found.discovery,
        "trustedProxies": list(found.trust.entries),
        "clients": rows,
    }


def _enabled_record(client: ManagementClient, registry: Registry) -> dict[str, Any]:
    granted = registry.visible_to(Client(client.client_id, client.scope))
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


def _dropped_record(client: Dropped) -> dict[str, Any]:
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
        "permissionMode": scope.permission_mode,
    }


def _usage_record(client: str, uses: dict[str, ClientUse]) -> dict[str, Any]:
    use = uses.get(client)
    calls, failures = _counts(client)
    return {
        "lastUsedAt": timestamp(use.last_used) if use else None,
        "lastPeer": use.last_peer if use else None,
        "calls24h": calls,
        "failures24h": failures,
    }


def _counts(client: str) -> tuple[int, int]:
    """The numbers of calls and failures of a client in the last day; each call is a row.

    Two counts over a range of one index: a GROUP BY over all clients would read all their rows."""
    recent = AuditEntry.objects.filter(client=client, time__gte=datetime.now(UTC) - DAY)
    return recent.count(), recent.exclude(outcome="ok").count()
