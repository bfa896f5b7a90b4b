"""The other machines in the page of apps: there while there are any, and kept up by the stream."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from config import __version__
from tests.browser.test_dashboard import opened, sound
from tests.postgres import Cluster, postgres  # noqa: F401 - a fixture
from tests.redis import Redis
from tests.service import Service

BLUE = {
    "name": "Blue", "version": __version__, "dashboard": "https://blue.example/",
    "apps": {"up": 12, "down": 1, "stopped": 4},
}  # fmt: skip
GREEN = {"name": "Green room", "version": "0.50.0", "apps": {}}


class Speakers:
    """Nodes that say the same again and again, as long as they live."""

    def __init__(self, server: Redis) -> None:
        self._url, self._said = server.url, dict[str, dict[str, Any]]()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._speak)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def say(self, node: str, told: dict[str, Any]) -> None:
        self._said[node] = told

    def kill(self, node: str) -> None:
        """It says nothing any more; what it said last stays."""
        del self._said[node]

    def _speak(self) -> None:
        import redis

        beat = 0
        with redis.from_url(self._url) as client:
            while not self._ended.wait(0.1):
                beat += 1
                for node, told in [*self._said.items()]:
                    with suppress(redis.RedisError):
                        client.hset("svc:nodes", node, json.dumps(told | {"beat": beat}))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    pytest.importorskip("redis", reason="pip install -r requirements-cluster.txt")
    running = Redis(tmp_path_factory.mktemp("redis")).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def shared_service(
    tmp_path_factory: pytest.TempPathFactory,
    server: Redis,
    postgres: Cluster,  # noqa: F811
) -> Iterator[Service]:
    env = {
        "SVC_DATABASE_URL": postgres.copy_of_migrated(),
        "SVC_REDIS_URL": server.url,
        "SVC_TEST_BEAT_S": "1",
    }
    folder: Path = tmp_path_factory.mktemp("nodes")
    with Service(folder, env=env, scheduler=False) as running:
        yield running


@pytest.fixture
def speakers(server: Redis) -> Iterator[Speakers]:
    with Speakers(server) as speaking:
        yield speaking


def machines(page: Page) -> Locator:
    return page.get_by_role("list", name="Other machines")


@pytest.mark.slow
def test_the_section_is_there_while_there_are_others_and_follows_them_without_a_reload(
    page: Page, speakers: Speakers
) -> None:
    opened(page)
    expect(page.get_by_role("heading", name="Other machines")).to_be_hidden()

    speakers.say("b" * 16, BLUE)
    expect(machines(page)).to_contain_text("Blue")

    row = machines(page).get_by_role("listitem").filter(has_text="Blue")
    expect(row).to_contain_text("Up")
    expect(row).to_contain_text(re.compile("12 up.*1 down.*4 stopped"))
    link = row.get_by_role("link", name="Open the dashboard of Blue")
    assert link.get_attribute("href") == "https://blue.example/"

    speakers.say("b" * 16, BLUE | {"apps": {"up": 13}})
    expect(row).to_contain_text("13 up")
    speakers.kill("b" * 16)
    expect(row).to_contain_text(re.compile(r"Gone since \d\d:\d\d; then 13 up"))
    expect(row.locator(".badge")).to_have_count(0)


@pytest.mark.slow
def test_another_version_is_said_and_a_node_without_an_address_has_no_link(
    page: Page, speakers: Speakers
) -> None:
    speakers.say("c" * 16, GREEN)
    opened(page)

    row = machines(page).get_by_role("listitem").filter(has_text="Green room")
    expect(row).to_contain_text(f"svc 0.50.0, here {__version__}")
    expect(row.get_by_role("link")).to_have_count(0)


@pytest.mark.slow
def test_while_the_redis_is_away_it_is_said_and_nobody_is_called_gone(
    page: Page, speakers: Speakers, server: Redis
) -> None:
    speakers.say("b" * 16, BLUE)
    opened(page)
    row = machines(page).get_by_role("listitem").filter(has_text="Blue")
    expect(row).to_contain_text("Up")

    server.stop()
    try:
        expect(page.get_by_text("The Redis does not answer")).to_be_visible()
        expect(row).to_contain_text("Not heard since")
    finally:
        server.start()

    expect(row).to_contain_text("Up")
    expect(page.get_by_text("The Redis does not answer")).to_be_hidden()


@pytest.mark.slow
def test_the_section_fits_and_has_no_axe_violation(
    look: BrowserContext, speakers: Speakers, axe: str
) -> None:
    speakers.say("b" * 16, BLUE)
    speakers.say("c" * 16, GREEN)
    speakers.say("d" * 16, BLUE | {"name": "A long name " * 6, "apps": {"degraded": 2}})
    page = opened(look.new_page())
    expect(machines(page).get_by_role("listitem").filter(has_text="A long name")).to_be_visible()
    speakers.kill("d" * 16)
    gone = machines(page).get_by_role("listitem").filter(has_text="A long name")
    expect(gone).to_contain_text("Gone since")
    expect(machines(page)).to_contain_text("Green room")
    sound(page, axe)
