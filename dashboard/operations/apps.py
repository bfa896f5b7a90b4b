"""Apps: listed, read, declared, changed, removed (7.2 to 7.5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from config.kernel.errors import Conflict, Invalid, NotFound
from dashboard.daemon import Daemon, current
from dashboard.files import errors, places, store, tags
from dashboard.files.writing import merged
from dashboard.operations.caller import (
    Local,
    Record,
    Written,
    app_record,
    is_app,
    written_app,
)
from dashboard.operations.waiting import waiting
from dashboard.registry import claim

STATES = ("unknown", "starting", "up", "degraded", "down", "stopped", "stopping")
SOURCES = ("declared", "discovered")
TRIES = 5


def list_apps(
    caller: Local,
    *,
    state: str | None = None,
    tag: str | None = None,
    source: str | None = None,
    query: str | None = None,
) -> Record:
    """Every app that fits all that is given; `query` is looked for in what people see of it."""
    for name, value, words in (("state", state, STATES), ("source", source, SOURCES)):
        if value is not None and value not in words:
            allowed = f"{', '.join(words[:-1])} or {words[-1]}"
            raise Invalid(f'Query "{name}" must be {allowed}.', code="bad_query")
    daemon = current()
    found = daemon.ask(partial(daemon.apps, config="masked"))
    tests: list[Callable[[Record], bool]] = [
        lambda app: state is None or app["state"] == state,
        lambda app: source is None or app["source"] == source,
        lambda app: tag is None or tag in app["tags"],
        lambda app: query is None or _mentions(app, query),
    ]
    shown = [app for app in found if all(fits(app) for fits in tests)]
    return {"apps": shown, "fileErrors": daemon.ask(daemon.file_errors)}


def get_app(caller: Local, *, slug: str) -> Record:
    """One app with its configuration as its file has it."""
    places.place("apps", slug)
    return app_record(current(), slug, config="whole")


def put_app(
    caller: Local,
    *,
    slug: str,
    config: Any,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> Written:
    """Make the file hold exactly this mapping; of a discovered app it becomes the file (7.3)."""
    daemon = current()
    _entry, created = store.put(
        "apps", slug, config, if_match=if_match, if_none_match=if_none_match
    )
    return written_app(daemon, slug, created=created)


def patch_app(caller: Local, *, slug: str, patch: Any, if_match: str | None = None) -> Written:
    """Merge into the file; of a discovered app one is made of what is known and the patch (7.4)."""
    daemon = current()
    for _ in range(TRIES):
        try:
            store.patch("apps", slug, patch, if_match=if_match)
        except NotFound:
            if _declare(daemon, slug, patch):
                return written_app(daemon, slug, created=True)
        else:
            return written_app(daemon, slug, created=False)
    raise errors.changed(places.place("apps", slug).file, None)


def remove_app(
    caller: Local, *, slug: str, if_match: str | None = None, stop: bool = False
) -> Record:
    """Move the file to backups/removed (7.5). `stop`: end its service first."""
    daemon = current()
    condition, entry = tags.condition(if_match), store.get("apps", slug)
    if condition is not None and not condition.holds(entry.etag if entry else None):
        raise errors.changed(places.place("apps", slug).file, entry.etag if entry else None)
    if entry is None:
        raise _no_file(daemon, slug)
    if _runs(daemon, slug):
        if not stop:
            raise running(slug)
        with waiting():
            outcome = daemon.wait(daemon.services.act, slug, "stop")
        if not outcome.ok:
            raise running(slug)
    removed = store.remove("apps", slug, if_match=if_match)
    daemon.sync()
    return {"ok": True, "removed": removed}


def known_app(caller: Local, *, slug: str) -> None:
    """NotFound for a slug that is no app: said before anything is said about a body (11)."""
    places.place("apps", slug)
    if not is_app(current(), slug):
        raise errors.not_found("apps", slug)


def running(slug: str) -> Conflict:
    return Conflict(
        f'Service "{slug}" is running. Stop it first, or send ?stop=true.', code="running"
    )


def _declare(daemon: Daemon, slug: str, patch: Any) -> bool:
    """Make the file of a discovered app. False when somebody else made one meanwhile."""
    found = daemon.ask(lambda: daemon.census.apps.get(slug))
    if found is None or found.sighting is None or found.source != "discovered":
        raise errors.not_found("apps", slug)
    try:
        store.put(
            "apps", slug, merged(claim.mapping(found.sighting, slug), patch), if_none_match=True
        )
    except Conflict as error:
        if error.code == "exists":
            return False
        raise
    return True


def _no_file(daemon: Daemon, slug: str) -> NotFound:
    if is_app(daemon, slug):
        return NotFound(f'App "{slug}" is discovered and has no file; claim or ignore it.')
    return errors.not_found("apps", slug)


def _runs(daemon: Daemon, slug: str) -> bool:
    service = daemon.ask(daemon.services.wire, slug)
    return service is not None and service["status"] in {"running", "starting", "stopping"}


def _mentions(app: Record, query: str) -> bool:
    words = (app["slug"], app["name"], app["url"] or "", *app["tags"])
    return query.casefold() in " ".join(words).casefold()
