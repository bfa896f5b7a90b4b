"""Observed listeners: list, claim, ignore, and scan."""

from __future__ import annotations

import glob
from typing import Any, TypedDict, get_args

from config.errors import NotFound
from dashboard.daemon import Daemon, current
from dashboard.daemon.scanning import Scan
from dashboard.files import errors, layout, store
from dashboard.files.convert import Expected
from dashboard.files.errors import BadValues
from dashboard.listeners.observed import Sighting
from dashboard.operations.common import (
    Written,
    choice,
    invalid,
    text,
    written_app,
)
from dashboard.registry import claim as claims

EXPECTED: tuple[Expected, ...] = get_args(Expected)


class Ignored(TypedDict):
    ok: bool
    rule: dict[str, Any]
    file: str


def claim(
    *,
    id: str,  # noqa: A002
    slug: Any = None,
    name: Any = None,
    expected: Any = None,
) -> Written:
    """Write the file that makes the listener a declared app."""
    daemon = current()
    found = find(daemon, id)
    wanted = text("slug", slug)
    layout.place("apps", wanted)
    name = None if name is None else text("name", name)
    expected = None if expected is None else choice("expected", expected, *EXPECTED)
    _not_claimed(daemon, id)
    made = claims.text(found, wanted, name=name, expected=expected)
    try:
        store.put_text("apps", wanted, made, if_none_match=True)
    except BadValues as error:  # without the line: the caller does not know the file
        raise BadValues(error.issues) from None
    return written_app(daemon, wanted, created=True)


def ignore(
    *,
    id: str,  # noqa: A002
    by: Any = None,
    reason: Any = None,
    if_match: str | None = None,
) -> Written:
    """Add a rule to ignore.yaml that covers the listener, unless it has that rule already."""
    daemon = current()
    rule = _rule(
        find(daemon, id), choice("by", "port" if by is None else by, "port", "process", "dir")
    )
    if reason is not None:
        rule["reason"] = text("reason", reason)
    entry, standing = store.add_ignore(rule, if_match=if_match)
    daemon.sync()
    record: Ignored = {"ok": True, "rule": standing, "file": "ignore.yaml"}
    return Written(record, entry.etag or "", created=False)


def known_listener(*, id: str) -> None:  # noqa: A002
    """NotFound if no listener has the id; called before a body is validated."""
    find(current(), id)


def scan() -> Scan:
    """Scan now; returns when the scan has finished."""
    daemon = current()
    return daemon.wait(daemon.state.scanning.now)


def find(daemon: Daemon, id: str) -> Sighting:  # noqa: A002
    """The listener with this id: observed, ignored or an app's. NotFound if there is none."""
    found = daemon.ask(_sighting, daemon, id)
    if found is None:
        raise NotFound(f'No listener "{id[: errors.SHOWN]}".')
    return found


def _sighting(daemon: Daemon, id: str) -> Sighting | None:  # noqa: A002
    """Runs on the daemon's thread."""
    census = daemon.state.census
    matched = (app.sighting for app in census.apps.values() if app.sighting)
    every = (*census.observed, *census.ignored, *matched)
    return next((one for one in every if one.id == id), None)


def _not_claimed(daemon: Daemon, id: str) -> None:  # noqa: A002
    """Conflict `exists` if a declared app has the listener already."""
    apps = daemon.ask(lambda: list(daemon.state.census.apps.values()))
    for app in apps:
        if app.entry is not None and app.sighting is not None and app.sighting.id == id:
            raise errors.exists(app.entry.file, app.entry.etag or "")


def _rule(found: Sighting, by: str) -> dict[str, Any]:
    """The rule. Invalid if the process or directory is unknown, or cannot be in a file."""
    if by == "port":
        return {"port": found.listener.port}
    if by == "process":
        value = found.identity.process.name or found.listener.exe  # uvicorn rather than python
    else:
        value = glob.escape(found.identity.cwd)
    word = "process" if by == "process" else "directory"
    if not value:
        raise invalid("by", f"cannot be {by}: the {word} of this listener is not known")
    if claims.unfit(value):
        raise invalid("by", f"cannot be {by}: no file can hold the {word} of this listener")
    return {by: value}
