"""One running service for each module here, with the dashboard on and apps declared by files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.dashboard.agents.agent import Agent
from tests.dashboard.served import served
from tests.service import Service, until

__all__ = ["served"]

QUIET = "scan: {enabled: false}\nscreenshots: {enabled: false}\n"
APPS = {
    "still": "name: Still\npaused: true\nport: 9\ntags: [web]\nnotes: Be *kind*\n",
    "sleeper": "service: {command: [sleep, '1000'], cwd: /}\n",
    "loud": "service: {command: 'echo one; echo two; exec sleep 1000', cwd: /}\n",
    "fails": "service: {command: 'echo broken; exit 3', cwd: /}\n",
}
LINKS = "name: Docs\nlinks: [{name: Django, url: 'https://docs.djangoproject.com/'}]\n"


def write(home: Path, config: str = QUIET) -> None:
    """The files of a dashboard that finds and photographs nothing by itself."""
    for name, text in APPS.items():
        _file(home / "apps" / f"{name}.yaml", text)
    _file(home / "bookmarks" / "docs.yaml", LINKS)
    _file(home / "config.yaml", config)


def _file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("agents"), scheduler=False)
    write(service.data / "dashboard")
    with service:
        state = f"{service.dashboard_url}/api/state"
        until(lambda: httpx.get(state).is_success, what="the daemon has started")
        yield service
        service.run("dashboard", "stop", "--all")


@pytest.fixture(scope="module")
def agent(running: Service) -> Iterator[Agent]:
    with Agent(running.dashboard_url) as found:
        yield found


@pytest.fixture(scope="module")
def mounted(running: Service) -> Iterator[Agent]:
    """The same dashboard under its mount of the main port."""
    with Agent(f"{running.url}/dashboard") as found:
        yield found
