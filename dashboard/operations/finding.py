"""What runs here, and when will it be up: the two questions an agent asks first (15.2)."""

from __future__ import annotations

import asyncio
import os
import threading
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from config.kernel.errors import Conflict
from config.kernel.web import threads
from config.kernel.web.hosts import allowed
from dashboard.daemon import current
from dashboard.files import places
from dashboard.operations.apps import STATES
from dashboard.operations.caller import Local, Record, app_record, choice, invalid

WAITS = 100  # at once
MOST_S, TICK_S = 60.0, 0.1
PORTS = {"http": 80, "https": 443}

_waits = threading.BoundedSemaphore(WAITS)


def find_app(
    caller: Local, *, port: int | None = None, url: str | None = None, cwd: str | None = None
) -> Record:
    """The apps and the observed listeners at a port, an address, or in a directory."""
    given = [
        key for key, value in (("port", port), ("url", url), ("cwd", cwd)) if value is not None
    ]
    if len(given) != 1:
        raise invalid("port", "send exactly one of port, url and cwd")
    daemon = current()
    apps = daemon.ask(partial(daemon.apps, config="masked"))
    listeners = daemon.ask(daemon.observed)["observed"]
    if cwd is not None:
        folder = os.path.normpath(cwd)
        return _found(apps, listeners, lambda one: _is_in(one["identity"], folder))
    if url is not None:
        local, at = _address(url)
        if not local:
            return _found(apps, [], lambda one: _address(one["url"] or "") == (local, at))
        port = int(at)
    return _found(apps, listeners, lambda one: one["port"] == port)


async def wait_for_app(
    caller: Local, *, slug: str, state: str, timeout_seconds: float = 30
) -> Record:
    """Wait until the app has this state; `ok` is false when the time was over first.

    Runs on the server's loop and holds no thread while nothing happens.
    """
    choice("state", state, *STATES)
    if not 0 <= timeout_seconds <= MOST_S:
        raise invalid("timeoutSeconds", "must be 0 to 60")
    if not _waits.acquire(blocking=False):
        raise Conflict(f"{WAITS} calls wait for apps already; ask get_app instead.", code="busy")
    try:
        app = await _waited(slug, state, timeout_seconds)
    finally:
        _waits.release()
    return {"ok": app["state"] == state, "app": app}


async def _waited(slug: str, state: str, seconds: float) -> Record:
    """Its record once it has the state, or when the time is over."""
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    while True:
        app = await threads.brief(_masked, slug)
        left = end - clock()
        if app["state"] == state or left <= 0:
            return app
        await asyncio.sleep(min(TICK_S, left))


def _masked(slug: str) -> Record:
    places.place("apps", slug)
    return app_record(current(), slug)


def _found(apps: list[Record], listeners: list[Record], fits: Any) -> Record:
    return {
        "apps": [app for app in apps if fits(app)],
        "observed": [one for one in listeners if fits(one)],
    }


def _is_in(identity: Record | None, folder: str) -> bool:
    cwd = (identity or {}).get("cwd") or ""
    return cwd == folder or cwd.startswith(f"{folder.rstrip('/')}/")


def _address(url: str) -> tuple[bool, str]:
    """Whether it is on this machine, and there its port, else its host with the port."""
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise invalid("url", "must be an address such as http://localhost:3000/") from None
    host = parts.hostname or ""
    here = allowed(f"[{host}]" if ":" in host else host)
    return here, str(port) if here else f"{host}:{port}"
