"""A turn reaches the apps of its directory and those of its event, and learns of no other."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.errors import NotFound
from config.mcp import turn_tools
from dashboard import daemon as daemons
from dashboard.daemon import Daemon
from dashboard.files import reading
from dashboard.mcp.turn_tools import REGISTRY
from dashboard.operations import turns
from dashboard.operations.turns import Reach
from tests.dashboard.served import NO_PICTURES
from tests.service import until, within_block

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def work(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """The directory of a turn; a daemon that knows an app in it, one below it and one elsewhere."""
    settings.DATA_DIR = tmp_path / "data"
    apps = tmp_path / "data" / "dashboard" / "apps"
    apps.mkdir(parents=True)
    (apps.parent / "config.yaml").write_text(yaml.safe_dump(within_block(NO_PICTURES)))
    work = tmp_path / "work"
    for slug, place in (("own", "work"), ("deep", "work/web"), ("other", "workshop")):
        (tmp_path / place).mkdir(exist_ok=True)
        command = f'echo said by {slug}; exec {sys.executable} -c "import time; time.sleep(600)"'
        (apps / f"{slug}.yaml").write_text(
            f"name: {slug}\nservice:\n  command: {command!r}\n  cwd: {tmp_path / place}\n"
        )
    reading.clear()
    daemon = Daemon()
    daemon.start()
    assert daemon.loaded.wait(10)
    daemons.serve(daemon)
    until(lambda: daemon.ask(daemon.state.services.slugs) == {"own", "deep", "other"})
    yield work
    for slug in ("own", "deep", "other"):
        daemon.wait(daemon.state.services.act, slug, "stop")
    daemons.serve(None)
    daemon.stop()
    reading.clear()


def slugs(reach: Reach) -> list[str]:
    return [one["slug"] for one in turns.find_app(reach)["apps"]]


def test_it_finds_what_is_started_in_its_directory_and_what_its_event_names(work: Path):
    assert sorted(slugs(Reach((work,)))) == ["deep", "own"]
    assert slugs(Reach((work / "web",))) == ["deep"]
    assert sorted(slugs(Reach((work / "web",), ("other",)))) == ["deep", "other"]
    assert sorted(slugs(Reach((work / "web", work.parent / "workshop")))) == ["deep", "other"]
    link = work.parent / "link"
    link.symlink_to(work)
    assert sorted(slugs(Reach((link,)))) == ["deep", "own"]


@pytest.mark.parametrize("slug", ["other", "nothing"])
def test_of_an_app_elsewhere_it_does_not_learn_that_it_exists(work: Path, slug: str):
    reach = Reach((work,))
    calls: list[Callable[[], object]] = [
        lambda: turns.app_logs(reach, slug=slug, lines=10),
        lambda: turns.act(reach, slug=slug, action="start"),
        lambda: asyncio.run(turns.wait_for_app(reach, slug=slug, state="up", timeout_seconds=0)),
    ]

    for call in calls:
        with pytest.raises(NotFound) as refused:
            call()
        assert refused.value.text == f'No app "{slug}".'


def test_it_starts_reads_waits_and_stops(work: Path):
    reach = Reach((work,))

    assert turns.act(reach, slug="own", action="start")["ok"]
    found = asyncio.run(turns.wait_for_app(reach, slug="own", state="up", timeout_seconds=30))
    told = turns.app_logs(reach, slug="own", lines=5).wire()
    stopped = turns.act(reach, slug="own", action="stop")

    assert found["ok"]
    assert told["lines"] == ["said by own"]
    assert (stopped["ok"], stopped["status"]) == (True, "stopped")


def test_reading_is_free_and_acting_asks():
    kinds = {one.name: turn_tools.KINDS[one.group] for one in REGISTRY}

    assert turn_tools.registries()["apps"] is REGISTRY
    assert kinds == {
        "find_app": "R", "wait_for_app": "R", "app_logs": "R",
        "start_app": "X", "stop_app": "X", "restart_app": "X",
    }  # fmt: skip
