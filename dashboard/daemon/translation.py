"""Translates the values of one component for another.

Services for the registry and the state machine, apps for their pictures, listeners for what is
remembered over a reboot. The rows of the state machine: docs/design/dashboard.md#transitions
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import is_not

from dashboard.daemon.sightings import Pids
from dashboard.files.schema.app import Thumb
from dashboard.health import record as health
from dashboard.health.evidence import (
    Evidence,
    Exited,
    Ready,
    Started,
    StopFailed,
    Stopped,
    Stopping,
)
from dashboard.listeners import names, records
from dashboard.listeners.observed import Sighting
from dashboard.pictures import PicturedApp
from dashboard.reboot import Listening
from dashboard.registry.census import App, Census
from dashboard.registry.look import CompletedScan
from dashboard.services import ready
from dashboard.services.state import ALIVE, Change, ServiceState
from dashboard.services.system.processes import Family


def evidence(change: Change, state: ServiceState) -> Evidence | None:
    """The evidence in the change, or None: adopting a running service is not a start."""
    match change.status:
        case "starting":
            return Started(restart=change.reason == "restarting", by_user=change.asked)
        case "stopping":
            return Stopping()
        case "running" if change.before == "stopping":
            return StopFailed()
        case "running":
            asked = change.reason == "ok" and state.service and ready.condition(state.service)
            return Ready() if asked else None
        case "stopped" if change.reason != "exited":
            return Stopped() if change.before in ALIVE or change.reason == "user" else None
    code = state.record.last_exit.code if state.record and state.record.last_exit else None
    return Exited(
        code,
        retry_in=_seconds(state),
        crash_loop=change.reason == "crash-loop",
        why=state.message,
    )


def pids(families: Mapping[str, Family], members: Pids) -> dict[str, set[int]]:
    """The processes of each running service: its wrapper, and all that a scan has found."""
    return {slug: {family.leader, *members.get(slug, ())} for slug, family in families.items()}


def _seconds(state: ServiceState) -> float | None:
    if state.next_retry is None:
        return None
    return max(0.0, (state.next_retry - datetime.now(UTC)).total_seconds())


def pictured_app(app: App, state: health.State) -> PicturedApp:
    sighting = app.sighting
    identity = sighting.identity if sighting is not None else None
    return PicturedApp(
        name=app.name,
        framework=identity.framework.name if identity and identity.framework else None,
        color=app.file.color if app.file else None,
        icon=app.file.picture if app.file else None,
        thumb=app.file.thumb if app.file else Thumb(),
        url=app.local_url,
        state=state,
        html=_html(app),
        repository=identity.git.root if identity and identity.git else None,
        declared=app.declared,
    )


def _html(app: App) -> bool | None:
    """Whether the app answers with HTML; None while unknown: a redirect mostly names no type."""
    answer = app.sighting.answer if app.sighting is not None else None
    kind = answer.headers.get("content-type") if answer is not None else None
    return "html" in kind.lower() if kind else None


@dataclass(slots=True)
class Remembered:
    """Apps that listen here, and dev servers that are neither declared nor ignored. Each is made
    once per state of its listener, as masking an identity costs more than a scan."""

    _made: dict[str, tuple[Sighting, App | None, bool, Listening]] = field(default_factory=dict)
    _of: tuple[object, ...] = ()
    _served: frozenset[str] = frozenset()
    _last: tuple[Listening, ...] = ()

    def of(self, census: Census, seen: CompletedScan, members: Pids) -> tuple[Listening, ...]:
        """The listeners to remember; the same tuple while nothing has changed. `members`: of the
        services that ran at that scan; one that was stopped since is still what listened then."""
        served = frozenset(members)
        of = (census.apps, census.ignored, seen.sightings, seen.hidden)
        if served != self._served or not self._of or any(map(is_not, of, self._of)):
            self._of, self._served = of, served
            self._last = tuple(self._listening(census, seen, served))
        return self._last

    def _listening(self, census: Census, seen: CompletedScan, living: Set[str]) -> list[Listening]:
        apps = census.apps.values()
        owner = {one.id: app for app in apps for one in app.beside}
        owner |= {app.sighting.id: app for app in apps if app.sighting}
        ignored = {one.id for one in census.ignored}
        before, self._made = self._made, {}
        for one in seen.sightings:
            app = owner.get(one.id)
            if not one.present or one.id in ignored or (app is None and one.kind != "dev"):
                continue
            if app is None and one.id in seen.hidden:
                continue
            served = app is not None and app.slug in living
            known = before.get(one.id)
            if known is None or known[:3] != (one, app, served):
                known = (one, app, served, _listening(one, app, served=served))
            self._made[one.id] = known
        return [known[3] for known in self._made.values()]


def _listening(one: Sighting, app: App | None, *, served: bool) -> Listening:
    identity, port = one.identity, one.listener.port
    start = identity.start
    return Listening(
        id=one.id,
        slug=app.slug if app is not None else None,
        name=app.name if app is not None else names.name(identity, port),
        port=port,
        argv=start.argv,
        cwd=start.cwd,
        identity=records.identity(identity),
        service=served,
        autostart=bool(app and app.service and app.service.autostart),
        pid=start.pid,
        titled=identity.process.titled,
    )
