"""One app under a clock that the test moves: evidence in, states and events out."""

from __future__ import annotations

from dashboard.health import schedule, states
from dashboard.health.clock import Moment
from dashboard.health.evidence import Edge, Event, Evidence, Notice, Probed, Scanned, Tick
from dashboard.health.record import LastKnown, Policy, Port, Reason, State, born
from dashboard.health.result import BAD, FINE, Kind, Result

START = 1_000.0
EPOCH = 1_790_000_000.0
STATUS = {Kind.OK: 200, Kind.REDIRECT: 301, Kind.AUTH: 401, Kind.SERVER_ERROR: 500}
STATUS |= {Kind.GATEWAY: 502, Kind.STATUS: 418, Kind.BODY: 200}


def found(
    kind: Kind,
    at: float,
    *,
    ms: float = 5.0,
    there: bool | None = None,
    lived: float | None = None,
) -> Result:
    """A result of that kind from a probe that began at `at`. `there`: a timeout was connected."""
    answered = kind in FINE | BAD
    return Result(
        began=at,
        at=EPOCH + at,
        kind=kind,
        status=STATUS.get(kind),
        ms=ms if answered else None,
        addr="127.0.0.1" if answered or there else None,
        error=None if kind in FINE else kind.value,
        lived=lived,
    )


class App:
    """The machine and the schedule of one app. Every call returns the events it caused."""

    def __init__(
        self,
        *,
        known: State | None = None,
        reason: Reason | None = None,
        slug: str = "shop",
        **policy,
    ) -> None:
        self.slug, self.policy, self.now = slug, Policy(**policy), START
        before = LastKnown(known, EPOCH, reason) if known else None
        self.record = born(self.moment, self.policy, before)
        self.events: list[Event] = []

    @property
    def moment(self) -> Moment:
        return Moment(self.now, EPOCH + self.now)

    @property
    def is_(self) -> tuple[str, str]:
        return self.record.state.value, self.record.reason.value

    @property
    def notices(self) -> list[str]:
        return [event.state.value for event in self.events if isinstance(event, Notice)]

    @property
    def edges(self) -> list[Edge]:
        return [event for event in self.events if isinstance(event, Edge)]

    def tell(self, evidence: Evidence) -> list[str]:
        """One step; the states of the notices it caused."""
        self.record, events = states.step(self.record, evidence, self.moment, self.policy)
        self.events += events
        return [event.state.value for event in events if isinstance(event, Notice)]

    def probe(self, kind: Kind, *, after: float = 1.0, **more) -> list[str]:
        """A probe that begins `after` seconds later and answers at once."""
        self.now += after
        return self.tell(Probed(found(kind, self.now, **more)))

    def probes(self, *kinds: Kind, **more) -> list[str]:
        return [notice for kind in kinds for notice in self.probe(kind, **more)]

    def scan(self, port: Port, times: int = 1) -> list[str]:
        notices = []
        for _ in range(times):
            self.now += 2.0
            notices += self.tell(Scanned(port))
        return notices

    def wait(self, seconds: float) -> list[str]:
        """Time passes; ticks come when the machine asks for them."""
        end, notices = self.now + seconds, []
        while (due := states.due(self.record)) is not None and due <= end:
            self.now = max(self.now, due)
            notices += self.tell(Tick())
        self.now = end
        return notices

    def next_probe(self) -> float | None:
        """Seconds until the next probe."""
        at = schedule.next_probe(self.slug, self.record, self.policy)
        return None if at is None else at - self.now


def up(**policy) -> App:
    """An app that is up, with nothing told yet."""
    app = App(**policy)
    app.tell(Scanned(Port.OWN))
    app.probe(Kind.OK)
    app.events.clear()
    return app


def down(**policy) -> App:
    """An alarm app that is down because nothing listens."""
    app = App(always=True, **policy)
    app.tell(Scanned(Port.EMPTY))
    app.probe(Kind.REFUSED)
    app.events.clear()
    return app


def stopped(**policy) -> App:
    """A quiet app that is not running."""
    app = App(**policy)
    app.tell(Scanned(Port.EMPTY))
    app.probe(Kind.REFUSED)
    app.events.clear()
    return app
