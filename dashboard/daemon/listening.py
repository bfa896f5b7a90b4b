"""What a scan saw that is to be remembered over a reboot (10.1)."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from operator import is_not

from dashboard.listeners import names
from dashboard.listeners.observed import Sighting
from dashboard.lost import Listening
from dashboard.registry.census import App, Census
from dashboard.registry.look import Seen
from dashboard.services.supervise import Supervisor


@dataclass(slots=True)
class Remembered:
    """Apps that listen here, and dev servers nobody has declared or ignored; made once for each
    state of a listener, as masking its identity costs more than a scan."""

    services: Supervisor
    _made: dict[str, tuple[Sighting, App | None, bool, Listening]] = field(default_factory=dict)
    _of: tuple[object, ...] = ()
    _served: frozenset[str] = frozenset()
    _told: tuple[Listening, ...] = ()

    def of(self, census: Census, seen: Seen) -> tuple[Listening, ...]:
        """The very tuple of the time before while nothing is another."""
        served = frozenset(self.services.families())
        of = (census.apps, census.ignored, seen.sightings, seen.hidden)
        if served != self._served or not self._of or any(map(is_not, of, self._of)):
            self._of, self._served = of, served
            self._told = tuple(self._listening(census, seen, served))
        return self._told

    def _listening(self, census: Census, seen: Seen, families: Set[str]) -> list[Listening]:
        owner = {app.sighting.id: app for app in census.apps.values() if app.sighting}
        ignored = {one.id for one in census.ignored}
        before, self._made = self._made, {}
        for one in seen.sightings:
            app = owner.get(one.id)
            if not one.present or one.id in ignored or (app is None and one.kind != "dev"):
                continue
            if app is None and one.id in seen.hidden:
                continue
            served = app is not None and app.slug in families
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
        identity=identity.wire(),
        service=served,
        autostart=bool(app and app.service and app.service.autostart),
        pid=start.pid,
        titled=identity.process.titled,
    )
