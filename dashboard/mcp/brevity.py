"""Many apps at once for an agent: only what distinguishes each, within a budget.

The HTTP routes answer whole records; a model pays for every character of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from config import jsonio
from config.mcp import brief
from dashboard.daemon.views import ObservedList
from dashboard.history.windows import History
from dashboard.listeners.records import Observed
from dashboard.operations.apps import AppList
from dashboard.operations.common import directory
from dashboard.operations.finding import FoundApps, Waited
from dashboard.registry.records import App

Brief = dict[str, Any]

BUDGET = 7_800  # characters of the rows of one answer, if no `limit` is given
APP = ("slug", "state", "reason", "url", "port", "cwd")
OBSERVED = ("id", "port", "protocol", "process", "cwd")
TRANSITIONS = 20


def apps(
    found: AppList, *, fields: Sequence[str] = (), limit: int | None = None, after: str = ""
) -> Brief:
    """`list_apps` sorted by slug, from after the slug `after`; `next` is where to continue."""
    rows = sorted(
        (one for one in found["apps"] if one["slug"] > after), key=lambda one: one["slug"]
    )
    shown = _within(brief.pick(_apps(rows, fields), fields, APP), limit, BUDGET)
    more = {"next": rows[len(shown) - 1]["slug"]} if 0 < len(shown) < len(rows) else {}
    return {"count": len(found["apps"]), "apps": shown, **more, "fileErrors": found["fileErrors"]}


def matches(found: FoundApps, *, fields: Sequence[str] = (), limit: int | None = None) -> Brief:
    """`find_app`: apps and listeners."""
    both = [*_apps(found["apps"], fields), *_listeners(found["observed"], fields)]
    rows = brief.pick(both, fields, tuple(dict.fromkeys((*APP, *OBSERVED))))
    split = len(found["apps"])
    shown = [_within(part, limit, BUDGET // 2) for part in (rows[:split], rows[split:])]
    omitted = len(rows) - sum(map(len, shown))
    more = {"omitted": omitted} if omitted else {}
    return {"apps": shown[0], "observed": shown[1], "own": found["own"], **more}


def observed(found: ObservedList, *, fields: Sequence[str] = (), limit: int | None = None) -> Brief:
    """`list_observed`, including ignored listeners."""
    both = (found["observed"], found["ignored"])
    rows = [brief.pick(_listeners(part, fields), fields, OBSERVED) for part in both]
    shown = [_within(part, limit, BUDGET // 2) for part in rows]
    omitted = sum(map(len, rows)) - sum(map(len, shown))
    more = {"omitted": omitted} if omitted else {}
    return {**found, "observed": shown[0], "ignored": shown[1], **more}


def wait_outcome(found: Waited) -> Brief:
    """`wait_for_app`."""
    (row,) = brief.pick(_apps([found["app"]], ()), (), APP)
    return {"ok": found["ok"], "app": row}


def history(found: History, *, fields: Sequence[str] = ()) -> Brief:
    """`app_history`: the sums and the last changes; the buckets are only useful for drawing."""
    usual = [key for key in found if key != "buckets"]
    last = found["transitions"][-TRANSITIONS:]
    rows = [{**found} if fields else {**found, "transitions": last}]
    (shown,) = brief.pick(rows, fields, usual, telling=usual)
    return shown


def _apps(rows: Sequence[App], fields: Sequence[str]) -> list[Brief]:
    """The apps with their directory; the reason "ok" of an app that is up is left out."""
    if brief.ALL in fields:
        return [{**one} for one in rows]
    plain = None if fields else "ok"
    return [
        {**one, "cwd": directory(one), "reason": None if one["reason"] == plain else one["reason"]}
        for one in rows
    ]


def _listeners(rows: Sequence[Observed], fields: Sequence[str]) -> list[Brief]:
    """The listeners with their process and its directory."""
    if brief.ALL in fields:
        return [{**one} for one in rows]
    return [
        {**one, "cwd": one["identity"]["cwd"], "process": one["identity"]["process"]["name"]}
        for one in rows
    ]


def _within(rows: list[Brief], limit: int | None, budget: int) -> list[Brief]:
    """The first `limit` rows; without a limit as many as fit the budget, but at least one."""
    if limit is not None:
        return rows[:limit]
    size = 0
    shown: list[Brief] = []
    for row in rows:
        size += len(jsonio.dumps(row).decode()) + 1
        if shown and size > budget:
            break
        shown.append(row)
    return shown
