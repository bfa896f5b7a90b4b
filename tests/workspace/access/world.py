"""The catalogue of part B as plain operations, and management blocks read as at start-up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from config.mcp.operations import Argument, Operation, Registry
from workspace.access import clients
from workspace.access.clients import Management
from workspace.access.entries import ManagementClient
from workspace.access.policy import Scope

TOKEN = "svc_home_" + "0123456789abcdef" * 3
OTHER = "svc_home_" + "fedcba9876543210" * 3
URL = "https://svc.example.com"

# name: (group, read only, code execution), in the order in which tools are listed
CATALOGUE = {
    "list_projects": ("read", True, False),
    "list_chats": ("read", True, False),
    "read_chat": ("read", True, False),
    "create_chat": ("write", False, True),
    "fork_chat": ("write", False, True),
    "send_message": ("write", False, True),
    "archive_chat": ("write", False, False),
    "unarchive_chat": ("write", False, False),
    "fork_chat_batch": ("write", False, True),
    "create_project": ("write", False, True),
    "list_triggers": ("trigger", True, False),
    "set_trigger": ("trigger", False, True),
    "remove_trigger": ("trigger", False, False),
    "run_trigger": ("trigger", False, True),
}
READERS = ["list_projects", "list_chats", "read_chat", "list_triggers"]


def catalogue() -> Registry:
    registry = Registry()
    for name, (group, read_only, code_execution) in CATALOGUE.items():
        registry.add(
            Operation(
                name=name,
                group=group,
                description=name,
                run=lambda principal, **arguments: arguments,
                render=dict,
                arguments=(Argument("project", "string"),),
                read_only=read_only,
                code_execution=code_execution,
                needs="fork_chat" if name == "fork_chat_batch" else None,
            )
        )
    return registry


REGISTRY = catalogue()


def load(block: Any, environ: dict[str, str] | None = None) -> Management:
    """The block as the process would read it; CI and OPS hold tokens unless said otherwise."""
    variables = {"CI": TOKEN, "OPS": OTHER} if environ is None else environ
    return clients.load(SimpleNamespace(management_api=block, environ=variables))


def configure(monkeypatch: pytest.MonkeyPatch, **scopes: Scope) -> None:
    """These are the management clients from now on, and no others."""
    known = [ManagementClient(name, "env:CI", b"", scope) for name, scope in scopes.items()]
    found = Management(clients=tuple(known))
    monkeypatch.setattr(clients, "management", lambda: found)


def client(ref: str = "env:CI", **scope: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"auth": {"type": "token", "ref": ref}}
    return {**entry, "scope": scope} if scope else entry


def block(**changes: Any) -> dict[str, Any]:
    """A block with the one client `ci`."""
    whole = {"instanceId": "home", "publicUrl": URL, "clients": {"ci": client()}}
    return {key: value for key, value in {**whole, **changes}.items() if value is not None}


def said(found: Management) -> list[str]:
    return [record.text for record in found.records]


def scope_of(
    *,
    token: str | None = None,
    peer: str | None = "127.0.0.1",
    scheme: str = "http",
    headers: tuple[tuple[str, str], ...] = (),
    method: str = "POST",
    path: str = "/mcp",
) -> dict[str, Any]:
    """An ASGI scope."""
    pairs = [*headers, *([("authorization", f"Bearer {token}")] if token else [])]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "scheme": scheme,
        "query_string": b"",
        "client": None if peer is None else (peer, 1234),
        "headers": [(name.lower().encode(), value.encode("latin1")) for name, value in pairs],
        "request_id": "r1",
    }
