"""The states of an app over time, and how fast it answered."""

from __future__ import annotations

import time

from dashboard.daemon import current
from dashboard.files import errors, layout
from dashboard.history import windows
from dashboard.history.windows import History
from dashboard.operations.common import is_app


def app_history(*, slug: str, window: str = "24h") -> History:
    """The record History, also for a removed app."""
    layout.place("apps", slug)
    daemon = current()
    if daemon.state.history.recorder.find_standing(slug) is None and not is_app(daemon, slug):
        raise errors.not_found("apps", slug)
    daemon.wait(daemon.state.history.until_written, slug)
    return windows.history(slug, window, now=time.time())
