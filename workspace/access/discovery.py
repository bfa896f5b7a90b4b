"""The protected-resource document of RFC 9728 and the 401 challenge.

Both are built only from the configured publicUrl, never from a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from workspace.access.clients import Management

WELL_KNOWN = "/.well-known/oauth-protected-resource"
SCOPES = ("svc:read", "svc:write")
CHALLENGES: Mapping[str, str] = {
    "missing": "",
    "malformed": "the Authorization header is not a Bearer credential",
    "invalid": "the access token was not accepted",
}

HEADERS = (
    (b"access-control-allow-origin", b"*"),
    (b"cache-control", b"public, max-age=300"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)
PREFLIGHT = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS"),
    (b"access-control-allow-headers", b"*"),
)


def document(found: Management) -> dict[str, Any]:
    return {
        "resource": f"{found.public_url}/mcp",
        "authorization_servers": list(found.authorization_servers),
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": "svc management API",
    }


def paths(found: Management) -> frozenset[str]:
    """Paths of the document: root and path-inserted; if publicUrl has a path, also with it."""
    mount = unquote(urlsplit(found.public_url).path)
    forms = {WELL_KNOWN, f"{WELL_KNOWN}/mcp"}
    if mount:
        forms |= {f"{mount}{form}" for form in tuple(forms)} | {f"{WELL_KNOWN}{mount}/mcp"}
    return frozenset(forms)


def challenge(found: Management, reason: str) -> str:
    """The WWW-Authenticate header for a credential that is missing, malformed or invalid."""
    parts = ['realm="svc"']
    if description := CHALLENGES[reason]:
        parts += ['error="invalid_token"', f'error_description="{description}"']
    if found.discovery:
        parts += [f'resource_metadata="{found.public_url}{WELL_KNOWN}/mcp"']
        parts += [f'scope="{" ".join(SCOPES)}"']
    return f"Bearer {', '.join(parts)}"
