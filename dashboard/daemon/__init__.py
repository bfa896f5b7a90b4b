"""The dashboard's daemon: `current()` returns this process's daemon.

Views, tools and the command line's routes reach all live data through it. How the modules work
together: docs/design/dashboard.md#from-a-probe-to-the-page
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from dashboard.daemon.daemon import Daemon, starting
from dashboard.daemon.views import Views

__all__ = ["Daemon", "Views", "current", "read", "serve"]

P = ParamSpec("P")
T = TypeVar("T")

_serving: Daemon | None = None


def current() -> Daemon:
    """Return the daemon once its files are loaded. Raises Unavailable `starting` until then."""
    if _serving is None or not _serving.loaded.is_set():
        raise starting()
    return _serving


def read(record: Callable[Concatenate[Views, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What this method of Views returns now. Raises Unavailable as `current` does."""
    daemon = current()
    return daemon.ask(partial(record, daemon.views, *args, **kwargs))


def serve(daemon: Daemon | None) -> None:
    """Make this the daemon of the process; None removes it."""
    global _serving  # noqa: PLW0603 - one per process
    _serving = daemon
