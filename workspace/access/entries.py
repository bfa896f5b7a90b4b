"""One client of the managementApi block: its variable, its token, its scope.

Keeps the digest of a token, never the token; a `ref` that might be a token is never shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workspace.access import scopes
from workspace.access.policy import Scope
from workspace.access.records import ERROR, WARNING, Record, secret_key, unknown_keys

TOKEN_LEAST = 24
PREFIX = "svc_"
SHOWN_MOST = 16  # an instance id longer than this is not shown
_REF = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_INLINE = (
    ": token material in the config file is refused; put it in an environment variable"
    " and write ref: env:NAME; client skipped"
)


@dataclass(frozen=True, slots=True)
class ManagementClient:
    """A configured caller whose token was found."""

    client_id: str
    ref: str
    digest: bytes = field(repr=False)
    scope: Scope = field(default_factory=Scope)
    records: tuple[Record, ...] = ()


@dataclass(eq=False)
class Dropped(Exception):
    """A configured caller that is not admitted."""

    client_id: str
    level: int
    text: str  # the log line after the client's place
    ref: str = ""

    @property
    def record(self) -> Record:
        return Record(self.level, f"{place(self.client_id)}{self.text}")

    @property
    def reason(self) -> str:
        return self.text.lstrip(".: ").rsplit("; client", 1)[0]


def place(client_id: str) -> str:
    return f"managementApi.clients.{client_id}"


def read(client_id: str, entry: Any, instance: str, environ: Mapping[str, str]) -> ManagementClient:
    """The client. Raises Dropped if it is not admitted."""
    if not isinstance(entry, dict):
        raise Dropped(client_id, ERROR, ": not a mapping; client skipped")
    if secret_key(entry) is not None:
        raise Dropped(client_id, ERROR, _INLINE)
    variable = _variable(client_id, entry.get("auth"))
    token = _token(client_id, variable, environ)
    scope, records = scopes.read(place(client_id), entry.get("scope"))
    unknown = unknown_keys(place(client_id), entry, ("auth", "scope"))
    unknown += unknown_keys(f"{place(client_id)}.auth", entry["auth"], ("type", "ref"))
    if note := _binding(variable, embedded_instance(token, instance), instance):
        records.append(Record(WARNING, f"{place(client_id)}: the token in {note}"))
    records = unknown + records
    digest = hashlib.sha256(token.encode()).digest()
    return ManagementClient(client_id, f"env:{variable}", digest, scope, tuple(records))


def _variable(client_id: str, auth: Any) -> str:
    if auth is not None and not isinstance(auth, dict):
        raise Dropped(client_id, ERROR, ".auth: not a mapping; client skipped")
    kind, ref = (auth or {}).get("type"), (auth or {}).get("ref")
    if kind not in {None, "token"}:
        text = f'.auth.type: "{str(kind)[:40]}" is not supported, only "token"; client skipped'
        raise Dropped(client_id, ERROR, text)
    if ref is None or ref == "":
        raise Dropped(client_id, ERROR, ".auth.ref: missing, write env:NAME; client skipped")
    found = _REF.fullmatch(ref.strip()) if isinstance(ref, str) else None
    if found is None:
        text = ".auth.ref: must have the form env:NAME; client skipped"
        raise Dropped(client_id, ERROR, text)
    return found[1]


def _token(client_id: str, variable: str, environ: Mapping[str, str]) -> str:
    token = environ.get(variable, "").strip()
    if not token:
        text = f": environment variable {variable} is unset or blank; client dropped"
        raise Dropped(client_id, WARNING, text, f"env:{variable}")
    if len(token) < TOKEN_LEAST:
        text = f": the token in {variable} has fewer than {TOKEN_LEAST} characters; client dropped"
        raise Dropped(client_id, WARNING, text, f"env:{variable}")
    return token


def embedded_instance(token: str, instance: str) -> str:
    """The instance id in a token; "" if it has no prefix.

    An instance id may contain `_`, so this instance's own prefix is tried first.
    """
    if instance and token.startswith(f"{PREFIX}{instance}_"):
        return instance
    if not token.startswith(PREFIX):
        return ""
    named, found, _ = token.removeprefix(PREFIX).partition("_")
    return named if found else ""


def _binding(variable: str, named: str, instance: str) -> str:
    """The warning about a token that is not bound to this instance, else ""."""
    if named and named == instance:
        return ""
    if not named:
        return f"{variable} has no {PREFIX}<instanceId>_ prefix, it is not bound to this instance"
    if len(named) > SHOWN_MOST:
        named = "…"  # it may be the secret itself
    if not instance:
        unset = "managementApi.instanceId is unset, binding not checked"
        return f'{variable} names instance "{named}" but {unset}'
    return f'{variable} names instance "{named}" but this is "{instance}"; it will be refused'
