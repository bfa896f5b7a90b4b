"""The metrics of the dashboard for GET /metrics: apps by state, probes by result."""

from __future__ import annotations

from collections.abc import Iterator

from config.metrics import Metric, by
from dashboard.daemon import current
from dashboard.health.record import State
from dashboard.health.result import Kind


def measure() -> Iterator[Metric]:
    """The metrics. Unavailable while the daemon is still loading."""
    now = current()
    runner = now.state.runner
    states = {str(state): 0.0 for state in State} | dict(now.ask(runner.states))
    yield Metric("gauge", "svc_apps", "Apps that are watched, by state", by("state", states))
    kinds = {str(kind): 0.0 for kind in Kind} | dict(runner.asked)
    meaning = "Probes since the server's start, by what they found"
    yield Metric("counter", "svc_probes", meaning, by("result", kinds))
