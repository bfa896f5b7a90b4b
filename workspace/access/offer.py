"""A token for a management client, and the configuration that admits it.

Nothing is stored here: the caller sees the token once, and the service keeps only its digest.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from config.errors import Invalid, Problem, printable
from workspace.access.clients import BLOCK, Management
from workspace.access.entries import PREFIX

SECRET_BYTES = 24
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_INSTANCE = re.compile(r"[A-Za-z0-9._~-][A-Za-z0-9._~_-]{0,63}")  # characters of a bearer token


@dataclass(frozen=True, slots=True)
class Offer:
    """What one client needs; `config` is {} if the service is configured for it already."""

    client: str
    token: str
    variable: str
    url: str
    config: dict[str, Any]

    def as_yaml(self) -> str:
        """`config` as YAML, for svc.config.yaml."""
        return yaml.safe_dump(self.config, sort_keys=False, allow_unicode=True, width=1000)

    def connect(self) -> dict[str, str]:
        """Program -> how to connect it, as on page /clients; the token stays in its variable."""
        url, name = f"{self.url}/mcp", self.variable
        server = {"url": url, "headers": {"Authorization": f"Bearer ${{env:{name}}}"}}
        listing = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
        media = "application/json"
        return {
            "Claude Code": f"claude mcp add --transport http svc {url} "
            f'--header "Authorization: Bearer ${name}"',
            "Cursor": json.dumps({"mcpServers": {"svc": server}}, indent=2),
            "curl": f'curl {url} -H "Authorization: Bearer ${name}" \\\n'
            f'  -H "Content-Type: {media}" -H "Accept: {media}, text/event-stream" \\\n'
            f"  -d '{listing}'",
        }


def make(
    client: str,
    found: Management,
    *,
    url: str,
    projects: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> Offer:
    """A new token for the client; `url` is the service's address if the file has no publicUrl.

    Invalid if the name of the client or instance cannot be part of a variable or token, or for a
    scope of a client that is configured already.
    """
    if not _CLIENT.fullmatch(client):
        raise Invalid([Problem("client", "must be letters, digits, - and _", "laptop")])
    instance = found.instance_id or _of_this_machine()
    if not _INSTANCE.fullmatch(instance):
        why = f'"{printable(instance)}" cannot be part of a token; use letters, digits, - and .'
        raise Invalid([Problem(f"{BLOCK}.instanceId", why, "desk")])
    refs = {one.client_id: one.ref for one in found.dropped}
    refs |= {one.client_id: one.ref for one in found.clients}
    variable = (refs.get(client) or "").removeprefix("env:")
    missing: dict[str, Any] = {} if found.public_url else {"publicUrl": url}
    if not found.instance_id:
        missing["instanceId"] = instance
    if not variable:
        variable = f"SVC_TOKEN_{client.upper().replace('-', '_')}"
        missing["clients"] = {client: _entry(variable, projects, allow)}
    elif projects or allow:
        why = f"{client} is configured already, so --project and --allow cannot set its scope"
        raise Invalid([Problem(f"{BLOCK}.clients", f"{why}: change it there, or leave them out")])
    return Offer(
        client=client,
        token=f"{PREFIX}{instance}_{secrets.token_hex(SECRET_BYTES)}",
        variable=variable,
        url=found.public_url or url,
        config={BLOCK: missing} if missing else {},
    )


def _entry(variable: str, projects: Sequence[str], allow: Sequence[str]) -> Mapping[str, Any]:
    entry: dict[str, Any] = {"auth": {"type": "token", "ref": f"env:{variable}"}}
    scope = {key: list(value) for key, value in (("projects", projects), ("allow", allow)) if value}
    return entry | ({"scope": scope} if scope else {})


def _of_this_machine() -> str:
    """An instance id from the host's name, for an instance that has none yet."""
    return re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower()).strip("-")[:16] or "home"
