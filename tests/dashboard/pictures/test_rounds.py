"""Whose screenshot and favicon is due, and that none of it is a storm."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.files.schema.app import Thumb
from dashboard.health.record import State
from dashboard.pictures.album import Album
from dashboard.pictures.rounds import UNUSED_S, Pace, Rounds
from dashboard.pictures.switch import Switch
from dashboard.rendering import thumbs
from dashboard.rendering.thumbs import CachedImage, CachedImages
from tests.dashboard.health.servers import eventually
from tests.dashboard.pictures.test_commits import commit, git
from tests.dashboard.pictures.world import SHOP, Told

DOWN = replace(SHOP, state=State.DOWN)
HOUR = 3600.0
QUICK = Pace(
    after_up=0.0, between_commits=0.0, look=0.02, check=0.02, at_once=1000.0,
)  # fmt: skip


class Scene:
    """Rounds whose pictures are only noted down; the browser is any program there is.

    `cost`: the CPU seconds of each screenshot."""

    def __init__(self, pace: Pace | None = None, cost: float = 1.0) -> None:
        self.cost = cost
        self.told = Told(command="/bin/true")
        self.album = Album(self.told.thumbs.append)
        self.switch = Switch(self.told.world.config)
        self.taken: list[str] = []
        self.fetched: list[str] = []
        self.busy = self.most = 0
        self.rounds = Rounds(
            self.album, self.switch, self.told.world, pace or Pace(),
            photograph=self._take, fetch=self._fetch,
        )  # fmt: skip

    async def on(self) -> Scene:
        self.album.switch(await self.switch.look())
        return self

    async def _take(self, slug: str) -> float:
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0)
        self.taken.append(slug)
        entry = self.album.need(slug)
        entry.screenshot.record_try(time.monotonic(), done=True)
        self.busy -= 1
        return self.cost

    async def _fetch(self, slug: str) -> float:
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0)
        self.fetched.append(slug)
        self.album.need(slug).favicon.record_try(time.monotonic(), done=True)
        self.busy -= 1
        return 0.0

    def due(self) -> float | None:
        """In how many seconds the next screenshot is due."""
        found = self.rounds.next_screenshot()
        return None if found is None else round(found[0] - time.monotonic())

    def favicon_due(self) -> float | None:
        found = self.rounds.next_favicon()
        return None if found is None else round(found[0] - time.monotonic())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.rounds.run())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


def ago(seconds: float) -> CachedImages:
    """What the cache has of an app whose pictures are that old."""
    held = CachedImage('"x"', time.time() - seconds)
    return CachedImages(held, held)


async def test_the_first_screenshot_is_due_three_seconds_after_the_app_is_up():
    scene = await Scene().on()
    scene.rounds.know("shop", DOWN)
    assert scene.due() is None

    scene.rounds.know("shop", SHOP)

    assert scene.due() == 3


@pytest.mark.parametrize(
    "shown",
    [
        replace(SHOP, html=False),
        replace(SHOP, url=None),
        replace(SHOP, state=State.DEGRADED),
        replace(SHOP, thumb=Thumb(kind="favicon")),
        replace(SHOP, thumb=Thumb(kind="card")),
    ],
)
async def test_no_screenshot_is_due_of_what_has_no_page_or_wants_none(shown):
    scene = await Scene().on()
    scene.rounds.know("shop", shown)

    assert scene.due() is None


async def test_a_page_of_its_own_for_the_screenshot_may_be_html_where_the_app_is_not():
    scene = await Scene().on()

    scene.rounds.know("api", replace(SHOP, html=False, thumb=Thumb(url=f"{SHOP.url}docs")))

    assert scene.due() == 3


async def test_no_screenshot_is_due_while_screenshots_are_off():
    scene = await Scene().on()
    scene.rounds.know("shop", SHOP)
    assert scene.due() is not None

    scene.told.config = Told(command="/bin/true", enabled=False).config

    assert scene.due() is None


async def test_a_picture_younger_than_the_interval_is_not_taken_anew_when_the_app_comes_up():
    scene = await Scene().on()
    scene.album.load({"young": ago(5 * HOUR), "old": ago(7 * HOUR)})

    for slug in ("young", "old"):
        scene.rounds.know(slug, SHOP)

    assert scene.rounds.next_screenshot() is not None
    assert [slug for slug, entry in scene.album if entry.screenshot.wanted] == ["old"]


async def test_the_interval_counts_only_while_somebody_looks_and_on_mains_power():
    scene = await Scene().on()
    scene.album.load({"shop": ago(HOUR)})
    scene.rounds.know("shop", SHOP)
    assert scene.due() is None

    scene.told.clients = True
    assert scene.due() == 5 * HOUR

    scene.told.battery = True
    assert scene.due() is None


async def test_a_picture_from_the_future_counts_as_made_just_now():
    scene = await Scene().on()
    scene.told.clients = True
    scene.album.load({"shop": ago(-400 * 24 * HOUR)})

    scene.rounds.know("shop", SHOP)

    assert scene.due() == 6 * HOUR


async def test_another_address_or_another_look_is_photographed_at_once():
    scene = await Scene().on()
    scene.album.load({"shop": ago(HOUR)})
    scene.rounds.know("shop", SHOP)
    for other in (
        replace(SHOP, url="http://127.0.0.1:10/"),
        replace(SHOP, thumb=Thumb(dark=True)),
        replace(SHOP, thumb=Thumb(url="http://127.0.0.1:9/shop")),
    ):
        scene.rounds.know("shop", SHOP)
        scene.album.need("shop").screenshot.record_try(time.monotonic(), done=True)
        assert scene.due() is None

        scene.rounds.know("shop", other)

        assert scene.due() == 3


async def test_a_new_name_alone_is_no_reason_for_a_screenshot():
    scene = await Scene().on()
    scene.album.load({"shop": ago(HOUR)})
    scene.rounds.know("shop", SHOP)

    scene.rounds.know("shop", replace(SHOP, name="Store"))

    assert scene.due() is None


async def test_what_failed_is_tried_again_once_the_app_is_back():
    scene = await Scene().on()
    scene.rounds.know("shop", SHOP)
    scene.album.need("shop").screenshot.record_try(time.monotonic(), done=False)
    scene.rounds.know("shop", DOWN)
    assert scene.due() is None

    scene.rounds.know("shop", SHOP)

    assert scene.due() == 3


async def test_a_new_commit_is_photographed_and_the_commit_found_first_is_not(tmp_path: Path):
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    scene = await Scene(QUICK).on()
    scene.album.load({"shop": ago(HOUR)})
    scene.rounds.know("shop", replace(SHOP, repository=tmp_path))

    async with scene.running():
        await eventually(lambda: scene.album.need("shop").head is not None)
        assert scene.taken == []
        commit(tmp_path)
        await eventually(lambda: scene.taken == ["shop"])


async def test_many_commits_make_one_screenshot_a_minute(tmp_path: Path):
    git(tmp_path, "init", "-q")
    scene = await Scene(replace(QUICK, between_commits=60.0)).on()
    scene.album.load({"shop": ago(10)})
    scene.rounds.know("shop", replace(SHOP, repository=tmp_path))

    async with scene.running():
        await eventually(lambda: scene.album.need("shop").head is not None)
        commit(tmp_path)
        await eventually(lambda: scene.due() is not None)

    assert scene.due() in {49, 50}
    assert scene.taken == []


async def test_forty_apps_at_once_are_taken_one_page_at_a_time_until_their_share_is_spent():
    scene = await Scene(replace(QUICK, at_once=4.0, share=1e-6), cost=1.0).on()

    async with scene.running():
        for number in range(40):
            scene.rounds.know(f"app-{number}", SHOP)
        await eventually(lambda: len(scene.taken) == 5)
        await eventually(lambda: scene.due() is not None)

    assert (len(set(scene.taken)), scene.most) == (5, 1)


async def test_what_was_only_found_is_photographed_while_somebody_looks_and_not_before():
    scene = await Scene(QUICK).on()
    found = replace(SHOP, declared=False)
    scene.rounds.know("found", found)
    scene.rounds.know("declared", SHOP)
    assert [slug for _, slug in (scene.rounds.next_screenshot() or (0, ""),)] == ["declared"]

    async with scene.running():
        await eventually(lambda: scene.taken == scene.fetched == ["declared"])
        assert scene.due() is scene.favicon_due() is None
        scene.told.clients = True
        await eventually(lambda: scene.taken == scene.fetched == ["declared", "found"])


class DrivenLoop(asyncio.SelectorEventLoop):
    """A loop that never waits: its clock goes on by what it would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000_000.0
        wait = self._selector.select  # type: ignore[attr-defined]

        def select(timeout: float | None) -> object:
            self.now += (timeout or 0.0) + 1e-6
            return wait(0)

        self._selector.select = select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self.now


@pytest.mark.parametrize("cost", [0.6, 1.5, 6.0])
@pytest.mark.parametrize("watched", [True, False])
def test_sixty_apps_that_come_and_go_cost_no_more_than_a_twentieth_of_a_core_over_an_hour(
    monkeypatch, cost, watched
):
    loop = DrivenLoop()
    clock = SimpleNamespace(monotonic=loop.time, time=time.time)
    monkeypatch.setattr("dashboard.pictures.rounds.time", clock)
    monkeypatch.setattr(sys.modules[__name__], "time", clock)

    async def hour() -> Scene:
        scene = Scene(cost=cost)
        scene.told.clients = watched
        await scene.on()
        async with scene.running():
            until = loop.time() + HOUR
            while loop.time() < until:
                for number in range(60):
                    scene.album.drop(f"app-{number}")
                    scene.rounds.know(f"app-{number}", replace(SHOP, declared=number < 20))
                await asyncio.sleep(60)
        return scene

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        scene = runner.run(hour())

    assert scene.most == 1
    assert 5 < len(scene.taken) * cost <= 0.05 * HOUR


async def test_declared_apps_go_before_those_that_were_only_found():
    scene = await Scene(replace(QUICK, after_up=-1.0)).on()
    scene.told.clients = True
    for slug, declared in (("a-found", False), ("b-declared", True), ("c-found", False)):
        scene.rounds.know(slug, replace(SHOP, declared=declared))

    order = []
    for _ in range(3):
        following = scene.rounds.next_screenshot()
        assert following is not None
        order.append(following[1])
        scene.album.need(following[1]).screenshot.record_try(time.monotonic(), done=True)

    assert order == ["b-declared", "a-found", "c-found"]


async def test_an_app_that_was_found_and_is_due_goes_before_a_declared_one_that_is_not():
    scene = await Scene().on()
    scene.told.clients = True
    scene.rounds.know("found", replace(SHOP, declared=False))
    scene.album.need("found").screenshot.wanted = 0.0
    scene.rounds.know("declared", SHOP)

    assert (scene.rounds.next_screenshot() or ("", ""))[1] == "found"


async def test_of_what_is_not_due_yet_the_earliest_is_next_whoever_it_is():
    scene = await Scene().on()
    scene.told.clients = True
    scene.rounds.know("declared", SHOP)
    scene.rounds.know("found", replace(SHOP, declared=False))
    scene.album.need("declared").screenshot.wanted = time.monotonic() + 60

    assert (scene.rounds.next_screenshot() or ("", ""))[1] == "found"


async def test_a_favicon_is_fetched_when_the_app_is_up_and_hourly_while_somebody_looks():
    scene = await Scene().on()
    scene.rounds.know("shop", SHOP)
    assert scene.favicon_due() == 3
    scene.album.need("shop").favicon.record_try(time.monotonic(), done=True)
    assert scene.favicon_due() is None

    scene.told.clients = True

    assert HOUR <= (scene.favicon_due() or 0) <= 1.25 * HOUR


async def test_the_hours_of_many_apps_part():
    scene = await Scene().on()
    scene.told.clients = True
    hours = set()
    for number in range(20):
        scene.rounds.know(f"app-{number}", SHOP)
        scene.album.need(f"app-{number}").favicon.record_try(time.monotonic(), done=True)
        hours.add(scene.favicon_due())
        scene.album.drop(f"app-{number}")

    assert len(hours) > 10


async def test_no_favicon_is_fetched_that_nobody_would_see():
    scene = await Scene().on()
    scene.album.load({"shot": ago(HOUR)})
    scene.rounds.know("shot", SHOP)
    scene.rounds.know("card", replace(SHOP, thumb=Thumb(kind="card")))
    scene.rounds.know("json", replace(SHOP, html=False))
    scene.rounds.know("down", DOWN)
    for _, entry in scene.album:
        entry.favicon.wanted = 0.0

    assert scene.favicon_due() is None

    scene.album.switch(False)
    assert scene.favicon_due() is not None


async def test_pictures_nobody_asks_for_go_after_a_week():
    scene = await Scene(QUICK).on()
    for slug in ("gone", "back", "used"):
        thumbs.keep(slug, "favicon", b"x")
    scene.rounds.know("used", SHOP)
    scene.album.load({"gone": ago(UNUSED_S + 1), "back": ago(60), "used": ago(UNUSED_S + 1)})

    async with scene.running():
        await eventually(lambda: thumbs.read_cached("gone") == CachedImages())

    assert thumbs.read_cached("back").favicon
    assert thumbs.read_cached("used").favicon


async def test_a_browser_that_is_installed_later_is_found(tmp_path: Path):
    browser = tmp_path / "browser"
    scene = Scene(QUICK)
    scene.told.config = Told(command=str(browser)).config
    scene.rounds.know("shop", SHOP)

    async with scene.running():
        await eventually(lambda: scene.fetched)
        assert scene.taken == []
        browser.write_text("#!/bin/sh\n")
        browser.chmod(0o755)
        await eventually(lambda: scene.taken == ["shop"])
