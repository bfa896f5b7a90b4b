"""This node and the others on its PostgreSQL and Redis; each has its own dashboard."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypedDict

from django.conf import settings

from config import __version__
from config.logs import timestamp
from config.process import nodes
from config.web.hosts import is_allowed
from dashboard.daemon import Views, current, ownport, read


class Myself(TypedDict):
    id: str
    name: str
    version: str


class Node(TypedDict):
    """Another node. `url` and `dashboard` are null if it does not announce an address."""

    id: str
    name: str
    url: str | None
    dashboard: str | None
    version: str
    alive: bool
    goneSince: str | None
    apps: dict[str, int]


class NodeList(TypedDict):
    node: Myself
    heard: bool
    nodes: list[Node]


def list_nodes() -> NodeList:
    """`heard` is False while the Redis does not answer; `nodes` are the other nodes, by name."""
    return {
        "node": {"id": nodes.me(), "name": nodes.name(), "version": __version__},
        "heard": nodes.can_hear(),
        "nodes": [_wire(one) for one in nodes.others()],
    }


def _wire(one: nodes.Node) -> Node:
    """`goneSince`: when it was last heard from, by this machine's clock; null while alive."""
    seen = timestamp(datetime.fromtimestamp(one.seen, UTC))
    return {
        "id": one.id,
        "name": one.name,
        "url": one.url or None,
        "dashboard": one.dashboard or (f"{one.url.rstrip('/')}/dashboard/" if one.url else None),
        "version": one.version,
        "alive": one.alive,
        "goneSince": None if one.alive else seen,
        "apps": dict(one.apps),
    }


def apps() -> dict[str, int]:
    """How many apps are in each state, for the other nodes. Unavailable while the daemon loads."""
    return read(Views.counts)


def address() -> str:
    """This dashboard's address for people on other machines: its fronted host; "" if none."""
    fronted = current().state.config.fronted
    hosts = ownport.names(settings.SVC, fronted.host)
    names = [host for host in hosts if not is_allowed(host)]  # apps.localhost is their machine
    return f"{fronted.scheme}://{names[0]}/" if names else ""
