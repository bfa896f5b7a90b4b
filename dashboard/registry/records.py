"""The records of section 7 as they are sent: every documented key always there, secrets masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

from config.kernel.logs import timestamp
from dashboard.files import masks, places, schema
from dashboard.files.entries import Entry
from dashboard.files.schema import Config
from dashboard.health.clock import Moment
from dashboard.health.record import Port, Record, State, stale
from dashboard.health.result import Result
from dashboard.history.summary import Summary
from dashboard.listeners import names
from dashboard.listeners.identity import Identity
from dashboard.listeners.observed import Sighting
from dashboard.registry import words
from dashboard.registry.app import App

_RUNNING = frozenset({State.STARTING, State.UP, State.DEGRADED})
_WRONG = frozenset({State.DOWN, State.DEGRADED})
WithConfig = Literal["masked", "whole"] | None


def app(
    app: App,
    *,
    record: Record,
    result: Result | None,
    summary: Summary,
    service: dict[str, Any] | None,
    picture: tuple[str, str],
    now: Moment,
    config: Config,
    with_config: WithConfig = None,
) -> dict[str, Any]:
    """The record App. `picture`: kind and tag of its thumbnail; `service`: of its Supervisor.

    `with_config`: "whole" is for the owner of the file alone, None is for lists without it. Beside
    the documented keys: what the page draws of the file.
    """
    file = app.file
    return {
        "slug": app.slug,
        "name": masks.text(app.name),
        "source": app.source,
        "config": _config_of(app, with_config),
        **_state(app, record, now),
        "url": _shown(app.url),
        "urls": {"local": _shown(app.local_url), "fronted": _fronted(app, config)},
        "port": app.port,
        "expected": file.expected if file else "sometimes",
        "tags": list(file.tags) if file else [],
        "last": result.wire() if result else None,
        "recent": summary.recent,
        "bar24": summary.bar24,
        "uptime": summary.uptime,
        "identity": _identity(app.sighting.identity) if app.sighting else None,
        "service": service,
        "thumbKind": picture[0],
        "thumbEtag": picture[1],
        "fileErrors": [error.wire() for error in app.entry.file_errors] if app.entry else [],
        "observedId": app.sighting.id if app.sighting else None,
        "etag": app.entry.etag if app.entry else None,
        **_drawn(app),
        "listens": _reach(app.sighting) if app.sighting else None,
    }


def observed(one: Sighting, slug: str, hidden: bool) -> dict[str, Any]:
    """The record Observed. `hidden`: another user's, or the system's, which a page shows when it
    is asked to (scan.hideSystem)."""
    identity, port = one.identity, one.listener.port
    return {
        "id": one.id,
        "port": port,
        "protocol": one.answer.protocol if one.answer else "unknown",
        "identity": _identity(identity),
        "firstSeen": timestamp(one.first_seen),
        "lastSeen": timestamp(one.last_seen),
        "suggested": {"slug": slug, "name": names.name(identity, port), "expected": "sometimes"},
        "kind": one.kind,
        "hidden": hidden,
        **_reach(one),
    }


def group(entry: Entry, *, with_config: bool = False) -> dict[str, Any]:
    """The record Group; of a file that never was valid an empty one.

    `with_config`: with the mapping of its file, secrets masked, which is what a change of its
    links has to begin with: what is unknown here is kept there.
    """
    found: schema.Group = entry.parsed or schema.Group(entry.name)
    return {
        "group": entry.name,
        "name": found.name,
        "config": masks.mapping(entry.value) if with_config and entry.value else None,
        "description": found.description,
        "icon": _shown(found.icon),
        "color": found.color,
        "order": found.order,
        "collapsed": found.collapsed,
        "links": [
            {
                "name": link.name,
                "url": _shown(link.url),
                "description": link.description,
                "icon": _shown(link.icon),
                "tags": list(link.tags),
                "hotkey": link.hotkey,
            }
            for link in found.links
        ],
        "etag": entry.etag,
        "fileErrors": [error.wire() for error in entry.file_errors],
    }


def config(
    entry: Entry, restart_needed: Sequence[str] = (), *, host: str | None = None
) -> dict[str, Any]:
    """The record Config: what counts, what is written, and what would count without the file.

    `host`: the fronted host that is answered, which the file may not be the one to name.
    """
    source = masks.mapping(entry.value or {})
    resolved = schema.resolved(source)
    return {
        "config": {**resolved, "fronted": {**resolved["fronted"], "host": host}},
        "source": source,
        "defaults": schema.DEFAULTS,
        "restartNeeded": list(restart_needed),
        "path": str(places.home() / entry.file),
        "etag": entry.etag,
    }


def counts(states: Iterable[tuple[App, State]]) -> dict[str, int]:
    """How many apps are in each state; paused ones are in none (3.2)."""
    found = Counter(state for app, state in states if not (app.file and app.file.paused))
    return {state.value: found[state] for state in State}


def named(app: App) -> tuple[str, str, str | None]:
    """Slug, name and address as they are shown."""
    return app.slug, masks.text(app.name), _shown(app.url)


def needs_attention(app: App, record: Record) -> bool:
    """Whether it stands in the first group of the page: what nobody claimed is no alarm."""
    return app.file is not None and (record.state in _WRONG or _unexpected(app, record))


def _unexpected(app: App, record: Record) -> bool:
    running = record.state in _RUNNING or (app.evidence is Port.OWN and not record.silenced)
    return bool(app.file and app.file.expected == "never" and running)


def _state(app: App, record: Record, now: Moment) -> Mapping[str, Any]:
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
        "unexpected": _unexpected(app, record),
    }


def _drawn(app: App) -> Mapping[str, Any]:
    """Presentation of 3.2, for lists that do without `config`."""
    file = app.file
    return {
        "description": file.description if file else None,
        "icon": _shown(file.icon) if file else None,
        "color": file.color if file else None,
        "group": file.group if file else None,
        "order": file.order if file else None,
        "links": [{"name": one.name, "url": _shown(one.url)} for one in file.links] if file else [],
        "docs": _shown(file.docs) if file else None,
    }


def _reach(one: Sighting) -> dict[str, Any]:
    """Where a listener can be reached from."""
    return {
        "addresses": [{"ip": ip, "port": port} for ip, port in one.listener.addresses],
        "scope": one.listener.scope,
        "lanExposed": one.listener.scope != "loopback",
    }


def _config_of(app: App, wanted: WithConfig) -> dict[str, Any] | None:
    value = app.entry.value if app.entry and wanted else None
    if value is None:
        return None
    return dict(masks.mapping(value) if wanted == "masked" else value)


def _fronted(app: App, config: Config) -> str | None:
    """Its address behind the user's own proxy (3.1)."""
    fronted = config.fronted
    return f"{fronted.scheme}://{app.slug}.{fronted.domain}/" if fronted.domain else None


@lru_cache(2048)
def _identity(identity: Identity) -> dict[str, Any]:
    """The same for as long as it says the same; nobody changes it."""
    return identity.wire()


def _shown(url: str | None) -> str | None:
    return masks.text(url) if url else None


def _time(unix: float) -> str:
    return timestamp(datetime.fromtimestamp(unix, UTC))
