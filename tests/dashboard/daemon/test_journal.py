"""The journal says of a listener what is known by now, not what was at its first scan."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from dashboard.daemon import Daemon
from dashboard.daemon.translation import Remembered
from dashboard.files import layout
from dashboard.listeners.observed import ASKED_S
from tests.dashboard.registry.world import listener, look, seen
from tests.service import free_port, until

pytestmark = pytest.mark.django_db(transaction=True)

CONFIG = """
screenshots: {{enabled: false}}
scan: {{ports: "{port}", interval: 60s}}
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    """A dev server that is nobody's child, so that it is not taken for our own; its port."""
    port, cwd = free_port(), tmp_path / "src"
    cwd.mkdir()
    (cwd / "index.html").write_text("<title>Corner shop</title>")
    command = f"{sys.executable} -m http.server {port} --bind 127.0.0.1 >/dev/null 2>&1 & echo $!"
    started = subprocess.run(
        ["/bin/sh", "-c", command], cwd=cwd, capture_output=True, text=True, check=True
    )
    yield port
    os.kill(int(started.stdout), signal.SIGKILL)


def remembered() -> dict[str, Any]:
    """The one entry on disk, {} when there is none."""
    with contextlib.suppress(FileNotFoundError):
        found = orjson.loads((layout.state_dir() / "running.json").read_bytes())["listeners"]
        return dict(*found)
    return {}


def test_a_title_and_a_slug_that_come_later_reach_it_before_the_next_scan(
    daemon: Daemon, home: Path, server: int
) -> None:
    (home / "config.yaml").write_text(CONFIG.format(port=server))
    daemon.start()
    assert daemon.loaded.wait(10)

    def seen() -> list[dict[str, Any]]:
        daemon.wait(daemon.state.scanning.now)
        return [{**one} for one in daemon.ask(daemon.views.observed)["observed"]]

    until(seen, what="the listener")
    begun = time.monotonic()
    until(remembered, what="its first entry")
    until(lambda: time.monotonic() - begun > ASKED_S[0], what="time to ask it")
    daemon.wait(daemon.state.scanning.now)  # the last one: what it says comes in between two scans

    known = until(lambda: (now := remembered())["slug"] and now, seconds=20)

    assert (known["slug"], known["identity"]["title"]) == ("src", "Corner shop")


def test_a_service_that_was_stopped_since_the_scan_leaves_it_with_the_next(
    daemon: Daemon, home: Path
) -> None:
    port = free_port()
    (home / "config.yaml").write_text(CONFIG.format(port=port) + "lost: {grace: 0s}\n")
    command = f"exec {sys.executable} -m http.server {port} --bind 127.0.0.1"
    text = f"port: {port}\nservice: {{command: '{command}', cwd: {home}}}\n"
    (home / "apps" / "stops.yaml").write_text(text)
    daemon.start()
    assert daemon.loaded.wait(10)
    services = daemon.state.services
    daemon.wait(services.act, "stops", "start")
    daemon.wait(daemon.state.scanning.now)
    until(lambda: remembered().get("service"), what="it in the journal")

    daemon.wait(services.act, "stops", "stop")
    daemon.wait(daemon.state.scanning._take_over)  # other news, before a scan has seen it gone
    daemon.wait(daemon.state.scanning.now)

    until(lambda: not remembered(), what="it out of the journal")


def test_every_listener_of_a_service_is_remembered_as_that_of_its_app() -> None:
    both = listener(3000), listener(3001)
    text = "port: 3000\nservice: {command: x, cwd: /src/shop, autostart: true}\n"

    found = Remembered().of(
        look({"shop": text}, *both, pids={"shop": {7}}), seen(*both), {"shop": {7}}
    )

    assert [(one.port, one.slug, one.service, one.autostart) for one in found] == [
        (3000, "shop", True, True),
        (3001, "shop", True, True),
    ]
