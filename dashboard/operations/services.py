"""Services: start, stop, restart; their logs."""

from __future__ import annotations

from typing import TypedDict

from dashboard.daemon import current
from dashboard.operations.apps import known_app
from dashboard.operations.common import app_record, waiting
from dashboard.registry.records import App
from dashboard.services import actions, errors, logs
from dashboard.services.record import Status


class Action(TypedDict):
    """The outcome of an action on a service."""

    ok: bool
    action: actions.Action
    status: Status
    pid: int | None
    already: bool
    reason: str | None
    message: str | None
    app: App
    log: list[str]


def service(*, slug: str, action: str) -> Action:
    """Run an action and wait until it is done; with `ok` False the answer says why it failed."""
    known_app(slug=slug)
    daemon = current()
    with waiting():
        outcome = daemon.wait(daemon.state.services.act, slug, action)
    return {
        "ok": outcome.ok,
        "action": outcome.action,
        "status": outcome.status,
        "pid": outcome.pid,
        "already": outcome.already,
        "reason": outcome.reason,
        "message": outcome.message,
        "log": outcome.log,
        "app": app_record(daemon, slug),
    }


def app_logs(
    *,
    slug: str,
    lines: int | str = logs.DEFAULT_LINES,
    after: int | str | None = None,
    before: int | str | None = None,
) -> logs.Tail:
    """The last lines, or those written after `after`, or those that end at `before`."""
    known_app(slug=slug)
    daemon = current()
    if daemon.ask(daemon.state.services.wire, slug) is None:
        raise errors.not_managed(slug, log=True)
    return logs.tail(slug, lines, after, before)
