"""Apps: listed, read, declared, changed, removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, get_args

from config.errors import Conflict, Invalid, NotFound
from dashboard.daemon import Daemon, current
from dashboard.files import errors, layout, store, tags
from dashboard.files.records import FileError
from dashboard.files.writing import merge
from dashboard.operations.common import (
    Removed,
    Written,
    app_record,
    is_app,
    waiting,
    written_app,
)
from dashboard.registry import claim
from dashboard.registry.app import Source
from dashboard.registry.records import App, StateName

STATES: tuple[StateName, ...] = get_args(StateName)
SOURCES: tuple[Source, ...] = get_args(Source)
TRIES = 5


class AppList(TypedDict):
    apps: list[App]
    fileErrors: list[FileError]


def list_apps(
    *,
    state: str | None = None,
    tag: str | None = None,
    source: str | None = None,
    query: str | None = None,
) -> AppList:
    """Every app that matches all given filters; `query` is searched in what people see of it."""
    for name, value, words in (("state", state, STATES), ("source", source, SOURCES)):
        if value is not None and value not in words:
            allowed = f"{', '.join(words[:-1])} or {words[-1]}"
            raise Invalid(f'Query "{name}" must be {allowed}.', code="bad_query")
    daemon = current()
    found = daemon.ask(daemon.views.apps, "masked")
    tests: list[Callable[[App], bool]] = [
        lambda app: state is None or app["state"] == state,
        lambda app: source is None or app["source"] == source,
        lambda app: tag is None or tag in app["tags"],
        lambda app: query is None or _mentions(app, query),
    ]
    shown = [app for app in found if all(fits(app) for fits in tests)]
    return {"apps": shown, "fileErrors": daemon.ask(daemon.views.file_errors)}


def get_app(*, slug: str) -> App:
    """One app with its configuration as its file has it."""
    layout.place("apps", slug)
    return app_record(current(), slug, config="whole")


def put_app(
    *,
    slug: str,
    config: Any,
    if_match: str | None = None,
    if_none_match: bool = False,
) -> Written:
    """Make the app's file hold exactly this mapping; it becomes the file of a discovered app."""
    daemon = current()
    _entry, created = store.put(
        "apps", slug, config, if_match=if_match, if_none_match=if_none_match
    )
    return written_app(daemon, slug, created=created)


def patch_app(*, slug: str, patch: Any, if_match: str | None = None) -> Written:
    """Merge the patch into the app's file. A discovered app gets a file made of what is known
    about it and the patch."""
    daemon = current()
    for _ in range(TRIES):
        try:
            store.patch("apps", slug, patch, if_match=if_match)
        except NotFound:
            if _declare(daemon, slug, patch):
                return written_app(daemon, slug, created=True)
        else:
            return written_app(daemon, slug, created=False)
    raise errors.changed(layout.place("apps", slug).file, None)


def remove_app(*, slug: str, if_match: str | None = None, stop: bool = False) -> Removed:
    """Move the app's file to backups/removed. `stop`: stop its service first."""
    daemon = current()
    condition, entry = tags.condition(if_match), store.get("apps", slug)
    if condition is not None and not condition.holds(entry.etag if entry else None):
        raise errors.changed(layout.place("apps", slug).file, entry.etag if entry else None)
    if entry is None:
        raise _no_file(daemon, slug)
    if _runs(daemon, slug):
        if not stop:
            raise running(slug)
        with waiting():
            outcome = daemon.wait(daemon.state.services.act, slug, "stop")
        if not outcome.ok:
            raise running(slug)
    removed = store.remove("apps", slug, if_match=if_match)
    daemon.sync()
    return {"ok": True, "removed": removed}


def known_app(*, slug: str) -> None:
    """NotFound if the slug is not that of an app; called before a body is validated."""
    layout.place("apps", slug)
    if not is_app(current(), slug):
        raise errors.not_found("apps", slug)


def running(slug: str) -> Conflict:
    return Conflict(
        f'Service "{slug}" is running. Stop it first, or send ?stop=true.', code="running"
    )


def _declare(daemon: Daemon, slug: str, patch: Any) -> bool:
    """Make the file of a discovered app. False if another caller has made one in the meantime."""
    found = daemon.ask(lambda: daemon.state.census.apps.get(slug))
    if found is None or found.sighting is None or found.source != "discovered":
        raise errors.not_found("apps", slug)
    try:
        store.put(
            "apps", slug, merge(claim.mapping(found.sighting, slug), patch), if_none_match=True
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
    service = daemon.ask(daemon.state.services.wire, slug)
    return service is not None and service["status"] in {"running", "starting", "stopping"}


def _mentions(app: App, query: str) -> bool:
    words = (app["slug"], app["name"], app["url"] or "", *app["tags"])
    return query.casefold() in " ".join(words).casefold()
