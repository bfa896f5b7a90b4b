"""The message of a state where health itself has none, or where more is known elsewhere."""

from __future__ import annotations

from dashboard.health.record import Reason, Record, State
from dashboard.listeners.printable import plain
from dashboard.registry.app import App

_NAME = 80
_SAID = {
    Reason.NEW: "not asked yet",
    Reason.PAUSED: "paused in its file",
    Reason.NO_PROBE: "its file asks for no probe",
    Reason.RESUMED: "asked again after the machine slept",
    Reason.SPAWNED: "started; no answer yet",
    Reason.LISTENER_SEEN: "listens; no answer yet",
    Reason.RESTARTING: "started again; no answer yet",
    Reason.REDIRECT: "answers with a redirect",
    Reason.AUTH: "asks for a login",
}
# These are certain: what a probe met is only a detail, shown in `last`.
_KNOWN = {
    (State.STOPPED, Reason.USER): "stopped by you",
    (State.STOPPED, Reason.NOT_RUNNING): "not running",
    (State.STOPPING, Reason.USER): "being stopped",
    (State.DOWN, Reason.NO_LISTENER): "nothing listens on its port",
}


def message(app: App, record: Record) -> str:
    """One sentence for people; "" if everything is fine."""
    moved = app.moved_from is not None and record.state is State.UP
    if moved:
        return f"moved from {app.moved_from} to {app.port}"
    match record.reason:
        case Reason.INVALID_FILE:
            return _invalid(app)
        case Reason.WRONG_PROCESS if app.stranger:
            return _holder(app)
        case Reason.NO_PROBE if app.trouble:
            return app.trouble
    known = _KNOWN.get((record.state, record.reason))
    if known is not None:
        return known
    plainly = record.message in {"", record.reason.value}
    return _SAID.get(record.reason, record.message) if plainly else record.message


def _invalid(app: App) -> str:
    error = app.entry.error if app.entry else None
    if error is None:
        return "its file is not valid"
    where = f", line {error.line}" if error.line else ""
    return f"{error.file}{where}: {error.message}"


def _holder(app: App) -> str:
    """A sentence that says who has its port instead."""
    assert app.stranger is not None
    process, cwd = app.stranger.identity.process, app.stranger.identity.cwd
    known = [f"pid {process.pid}" if process.pid else "", plain(cwd)]
    told = ", ".join(filter(None, known))
    name = plain(process.name, _NAME) or "another process"
    return f"port {app.stranger.listener.port} is held by {name}" + (f" ({told})" if told else "")
