"""The records of the API as they are sent: every documented key is present, secrets are masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict

from config.logs import timestamp
from dashboard.files import layout, masks, schema
from dashboard.files.convert import Expected
from dashboard.files.entries import Entry
from dashboard.files.records import FileError, file_error
from dashboard.health.clock import Moment
from dashboard.health.record import Port, Record, State, stale
from dashboard.health.result import Last, Result
from dashboard.history.summary import Summary, Uptime
from dashboard.history.track import Recent
from dashboard.listeners.records import Identity, Listens, identity, listens
from dashboard.registry import app as apps
from dashboard.registry import words
from dashboard.registry.app import Source
from dashboard.rendering.thumbs import Kind
from dashboard.services.state import Service

_RUNNING = frozenset({State.STARTING, State.UP, State.DEGRADED})
_WRONG = frozenset({State.DOWN, State.DEGRADED})
StateName = Literal["unknown", "starting", "up", "degraded", "down", "stopped", "stopping"]
WithConfig = Literal["masked", "whole"] | None


class LastKnown(TypedDict):
    state: StateName
    at: str | None


class Health(TypedDict):
    """The state of an app and what is known about it."""

    state: StateName
    reason: str | None
    message: str | None
    since: str | None
    lastKnown: LastKnown | None
    stale: bool
    failing: int
    flapping: bool
    unexpected: bool


class Urls(TypedDict):
    local: str | None
    fronted: str | None


class NamedLink(TypedDict):
    name: str
    url: str | None


class Drawn(TypedDict):
    """How an app's file wants it to be shown, for lists without `config`."""

    description: str | None
    icon: str | None
    color: str | None
    group: str | None
    order: float | None
    links: list[NamedLink]
    docs: str | None


class App(Health, Drawn):
    """An app. `config` is the mapping of its file; null in State, and if it never was valid."""

    slug: str
    name: str
    source: Source
    config: dict[str, Any] | None
    url: str | None
    urls: Urls
    port: int | None
    expected: Expected
    tags: list[str]
    last: Last | None
    recent: list[Recent]
    bar24: str
    uptime: Uptime
    identity: Identity | None
    service: Service | None
    thumbKind: Kind
    thumbEtag: str
    fileErrors: list[FileError]
    observedId: str | None
    etag: str | None
    listens: Listens | None


class Link(TypedDict):
    name: str
    url: str
    description: str | None
    icon: str | None
    tags: list[str]
    hotkey: str | None


class Group(TypedDict):
    """A group. `config` is the mapping of its file; null in lists."""

    group: str
    name: str
    config: dict[str, Any] | None
    description: str | None
    icon: str | None
    color: str | None
    order: float | None
    collapsed: bool
    links: list[Link]
    etag: str | None
    fileErrors: list[FileError]


class Config(TypedDict):
    """config.yaml with its defaults, and as it is written."""

    config: dict[str, Any]
    source: dict[str, Any]
    defaults: dict[str, Any]
    restartNeeded: list[str]
    path: str
    etag: str | None


def app(
    app: apps.App,
    *,
    record: Record,
    result: Result | None,
    summary: Summary,
    service: Service | None,
    picture: tuple[Kind, str],
    now: Moment,
    config: schema.Config,
    with_config: WithConfig = None,
) -> App:
    """The record App. `picture`: kind and tag of its thumbnail; `service`: from the Supervisor.

    `with_config`: "whole" is only for the owner of the file; None is for lists without `config`.
    The record also has, besides the documented keys, what the page draws of the file.
    """
    file = app.file
    return {
        "slug": app.slug,
        "name": masks.text(app.name),
        "source": app.source,
        "config": _config_of(app, with_config),
        **_state(app, record, now),
        "url": _mask_url(app.url),
        "urls": {"local": _mask_url(app.local_url), "fronted": _fronted_url(app, config)},
        "port": app.port,
        "expected": file.expected if file else "sometimes",
        "tags": list(file.tags) if file else [],
        "last": result.wire() if result else None,
        "recent": summary.recent,
        "bar24": summary.bar24,
        "uptime": summary.uptime,
        "identity": identity(app.sighting.identity) if app.sighting else None,
        "service": service,
        "thumbKind": picture[0],
        "thumbEtag": picture[1],
        "fileErrors": [*map(file_error, app.entry.file_errors)] if app.entry else [],
        "observedId": app.sighting.id if app.sighting else None,
        "etag": app.entry.etag if app.entry else None,
        **_presentation(app),
        "listens": listens(*app.listeners) if app.listeners else None,
    }


def group(entry: Entry, *, with_config: bool = False) -> Group:
    """The record Group; an empty one for a file that never was valid.

    `with_config`: include the mapping of its file, secrets masked. A change of the links has to
    begin with it, so that keys unknown here are kept.
    """
    found: schema.Group = entry.parsed or schema.Group(entry.name)
    return {
        "group": entry.name,
        "name": found.name,
        "config": masks.mapping(entry.value) if with_config and entry.value else None,
        "description": found.description,
        "icon": _mask_url(found.icon),
        "color": found.color,
        "order": found.order,
        "collapsed": found.collapsed,
        "links": [
            {
                "name": link.name,
                "url": masks.text(link.url),
                "description": link.description,
                "icon": _mask_url(link.icon),
                "tags": list(link.tags),
                "hotkey": link.hotkey,
            }
            for link in found.links
        ],
        "etag": entry.etag,
        "fileErrors": [*map(file_error, entry.file_errors)],
    }


def config(entry: Entry, restart_needed: Sequence[str] = (), *, host: str | None = None) -> Config:
    """The record Config: the settings in effect, those written, and the defaults.

    `host`: the fronted host in effect, which may not come from the file.
    """
    source = masks.mapping(entry.value or {})
    resolved = schema.with_defaults(source)
    return {
        "config": {**resolved, "fronted": {**resolved["fronted"], "host": host}},
        "source": source,
        "defaults": schema.DEFAULTS,
        "restartNeeded": list(restart_needed),
        "path": str(layout.home() / entry.file),
        "etag": entry.etag,
    }


def counts(states: Iterable[tuple[apps.App, State]]) -> dict[str, int]:
    """How many apps are in each state; paused apps are not counted."""
    found = Counter(state for app, state in states if not (app.file and app.file.paused))
    return {state.value: found[state] for state in State}


def name_and_address(app: apps.App) -> tuple[str, str, str | None]:
    """Slug, name and address as they are shown."""
    return app.slug, masks.text(app.name), _mask_url(app.url)


def cwd(app: apps.App) -> str:
    """Where it runs, else where it is started; "" if neither is known, or in a container."""
    identity = app.sighting.identity if app.sighting else None
    if identity is not None:
        return "" if identity.container else identity.cwd
    return (app.file.service.cwd or "") if app.file and app.file.service else ""


def needs_attention(app: apps.App, record: Record) -> bool:
    """Whether it is in the first group of the page; an app that is not declared never is."""
    return app.declared and (record.state in _WRONG or _is_unexpected(app, record))


def _is_unexpected(app: apps.App, record: Record) -> bool:
    running = record.state in _RUNNING or (app.evidence is Port.OWN and not record.silenced)
    return bool(app.file and app.file.expected == "never" and running)


def _state(app: apps.App, record: Record, now: Moment) -> Health:
    known = record.last_known
    return {
        "state": record.state.value,
        "reason": record.reason.value,
        "message": words.message(app, record),
        "since": _time(record.since),
        "lastKnown": {"state": known.state.value, "at": _time(known.at)} if known else None,
        "stale": stale(record, app.policy, now.mono),
        "failing": record.failing,
        "flapping": record.flapping,
        "unexpected": _is_unexpected(app, record),
    }


def _presentation(app: apps.App) -> Drawn:
    file = app.file
    return {
        "description": file.description if file else None,
        "icon": _mask_url(file.icon) if file else None,
        "color": file.color if file else None,
        "group": file.group if file else None,
        "order": file.order if file else None,
        "links": [{"name": one.name, "url": _mask_url(one.url)} for one in file.links]
        if file
        else [],
        "docs": _mask_url(file.docs) if file else None,
    }


def _config_of(app: apps.App, wanted: WithConfig) -> dict[str, Any] | None:
    value = app.entry.value if app.entry and wanted else None
    if value is None:
        return None
    return dict(masks.mapping(value) if wanted == "masked" else value)


def _fronted_url(app: apps.App, config: schema.Config) -> str | None:
    """Its address behind the user's own proxy."""
    fronted = config.fronted
    return f"{fronted.scheme}://{app.slug}.{fronted.domain}/" if fronted.domain else None


def _mask_url(url: str | None) -> str | None:
    return masks.text(url) if url else None


def _time(unix: float) -> str:
    return timestamp(datetime.fromtimestamp(unix, UTC))
