"""S14 and S15: what everything uses at rest after a day's work.

The day: 500 dev servers that come in rounds of 100, are discovered, looked at and stopped again,
100 runbook turns, and 1,000 event streams, all while one page of apps is open. Nothing is
restarted before the measurement, and the page stays open.
See docs/design/dashboard.md#what-apps-and-a-day-cost
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.chats_bench import QUICK
from bench.dashboard.crowd import targets
from bench.figures import Figure, bounded_figure
from bench.timing import busy
from config.process import vitals
from tests.dashboard.served import Served
from tests.service import until
from tests.wire import EventClient

ROUNDS, APPS, TURNS, CHATS, STREAMS = 5, 100, 100, 10, 1000
LOOK_S, SETTLE_S, WATCH_S = 0.5, 150, 60
PAGES = ("/", "/projects/alpha", "/review/", "/dashboard/")


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, day(Path(folder)) as service:
        time.sleep(SETTLE_S)
        family = service.family()
        used = busy([one.pid for one in family], WATCH_S)
        held = vitals.memory(service.family()) / 1e6
    what = f"{SETTLE_S} s after a day, one page open, all processes"
    return [
        bounded_figure("S14", f"{what}: memory", held, 320, unit="MB"),
        bounded_figure("S15", f"{what}: CPU over {WATCH_S} s", used, 1, unit="%"),
    ]


@contextlib.contextmanager
def day(folder: Path) -> Iterator[Served]:
    """A service that has done the work of a day; the page of apps is still open."""
    with (
        Served(folder, dashboard={"screenshots": {"enabled": "auto"}}, scheduler=True) as service,
        service.events(),
    ):
        for number in range(ROUNDS):
            _apps_come_and_go(service, folder / f"round-{number}")
        _turns(service)
        _streams(service)
        for page in PAGES:
            service.http.get(page, follow_redirects=True).raise_for_status()
        yield service


def _apps_come_and_go(service: Served, folder: Path) -> None:
    """Start servers, wait until all are discovered, and end them; the page reads each app again,
    as it does when the state of an app changes."""
    with targets(APPS, folder) as ports:
        _looks(service, ports, APPS)
        found = [app for app in service.state()["apps"] if app["port"] in ports]
        for app in found:
            service.api.get(f"/api/apps/{app['slug']}").raise_for_status()
            service.api.get(f"/api/apps/{app['slug']}/thumb").raise_for_status()
    _looks(service, ports, 0)


def _looks(service: Served, ports: list[int], count: int) -> None:
    """Read the state, as the page does, until this many of the ports are apps."""

    def there() -> bool:
        time.sleep(LOOK_S)
        return sum(app["port"] in ports for app in service.state()["apps"]) == count

    until(there, seconds=120, what=f"{count} of {len(ports)} servers are apps")


def _turns(service: Served) -> None:
    service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    route = "/api/projects/alpha/chats"
    for _ in range(CHATS):
        chat = service.http.post(route, json={}).raise_for_status().json()["chat"]["sessionId"]
        for number in range(1, TURNS // CHATS + 1):
            sent = {"prompt": QUICK}
            service.http.post(f"{route}/{chat}/messages", json=sent).raise_for_status()
            path = service.projects / "alpha" / ".chats" / f"{chat}.jsonl"
            ended = b'"type":"turn_end"'
            until(lambda: path.read_bytes().count(ended) >= number, seconds=30)  # noqa: B023


def _streams(service: Served) -> None:
    clients = [EventClient(service.ports["main"], "/api/events") for _ in range(STREAMS)]
    for client in clients:
        client.connect()
    for client in clients:
        client.read()
        client.close()
