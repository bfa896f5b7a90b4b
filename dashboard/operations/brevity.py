"""What an agent is told of many apps at once: of each what tells it apart, within a budget.

The routes answer whole records; a model pays for every character of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from config.kernel import jsonio
from config.kernel.mcp import brief
from dashboard.operations.caller import Record, directory

BUDGET = 7_800  # characters of the rows of one answer, where no `limit` is given
APP = ("slug", "state", "reason", "url", "port", "cwd")
OBSERVED = ("id", "port", "protocol", "process", "cwd")
TRANSITIONS = 20


def apps(
    found: Record, *, fields: Sequence[str] = (), limit: int | None = None, after: str = ""
) -> Record:
    """`list_apps` by slug, from behind `after`; `next` is where to go on."""
    rows = sorted(
        (one for one in found["apps"] if one["slug"] > after), key=lambda one: one["slug"]
    )
    shown = _within(brief.picked(_apps(rows, fields), fields, APP), limit, BUDGET)
    more = {"next": rows[len(shown) - 1]["slug"]} if 0 < len(shown) < len(rows) else {}
    return {"count": len(found["apps"]), "apps": shown, **more, "fileErrors": found["fileErrors"]}


def matches(found: Record, *, fields: Sequence[str] = (), limit: int | None = None) -> Record:
    """`find_app`: apps and listeners."""
    both = [*_apps(found["apps"], fields), *_listeners(found["observed"], fields)]
    rows = brief.picked(both, fields, tuple(dict.fromkeys((*APP, *OBSERVED))))
    split = len(found["apps"])
    shown = [_within(part, limit, BUDGET // 2) for part in (rows[:split], rows[split:])]
    omitted = len(rows) - sum(map(len, shown))
    more = {"omitted": omitted} if omitted else {}
    return {"apps": shown[0], "observed": shown[1], "own": found["own"], **more}


def observed(found: Record, *, fields: Sequence[str] = (), limit: int | None = None) -> Record:
    """`list_observed`, those that are ignored too."""
    lists = {
        key: brief.picked(_listeners(found[key], fields), fields, OBSERVED)
        for key in ("observed", "ignored")
    }
    shown = {key: _within(rows, limit, BUDGET // 2) for key, rows in lists.items()}
    omitted = sum(len(lists[key]) - len(shown[key]) for key in lists)
    return found | shown | ({"omitted": omitted} if omitted else {})


def waited(found: Record) -> Record:
    """`wait_for_app`."""
    (row,) = brief.picked(_apps([found["app"]], ()), (), APP)
    return {"ok": found["ok"], "app": row}


def history(found: Record, *, fields: Sequence[str] = ()) -> Record:
    """`app_history`: the sums and the last changes; the buckets are for those who draw them."""
    usual = [key for key in found if key != "buckets"]
    last = [*found["transitions"]][-TRANSITIONS:]
    rows = [found] if fields else [found | {"transitions": last}]
    (shown,) = brief.picked(rows, fields, usual, telling=usual)
    return shown


def _apps(rows: Sequence[Record], fields: Sequence[str]) -> list[Record]:
    """With their directory; that an app which is up is ok need not be said."""
    if brief.ALL in fields:
        return [*rows]
    plain = None if fields else "ok"
    return [
        one | {"cwd": directory(one), "reason": None if one["reason"] == plain else one["reason"]}
        for one in rows
    ]


def _listeners(rows: Sequence[Record], fields: Sequence[str]) -> list[Record]:
    """With their process and its directory."""
    return [*rows] if brief.ALL in fields else [*map(_listener, rows)]


def _listener(one: Record) -> Record:
    identity = one["identity"] or {}
    process = identity.get("process") or {}
    return one | {"cwd": identity.get("cwd"), "process": process.get("name")}


def _within(rows: list[Record], limit: int | None, budget: int) -> list[Record]:
    """The first `limit`; without one as many as the budget holds, and one in any case."""
    if limit is not None:
        return rows[:limit]
    size = 0
    shown: list[Record] = []
    for row in rows:
        size += len(jsonio.dumps(row).decode()) + 1
        if shown and size > budget:
            break
        shown.append(row)
    return shown
