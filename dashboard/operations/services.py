"""Services: started, stopped, restarted; their logs (9.4, 9.6)."""

from __future__ import annotations

from dashboard.daemon import current
from dashboard.operations.apps import known_app
from dashboard.operations.caller import Local, Record, app_record
from dashboard.operations.waiting import waiting
from dashboard.services import errors, logs


def service(caller: Local, *, slug: str, action: str) -> Record:
    """Do it and wait until it is done; `ok: false` says why it did not come to that."""
    known_app(caller, slug=slug)
    daemon = current()
    with waiting():
        outcome = daemon.wait(daemon.services.act, slug, action)
    return {**outcome.wire(), "app": app_record(daemon, slug)}


def app_logs(
    caller: Local,
    *,
    slug: str,
    lines: int | str = logs.DEFAULT_LINES,
    after: int | str | None = None,
    before: int | str | None = None,
) -> logs.Tail:
    """The last lines, those that came since `after`, or those that end at `before`."""
    known_app(caller, slug=slug)
    daemon = current()
    if daemon.ask(daemon.services.wire, slug) is None:
        raise errors.not_managed(slug, log=True)
    return logs.tail(slug, lines, after, before)
