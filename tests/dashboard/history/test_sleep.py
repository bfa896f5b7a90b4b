"""A machine that slept: nothing was down meanwhile (T15, case D26)."""

from __future__ import annotations

import pytest

from dashboard.health.evidence import Woke
from dashboard.health.result import Kind
from dashboard.history.recorder import Recorder
from dashboard.history.windows import history
from tests.dashboard.health.world import EPOCH, App
from tests.dashboard.history.world import started

pytestmark = pytest.mark.django_db
HOUR = 3600


class Recorded(App):
    """An alarm app whose results and changes a recorder hears; `slept`: seconds of suspend."""

    def __init__(self) -> None:
        super().__init__(always=True, interval=30)
        self.recorder: Recorder = started(self.wall)
        self.slept = 0

    @property
    def wall(self) -> float:
        return EPOCH + self.now + getattr(self, "slept", 0)

    def probe(self, kind: Kind, *, after: float = 1.0, **more) -> list[str]:
        seen = len(self.edges)
        notices = super().probe(kind, after=after, **more)
        fine = kind is Kind.OK
        state = self.record.state.value
        self.recorder.add("shop", self.wall, state, 900, 200 if fine else None, ok=fine)
        for edge in self.edges[seen:]:
            told = edge.before.value, edge.after.value, edge.reason.value
            self.recorder.edge("shop", edge.at + self.slept, *told)
        return notices


@pytest.mark.parametrize("first", [[Kind.OK], [Kind.TIMEOUT, Kind.REFUSED, Kind.OK]])
def test_an_hour_of_sleep_is_no_event_and_no_downtime(first: list[Kind]):
    app = Recorded()
    for _ in range(20):
        app.probe(Kind.OK, after=30)
    app.probe(Kind.TIMEOUT, after=30)  # the network goes before the machine does
    app.events.clear()

    app.slept = HOUR
    app.recorder.flush(app.wall)
    app.tell(Woke())
    assert app.is_ == ("up", "resumed")
    for kind in first:
        app.probe(kind, after=2)
    for _ in range(20):
        app.probe(Kind.OK, after=30)
    app.recorder.flush(app.wall)

    assert app.events == []
    for window in ("24h", "7d"):
        found = history("shop", window, now=app.wall)
        assert (found["seconds"]["down"], found["uptime"]) == (0, 1)
        assert found["seconds"]["unknown"] >= HOUR
        assert found["seconds"]["up"] >= 39 * 30
