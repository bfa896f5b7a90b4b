"""D10: what is told of an app that flaps, misses one probe or sleeps, on a clock of its own."""

from __future__ import annotations

from bench.dashboard.sizes import Sizes
from bench.figures import Figure, counted
from dashboard.health.evidence import Woke
from dashboard.health.record import Port, State
from dashboard.health.result import Kind
from tests.dashboard.health.world import App, up

MOST_EVENTS = 20


def figures(_sizes: Sizes) -> list[Figure]:
    return [
        counted("D10", "events of an app that flaps at 1 Hz for 10 min", _flapping(), MOST_EVENTS),
        counted("D10", "events of one lost probe in an hour", _one_lost()),
        *_slept(),
    ]


def _flapping() -> int:
    app = App(always=True, failures=1)
    app.probe(Kind.OK)
    for second in range(600):
        app.wait(1 - 1e-6)
        app.probe((Kind.TIMEOUT, Kind.OK)[second % 2], after=1e-6)
    app.wait(1200)
    assert app.notices[-1] == app.record.state.value
    return len(app.notices)


def _one_lost() -> int:
    app = up(always=True)
    for probe in range(120):
        app.probe(Kind.TIMEOUT if probe == 60 else Kind.OK, after=30)
    return len(app.events)


def _slept() -> list[Figure]:
    """The probe that the sleep cut off failed; the clock of the machine went on without it."""
    app = up(always=True)
    app.probe(Kind.TIMEOUT)
    app.now += 3600
    app.tell(Woke())
    app.scan(Port.OWN)
    app.probe(Kind.OK, after=3)
    app.wait(300)
    downs = [edge for edge in app.edges if edge.after is State.DOWN]
    return [
        counted("D10", "events of an hour of sleep", len(app.notices)),
        counted("D10", "times it was down, by its history", len(downs)),
    ]
