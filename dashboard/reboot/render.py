"""The notice as clients receive it."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

from config.logs import timestamp
from dashboard.listeners.printable import masked_argv, plain
from dashboard.reboot.notice import Item
from dashboard.services.supervise import Supervisor

GONE = "cwd is gone"
OFF = "services are off (services.enabled in config.yaml)"


Status = Literal["lost", "starting", "restarted", "failed"]
STATUSES: tuple[Status, ...] = get_args(Status)


class LostItem(TypedDict):
    id: str
    slug: str | None
    name: str
    port: int
    cwd: str | None
    command: str | None
    identity: dict[str, Any] | None
    lastSeenAt: str
    wasManaged: bool
    canRestart: bool
    canService: bool
    blocked: str | None
    status: Status
    note: str | None


class Notice(TypedDict):
    bootedAt: str | None
    lastSeenAt: str | None
    items: list[LostItem]


class LostNotice(TypedDict):
    """`lost` is null if nothing is lost."""

    lost: Notice | None


def gone_ids(items: Collection[Item]) -> frozenset[str]:
    """The ids of the items whose directory no longer exists. Blocks."""
    return frozenset(one.id for one in items if not Path(one.entry.cwd).is_dir())


def blocked_reason(item: Item, gone: Collection[str], services: Supervisor) -> str | None:
    """Why it cannot be started from here; the service in its file is not checked here."""
    if not services.world.limits().enabled:
        return OFF
    if item.entry.slug is not None and services.find_definition(item.entry.slug) is not None:
        return None
    return item.entry.withheld or (GONE if item.id in gone else None)


def notice(items: Collection[Item], gone: Collection[str], services: Supervisor) -> Notice | None:
    """The notice, newest item first; None if nothing is lost."""
    if not items:
        return None
    return {
        "bootedAt": timestamp(max(one.booted for one in items)),
        "lastSeenAt": timestamp(max(one.entry.last_seen for one in items)),
        "items": [_item(one, blocked_reason(one, gone, services), services) for one in items],
    }


def _item(item: Item, why: str | None, services: Supervisor) -> LostItem:
    entry = item.entry
    startable = why is None and item.status != "starting"
    has_block = entry.slug is not None and services.find_definition(entry.slug) is not None
    return {
        "id": entry.id,
        "slug": entry.slug,
        "name": entry.name,
        "port": entry.port,
        "cwd": plain(entry.cwd) or None,
        "command": shlex.join(masked_argv(entry.argv)) or None,
        "identity": entry.identity,
        "lastSeenAt": timestamp(entry.last_seen),
        "wasManaged": entry.service,
        "canRestart": startable,
        "canService": startable and not has_block,
        "blocked": why,
        "status": item.status,
        "note": item.note,
    }
