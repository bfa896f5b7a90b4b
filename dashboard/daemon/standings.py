"""The last judgement of each app, and the signal to the other parts when it changes.

The judgements are up, down, crash loop and stopped: states in between are passed over, and so is an
app that answers badly. A first judgement (by a new daemon, of a new app, after a pause) is not
signalled, nor is a stop by a user; a failed start is, and so is a discovered app that left the
list. Flapping apps are signalled as the event stream does: docs/design/dashboard.md#flapping
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from django.db import close_old_connections, connections

from config import signals
from dashboard.health.evidence import Edge, Notice
from dashboard.health.record import Port, Reason, Record, State
from dashboard.health.runner import Report
from dashboard.registry import records
from dashboard.registry.app import App

Announced = Literal["down", "up", "crash_loop"]
Standing = Literal["down", "up", "crash_loop", "stopped", ""]
STATES: dict[State, Standing] = {State.UP: "up", State.DOWN: "down", State.STOPPED: "stopped"}
ENDED = (Reason.EXITED, Reason.CRASH_LOOP)  # of a service that was started and is not stopped
FORGOTTEN = (Reason.PAUSED, Reason.INVALID_FILE, Reason.NO_PROBE)  # the last judgement is void


class Standings:
    """Used on the daemon's thread; a thread of its own sends the signals in order, and may use the
    database."""

    def __init__(self) -> None:
        self._known: dict[str, Standing] = {}
        self._where: dict[str, str] = {}  # by slug; a fallen app has no process to read it from
        self._missed: set[str] = set()  # those that fell and were expected to be up
        self._thread = ThreadPoolExecutor(1, "svc-dashboard-signals")

    def know(self, app: App) -> None:
        """Remember the app's directory."""
        if cwd := _cwd(app):
            self._where[app.slug] = cwd

    def take(self, app: App, report: Report) -> None:
        """Take in the report on a piece of evidence."""
        for event in report.events:
            match event:
                case Edge(before=before, after=after, reason=reason):
                    self._on_transition(app.slug, before, after, reason)
                case Notice(state):
                    self._on_state(app, state, report.record.reason)

    def leave(self, app: App, record: Record | None) -> None:
        """The app has left the list. For a discovered app that means that its listener is gone; its
        judgement is kept, since it may come back."""
        before = self._known.pop(app.slug, None)
        gone = app.source == "discovered" and app.evidence is Port.EMPTY
        if gone and before and record is not None and record.reason is not Reason.USER:
            self._known[app.slug] = "down"
            if before != "down":
                self._say(app, "down", record.reason, "up")
        self._where.pop(app.slug, None)
        self._missed.discard(app.slug)

    async def close(self) -> None:
        """Return once all signals are sent."""
        last = self._thread.submit(connections.close_all)
        self._thread.shutdown(wait=False)
        await asyncio.wrap_future(last)

    def _on_transition(self, slug: str, before: State, after: State, reason: Reason) -> None:
        """Keep a first judgement without a signal. A start seen to fail is not a first one."""
        if after is State.UNKNOWN and reason in FORGOTTEN:
            self._known.pop(slug, None)
        elif slug not in self._known and (standing := STATES.get(after)):
            fell = before is State.STARTING and after is State.DOWN
            self._known[slug] = "" if fell else standing

    def _on_state(self, app: App, state: State, reason: Reason) -> None:
        now = STATES.get(state)
        before = self._known.get(app.slug)
        if now is None or before is None:
            return
        if reason is Reason.CRASH_LOOP:
            now = "crash_loop"
        self._known[app.slug] = now
        same = now == before or (now == "down" and before == "crash_loop")
        if now != "stopped" and now and not same:
            self._say(app, now, reason, before)

    def _say(self, app: App, now: Announced, reason: Reason, before: Standing) -> None:
        expected = app.policy.alarm or reason in ENDED or app.slug in self._missed
        if now != "up" and expected:
            self._missed.add(app.slug)
        else:
            self._missed.discard(app.slug)
        cwd = self._where.get(app.slug)
        happening = signals.AppChanged(
            app=app.slug,
            name=app.name,
            directory=Path(cwd) if cwd else None,
            state=now,
            reason=reason.value,
            expected=expected,
            before=before,
        )
        self._thread.submit(_tell, happening)


def _cwd(app: App) -> str:
    """The directory the app runs in, else the one its file names; "" when neither is known."""
    match = app.file.match if app.file else None
    said = records.cwd(app) or (match.cwd if match else None) or ""
    return said if said.startswith("/") and not set("*?[") & set(said) else ""


def _tell(happening: signals.AppChanged) -> None:
    close_old_connections()
    signals.tell(signals.app_changed, happening)
    close_old_connections()
