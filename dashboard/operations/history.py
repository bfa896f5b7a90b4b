"""What an app was and how fast it answered (section 8)."""

from __future__ import annotations

import time

from dashboard.daemon import current
from dashboard.files import errors, places
from dashboard.history import windows
from dashboard.operations.caller import Local, Record, is_app


def app_history(caller: Local, *, slug: str, window: str = "24h") -> Record:
    """The History of section 8, also of an app that was removed."""
    places.place("apps", slug)
    daemon = current()
    if daemon.recorder.known(slug) is None and not is_app(daemon, slug):
        raise errors.not_found("apps", slug)
    daemon.wait(daemon.written, slug)
    return windows.history(slug, window, now=time.time())
