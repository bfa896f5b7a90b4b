"""What runs here, and when is it up: the two questions that agents ask first."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlsplit

from config.waits import Bound
from config.web import surfaces
from config.web.hosts import is_allowed
from config.web.http import threads
from dashboard.daemon import Views, current, read
from dashboard.events import EVENTS
from dashboard.files import convert, layout
from dashboard.files.durations import Unfit
from dashboard.health.target import EVERYWHERE
from dashboard.listeners.records import Observed
from dashboard.operations.apps import STATES
from dashboard.operations.common import Record, app_record, choice, invalid
from dashboard.registry.records import App

WAITS = 100  # at the same time
MOST_S = 60.0
TICK_S = 1.0  # the events of a flapping app are held back
PARTS = {"main": "workspace"}  # the other parts are named like their surface
PORTS = {"http": 80, "https": 443}

_waiting = Bound(WAITS, "calls wait for apps already; ask get_app instead.")


class Own(TypedDict):
    """A part of this service that holds the port."""

    port: int
    part: str
    message: str


class FoundApps(TypedDict):
    apps: list[App]
    observed: list[Observed]
    own: list[Own]


class Waited(TypedDict):
    ok: bool
    app: App


def find_app(
    *, port: int | None = None, url: str | None = None, cwd: str | None = None
) -> FoundApps:
    """The apps and the observed listeners at a port, at an address or in a directory. `own` says
    which part of this service holds the port, because no list contains those."""
    given = [
        key for key, value in (("port", port), ("url", url), ("cwd", cwd)) if value is not None
    ]
    if len(given) != 1:
        raise invalid("port", "send exactly one of port, url and cwd")
    apps = read(Views.apps, "masked")
    seen = read(Views.observed)
    listeners = [*seen["observed"], *seen["ignored"]]  # a hidden listener holds its port too
    if cwd is not None:
        folder = _folder(cwd)
        found = _matching(
            apps, listeners, lambda one: any(_is_in(at, folder) for at in _places(one))
        )
        if not (found["apps"] or found["observed"]):
            project = _project([*apps, *listeners], folder)
            found = _matching(
                apps, listeners, lambda one: any(at == project for at in _places(one))
            )
        return found
    if url is not None:
        host, at = _address(url)
        named = _matching(apps, [], lambda one: (host, at) in _names(one))
        if named["apps"] or not _is_here(host):
            return named
        port = at
    held = _own(port) if port is not None else []
    return _matching(apps, listeners, lambda one: port in _ports(one), held)


async def wait_for_app(*, slug: str, state: str, timeout_seconds: float = 30) -> Waited:
    """Wait until the app has this state; `ok` is False if the time was over first.

    Runs on the server's loop and occupies no thread while it waits.
    """
    choice("state", state, *STATES)
    if not 0 <= timeout_seconds <= MOST_S:
        raise invalid("timeoutSeconds", "must be 0 to 60")
    with _waiting():
        app = await _wait_for_state(slug, state, timeout_seconds)
    return {"ok": app["state"] == state, "app": app}


async def _wait_for_state(slug: str, state: str, seconds: float) -> App:
    """The app's record once it has the state or the time is over; checked after each event."""
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    stream = EVENTS.join(None)
    try:
        while True:
            app = await threads.brief(_find_app, slug)
            left = end - clock()
            if app["state"] == state or left <= 0:
                return app
            with suppress(TimeoutError):
                await asyncio.wait_for(stream.take(), min(TICK_S, left))
    finally:
        EVENTS.leave(stream)


def _find_app(slug: str) -> App:
    layout.place("apps", slug)
    return app_record(current(), slug)


def _matching(
    apps: Iterable[App],
    listeners: Iterable[Observed],
    fits: Callable[[Any], bool],
    own: Sequence[Own] = (),
) -> FoundApps:
    return {
        "apps": [app for app in apps if fits(app)],
        "observed": [one for one in listeners if fits(one)],
        "own": [*own],
    }


def _own(port: int) -> list[Own]:
    """The parts of this service that hold the port: it is in use, although no list shows it."""
    parts = [PARTS.get(name, name) for name, held in surfaces.ports().items() if held == port]
    said = "Port {} is the {} of this service (svc)."
    return [{"port": port, "part": part, "message": said.format(port, part)} for part in parts]


def _ports(one: Record) -> Iterator[int | None]:
    """Its port, and those that its service listens on besides."""
    yield one["port"]
    yield from (at["port"] for at in (one.get("listens") or {}).get("addresses", ()))


def _folder(cwd: str) -> str:
    try:
        return os.path.realpath(convert.path(cwd))
    except Unfit as error:
        raise invalid("cwd", str(error)) from None


def _places(one: Record) -> Iterator[str]:
    """Where it really runs, and where its service would run if it were started."""
    running = (one["identity"] or {}).get("cwd")
    started = ((one.get("config") or {}).get("service") or {}).get("cwd")
    if running:
        yield running
    with suppress(Unfit):
        yield os.path.realpath(convert.path(started or ""))


def _project(ones: Iterable[Record], folder: str) -> str | None:
    """The nearest parent folder in which something runs, as this folder may be part of it. The
    user's home and folders directly below the root do not count."""
    homes = {str(Path.home())}
    places_ = {at for one in ones for at in _places(one)} - homes
    above = [at for at in places_ if at.count("/") > 1 and _is_in(folder, at)]
    return max(above, key=len, default=None)


def _is_in(place: str, folder: str) -> bool:
    return place == folder or place.startswith(f"{folder.rstrip('/')}/")


def _names(one: Record) -> Iterator[tuple[str, int]]:
    """Its addresses other than its port here: behind the user's proxy, or on another host."""
    fronted, url = one["urls"]["fronted"], one["url"]
    if fronted:
        yield _address(fronted)
    if url and not _is_here((elsewhere := _address(url))[0]):
        yield elsewhere


def _is_here(host: str) -> bool:
    """Whether the host is this machine; so are the addresses that mean every address."""
    return host in EVERYWHERE or is_allowed(f"[{host}]" if ":" in host else host)


def _address(url: str) -> tuple[str, int]:
    """The host and the port of an address."""
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise invalid("url", "must be an address such as http://localhost:3000/") from None
    return parts.hostname or "", port
