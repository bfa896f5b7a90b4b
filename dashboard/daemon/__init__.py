"""The dashboard's daemon (contract 1.2): `current()` is the one of this process.

Views, tools and the command line's routes reach everything that is live through it.
"""

from __future__ import annotations

from dashboard.daemon.daemon import Daemon, starting

__all__ = ["Daemon", "current", "serve"]

_serving: Daemon | None = None


def current() -> Daemon:
    """The daemon, once its files are loaded. Unavailable `starting` before that and without one."""
    if _serving is None or not _serving.loaded.is_set():
        raise starting()
    return _serving


def serve(daemon: Daemon | None) -> None:
    """Make this the one of the process, or none."""
    global _serving  # noqa: PLW0603 - one per process
    _serving = daemon
