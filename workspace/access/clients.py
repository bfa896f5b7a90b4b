"""The managementApi block: the clients it configures, and what the start logs about it.

Problems in it never stop the start: a bad client is skipped, a bad block disables the management
API. It is read once, when the process starts. See
docs/design/workspace.md#what-a-mistake-in-the-configuration-does.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from config.mcp import turn_tools
from config.mcp.operations import Registry
from config.web.hosts import is_allowed, origin_host, origin_of
from workspace.access import entries, proxies, scopes
from workspace.access.entries import Dropped, ManagementClient
from workspace.access.policy import Bounds
from workspace.access.principals import Client
from workspace.access.proxies import Trust
from workspace.access.records import (
    ERROR,
    WARNING,
    Record,
    entry_text,
    secret_key,
    split,
    unknown_keys,
)

BLOCK = "managementApi"
KEYS = (
    "instanceId", "publicUrl", "authorizationServers", "trustedProxies", "allowedOrigins", "clients"
)  # fmt: skip

_URL = re.compile(r"[!#-;=?-\[\]_a-z~]+")  # printable, and safe inside a quoted header value

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Management:
    """The management API of this process, as configured at its start."""

    public_url: str = ""
    instance_id: str = ""
    authorization_servers: tuple[str, ...] = ()
    trust: Trust = field(default_factory=Trust)
    origins: frozenset[str] = frozenset()  # whose pages may call, besides this machine's
    clients: tuple[ManagementClient, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    records: tuple[Record, ...] = ()

    @property
    def enabled(self) -> bool:
        return bool(self.clients)

    def welcomes(self, origins: Sequence[str]) -> bool:
        """Whether a page with these `Origin` headers may call; programs send no Origin."""
        known = is_allowed(origin_host(origins[0])) or origin_of(origins[0]) in self.origins
        return len(origins) == 1 and known

    @property
    def discovery(self) -> bool:
        """Whether the protected-resource document is published."""
        return self.enabled and bool(self.authorization_servers)


@functools.cache
def management() -> Management:
    """The management API as configured when this process started."""
    return load(settings.SVC)


def bounds(clients: Iterable[str]) -> Bounds:
    """The limits that these clients, as configured now, set to what they cause.

    A client that was removed or dropped permits nothing."""
    known = {client.client_id: client.scope for client in management().clients}
    return Bounds({name: known.get(name, scopes.NOTHING) for name in clients if name})


def barred_names(clients: Iterable[str], project: str) -> str:
    """The clients that may not act in the project (any more), joined by commas."""
    scopes = bounds(clients).scopes
    return ", ".join(name for name, scope in scopes.items() if not scope.reaches(project))


def proxied_here() -> bool:
    """Whether the operator has configured a proxy on this machine (by default there is none)."""
    trust = management().trust
    return not trust.default and trust.believes("127.0.0.1")


def log_boot(found: Management, registry: Registry) -> None:
    """Log the start: each problem, then whether /mcp is enabled."""
    for record in (*found.records, *code_execution(found.clients, registry)):
        log.log(record.level, record.text)
    ids = [client.client_id for client in found.clients]
    if not ids:
        log.info("management API: /mcp disabled (no clients configured), it answers 404")
        return
    log.info(
        "management API: /mcp enabled, clients: %s; instanceId: %s",
        ", ".join(ids),
        found.instance_id or "none",
        extra={"clients": ids, "instanceId": found.instance_id or None},
    )


def code_execution(clients: Iterable[ManagementClient], registry: Registry) -> list[Record]:
    """A warning for each client whose scope lets it run code on this machine."""
    records = []
    for client in clients:
        granted = registry.visible_to(Client(client.client_id, client.scope))
        acting = [one for one in turn_tools.acting().values() if client.scope.acts(one)]
        if names := [one.name for one in (*granted, *acting) if one.code_execution]:
            text = f"scope grants code execution ({', '.join(names)})"
            text = f"{text}; treat its token like a shell on this host"
            records.append(Record(WARNING, f"{entries.place(client.client_id)}: {text}"))
    return records


def load(options: Any) -> Management:
    """Read the block of these options and the environment variables it names."""
    block, environ = options.management_api, options.environ
    records: list[Record] = []
    if not isinstance(block, dict):
        records.append(Record(ERROR, f"{BLOCK}: not a mapping; management API disabled"))
        block = {}
    records += unknown_keys(BLOCK, block, KEYS)
    variable = environ.get("SVC_MANAGEMENT_TRUSTED_PROXIES")
    trust = _trust(variable or block.get("trustedProxies"), records)
    issuers = _issuers(block.get("authorizationServers"), records)
    instance = _text(block.get("instanceId"))
    clients: list[ManagementClient] = []
    dropped: list[Dropped] = []
    if (problem := _problem(block)) is not None:
        records.append(Record(ERROR, f"{problem}; management API disabled"))
    else:
        found = dict(block.get("clients") or {})
        clients, dropped = _clients(found, instance, environ, records)
    url = _text(block.get("publicUrl"))
    url = "" if _bad_url(url) else url.rstrip("/")
    origins = _origins(block.get("allowedOrigins"), records)
    return Management(
        public_url=url,
        instance_id=instance,
        authorization_servers=issuers,
        trust=trust,
        origins=frozenset(filter(None, [*origins, origin_of("/".join(url.split("/")[:3]))])),
        clients=tuple(clients),
        dropped=tuple(dropped),
        records=tuple(records),
    )


def _problem(block: Mapping[Any, Any]) -> str | None:
    """Why the whole block is refused, or None."""
    clients, instance = block.get("clients"), block.get("instanceId")
    key = secret_key({key: value for key, value in block.items() if key != "clients"})
    if key is not None:
        return f"{BLOCK}.{key}: token material in the config file is refused"
    if clients is not None and not isinstance(clients, dict):
        return f"{BLOCK}.clients: not a mapping"
    if isinstance(instance, bool) or not isinstance(instance, str | int | None):
        return f"{BLOCK}.instanceId: must be text"
    if clients and (reason := _bad_url(block.get("publicUrl"))):
        return f"{BLOCK}.publicUrl: {reason}"
    return None


def _clients(
    found: Mapping[Any, Any], instance: str, environ: Mapping[str, str], records: list[Record]
) -> tuple[list[ManagementClient], list[Dropped]]:
    clients: dict[bytes, ManagementClient] = {}
    dropped = []
    for key, entry in found.items():
        try:
            client = entries.read(str(key), entry, instance, environ)
            if (other := clients.get(client.digest)) is not None:
                text = f": same token as client {other.client_id}; client dropped"
                raise Dropped(client.client_id, WARNING, text, client.ref)
        except Dropped as reason:
            dropped.append(reason)
            records.append(reason.record)
            continue
        clients[client.digest] = client
        records += client.records
    return list(clients.values()), dropped


def _trust(given: Any, records: list[Record]) -> Trust:
    if given is None:
        return proxies.read(proxies.DEFAULT, default=True)[0]
    trust, bad = proxies.read(entry_text(entry) for entry in split(given))
    for entry in bad:
        text = f'"{entry}" is neither an IP address, a CIDR nor a known word; entry dropped'
        records.append(Record(ERROR, f"{BLOCK}.trustedProxies: {text}"))
    if trust.everyone:
        text = "all peers are believed, any client can claim https; name your proxy instead"
        records.append(Record(WARNING, f"{BLOCK}.trustedProxies: {text}"))
    return trust


def _issuers(given: Any, records: list[Record]) -> tuple[str, ...]:
    entries = [] if given is None else [entry_text(entry) for entry in split(given)]
    urls = [url for url in entries if url]
    for url in urls:
        if _bad_url(url) is not None:
            text = f'"{url}" is not an https URL; entry dropped'
            records.append(Record(ERROR, f"{BLOCK}.authorizationServers: {text}"))
    return tuple(url for url in urls if _bad_url(url) is None)


def _origins(given: Any, records: list[Record]) -> list[str]:
    found = []
    for entry in [] if given is None else filter(None, map(entry_text, split(given))):
        if origin := origin_of(entry.rstrip("/")):
            found.append(origin)
        else:
            text = f'"{entry}" is not an origin such as https://app.example.com; entry dropped'
            records.append(Record(ERROR, f"{BLOCK}.allowedOrigins: {text}"))
    return found


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _bad_url(value: Any) -> str | None:
    """Why the value cannot be `publicUrl`, or None."""
    url = _text(value)
    if not url:
        return "missing although clients are configured, e.g. https://svc.example.com"
    refused = f'"{url[:200]}" is not an absolute http(s) URL'
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return refused
    if not host or parts.scheme not in {"http", "https"} or not _URL.fullmatch(url):
        return refused
    if "?" in url or "#" in url or "@" in parts.netloc:
        return "must not carry a query string, a fragment or user information"
    if parts.scheme == "http" and not is_allowed(f"[{host}]" if ":" in host else host):
        return f'"{url[:200]}" must be https unless its host is loopback'
    return None
