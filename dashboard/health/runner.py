"""Drives the probes of all apps in one event loop: probes on schedule, and reports the results.

Everything is called on the loop's own thread. The module knows no files, no services and no
stream: it receives targets and evidence, and reports records and events to one function.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from dashboard.health import clock, schedule, states
from dashboard.health.evidence import Changed, Event, Evidence, Probed, Scanned, Tick, Woke
from dashboard.health.gates import CONNECTING, OPEN, Gate
from dashboard.health.probe import probe
from dashboard.health.record import FIRST_SPREAD_S, LastKnown, Policy, Port, Record, State, born
from dashboard.health.result import Kind, Result
from dashboard.health.target import Target

log = logging.getLogger(__name__)
WATCH_S = 1.0  # how often to check whether the machine was suspended
SLEPT_S = 5.0
EARLY_S = 0.002  # uvloop rounds a timer to whole milliseconds of its own clock


class Report(NamedTuple):
    """The outcome of one piece of evidence. `result` is set if it was a probe."""

    slug: str
    record: Record
    result: Result | None
    events: tuple[Event, ...]


@dataclass(slots=True, eq=False)
class _App:
    slug: str
    target: Target
    policy: Policy
    record: Record
    winner: str | None = None  # the address that answered last
    silent: bool = False  # the last probe ran out of time
    not_before: float = 0.0  # set after a probe that failed on this side
    timer: asyncio.TimerHandle | None = None
    probing: asyncio.Task[None] | None = None


async def _nowhere() -> None:
    """The default `look`: scans nothing."""


class Runner:
    """All watched apps. `tell` receives a Report of every result and of every visible change; it
    must not block. `look` scans the listeners; the result arrives through `take_scan`."""

    def __init__(
        self, tell: Callable[[Report], None], look: Callable[[], Awaitable[object]] = _nowhere
    ) -> None:
        self._tell, self._look = tell, look
        self._apps: dict[str, _App] = {}
        self._open, self._connecting = Gate(OPEN), Gate(CONNECTING)
        self._since: float | None = None  # when `run` began
        self._slept = clock.asleep()
        self.asked: Counter[str] = Counter()  # probes since this object was made, by kind of result

    def watch(
        self, slug: str, target: Target, policy: Policy, known: LastKnown | None = None
    ) -> Record:
        """Watch an app, or update its target and policy; its state is kept. Returns the record."""
        app = self._apps.get(slug)
        if app is None:
            record = born(clock.now(), policy, known, spread=self._spread())
            app = _App(slug, target, policy, record)
            self._apps[slug] = app
            self._plan(app)
        elif (app.target, app.policy) != (target, policy):
            same_target = app.target == target
            app.target, app.policy = target, policy
            app.winner = app.winner if same_target else None
            self._take(app, Changed())
        return app.record

    def forget(self, slug: str) -> None:
        """Stop watching an app; its running probe is cancelled."""
        app = self._apps.pop(slug, None)
        if app is not None:
            self._rest(app)

    def evidence(self, slug: str, evidence: Evidence) -> Record | None:
        """Apply evidence from another component; None if no such app is watched."""
        app = self._apps.get(slug)
        return self._take(app, evidence) if app is not None else None

    def take_scan(self, ports: Mapping[str, Port], at: float | None = None) -> None:
        """Apply one completed scan, begun `at`: the port of each app; an app that is missing is
        UNSEEN."""
        for slug, app in list(self._apps.items()):
            port = ports.get(slug, Port.UNSEEN)
            if port is not app.record.port or port not in {Port.OWN, Port.UNSEEN}:
                self._take(app, Scanned(port, at))

    def states(self) -> Counter[str]:
        """How many apps are in each state."""
        return Counter(app.record.state for app in self._apps.values())

    def record(self, slug: str) -> Record | None:
        app = self._apps.get(slug)
        return app.record if app is not None else None

    def slugs(self) -> Iterable[str]:
        return self._apps.keys()

    async def run(self) -> None:
        """Probe until cancelled; every probe ends with it."""
        self._since = clock.now().mono
        self._slept = clock.asleep()
        for app in self._apps.values():
            self._plan(app)
        try:
            while True:
                await asyncio.sleep(WATCH_S)
                self._notice_sleep()
        finally:
            self._since = None
            under_way = [app.probing for app in self._apps.values() if app.probing is not None]
            for app in self._apps.values():
                self._rest(app)
            await asyncio.gather(*under_way, return_exceptions=True)

    def _take(self, app: _App, evidence: Evidence) -> Record:
        """Apply one piece of evidence to one app, report the outcome, and plan the next step."""
        before = app.record
        app.record, events = states.step(before, evidence, clock.now(), app.policy)
        result = evidence.result if isinstance(evidence, Probed) else None
        if result is not None or events or _visible(app.record) != _visible(before):
            try:
                self._tell(Report(app.slug, app.record, result, events))
            except Exception:
                log.exception("the report of %s was not taken", app.slug)
        self._plan(app)
        return app.record

    def _spread(self) -> float:
        """Apps at the daemon's start are spread over 2.5 s; an app that comes later is probed at
        once."""
        late = self._since is not None and clock.now().mono - self._since > FIRST_SPREAD_S
        return 0.0 if late else FIRST_SPREAD_S

    def _plan(self, app: _App) -> None:
        """Set the one timer of an app: for its next probe or its next tick, whichever comes
        first."""
        if app.timer is not None:
            app.timer.cancel()
            app.timer = None
        if self._since is None or self._apps.get(app.slug) is not app:
            return
        times = [states.due(app.record)]
        if app.probing is None:
            ask = schedule.next_probe(app.slug, app.record, app.policy)
            times.append(None if ask is None else max(ask, app.not_before))
        when = min((time for time in times if time is not None), default=None)
        if when is not None:
            delay = when - clock.now().mono
            delay = delay + EARLY_S if delay > 0 else 0.0  # an early one would be set twice
            app.timer = asyncio.get_running_loop().call_later(delay, self._due, app)

    def _due(self, app: _App) -> None:
        app.timer = None
        now = clock.now().mono
        tick = states.due(app.record)
        if tick is not None and tick <= now:
            self._take(app, Tick())
        ask = schedule.next_probe(app.slug, app.record, app.policy)
        if ask is not None and max(ask, app.not_before) <= now and app.probing is None:
            app.probing = asyncio.get_running_loop().create_task(self._ask(app))
        self._plan(app)

    async def _ask(self, app: _App) -> None:
        """Run one probe of one app, within the limits of the gates."""
        result = None
        try:
            async with self._open.lane(silent=app.silent):
                result = await probe(
                    app.target,
                    prefer=app.winner,
                    connecting=partial(self._connecting.lane, silent=app.silent),
                )
            if _doubtful(app.record, result):
                await self._look()
        except Exception:
            log.exception("%s could not be probed", app.slug)
            app.not_before = clock.now().mono + app.policy.interval
        finally:
            app.probing = None
        self._notice_sleep()
        if self._apps.get(app.slug) is not app:
            return
        if result is None:
            self._plan(app)
            return
        self.asked[result.kind] += 1
        app.silent = result.kind in {Kind.TIMEOUT, Kind.DNS}
        app.winner = result.addr or app.winner
        self._take(app, Probed(result))

    def _notice_sleep(self) -> None:
        """Apply T15, before any result that the suspend has spoilt."""
        slept = clock.asleep()
        woke, self._slept = slept - self._slept > SLEPT_S, slept
        if woke:
            for app in list(self._apps.values()):
                self._take(app, Woke())

    def _rest(self, app: _App) -> None:
        if app.timer is not None:
            app.timer.cancel()
            app.timer = None
        if app.probing is not None:
            app.probing.cancel()
            app.probing = None


def _doubtful(record: Record, result: Result) -> bool:
    """Whether an app that was last seen to listen refuses: it may just have ended."""
    running = record.state in {State.UP, State.DEGRADED}
    return running and record.port is Port.OWN and result.kind is Kind.REFUSED


def _visible(record: Record) -> tuple[object, ...]:
    """The part of a record that clients see."""
    return record.state, record.reason, record.message, record.failing, record.flapping
