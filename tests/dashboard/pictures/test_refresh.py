"""Screenshots taken now and on their rounds, by the system's Chromium."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from dashboard.files.schema.app import Thumb
from dashboard.health.record import State
from dashboard.pictures import Gallery
from dashboard.pictures.rounds import Pace
from dashboard.rendering import chromium, screenshot, thumbs
from tests.dashboard.health.servers import eventually, hangs, serving
from tests.dashboard.pictures.world import SHOP, Told
from tests.dashboard.rendering.sites import PAGE, site

CHROMIUM = chromium.find_browser(None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
BODY = b"<body style='background:#2040c0;color:white'><h1 style='font-size:200px'>Shop"
QUICK = Pace(after_up=0.1, look=0.05)


@pytest.fixture
def told() -> Told:
    return Told(command=None)


@pytest_asyncio.fixture
async def gallery(told: Told) -> AsyncIterator[Gallery]:
    made = Gallery(told.world, pace=QUICK)
    await made.begin()
    yield made
    await made.close()


@pytest.mark.slow
async def test_a_refresh_takes_every_app_that_is_up_and_counts_them(gallery, told):
    asked: list[str] = []
    async with serving(site({"/": (PAGE, BODY), "/b": (PAGE, BODY)}, asked)) as server:
        shown = replace(SHOP, url=f"http://127.0.0.1:{server.port}/", thumb=Thumb(delay=0))
        gallery.know("shop", shown)
        gallery.know("blog", replace(shown, thumb=Thumb(url=f"{shown.url}b", delay=0)))
        gallery.know("ill", replace(shown, state=State.DEGRADED))
        gallery.know("down", replace(shown, state=State.DOWN))
        gallery.know("json", replace(shown, html=False))
        gallery.know("card", replace(shown, thumb=Thumb(kind="card")))

        assert await gallery.refresh() == 2
        assert await gallery.refresh(["ill"]) == 1
        assert await gallery.refresh(["down", "json", "card", "gone"]) == 0
        assert await gallery.refresh([]) == 0

    assert sorted(told.thumbs) == ["blog", "ill", "shop"]
    assert {"/", "/b"} <= set(asked)
    for slug in ("blog", "ill", "shop"):
        picture = await gallery.picture(slug)
        assert (picture.kind, picture.type) == ("screenshot", "image/webp")
        assert (picture.kind, picture.etag) == gallery.choice(slug)


@pytest.mark.slow
async def test_a_refresh_joins_the_one_that_runs(gallery):
    asked: list[str] = []
    async with serving(site({"/shop": (PAGE, BODY)}, asked)) as server:
        shown = replace(SHOP, url=f"http://127.0.0.1:{server.port}/shop", thumb=Thumb(delay=0))
        gallery.know("shop", shown)
        gallery.know("blog", shown)

        counts = await asyncio.gather(
            gallery.refresh(), gallery.refresh(), gallery.refresh(["blog"]), gallery.refresh()
        )

    assert tuple(counts) == (2, 2, 1, 2)
    assert asked.count("/shop") == 2


@pytest.mark.slow
async def test_who_asked_may_leave_and_the_refresh_goes_on(gallery):
    async with serving(site({"/": (PAGE, BODY)})) as server:
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{server.port}/"))
        asking = asyncio.create_task(gallery.refresh())
        await eventually(lambda: gallery._refreshes)
        asking.cancel()

        assert await gallery.refresh() == 1

    assert asking.cancelled()


@pytest.mark.slow
async def test_a_blank_page_and_a_page_that_hangs_count_for_nothing_and_keep_the_old(
    gallery, told, monkeypatch
):
    async with serving(site({"/": (PAGE, BODY)})) as server:
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{server.port}/"))
        assert await gallery.refresh() == 1
    before = await gallery.picture("shop")

    async with serving(site({"/": (PAGE, b"<body>")})) as blank, serving(hangs) as silent:
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{blank.port}/"))
        assert await gallery.refresh(["shop"]) == 0
        monkeypatch.setattr(screenshot, "SECONDS", 4.0)
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{silent.port}/"))
        assert await gallery.refresh(["shop"]) == 0

    assert await gallery.picture("shop") == before
    assert told.thumbs == ["shop"]


@pytest.mark.slow
async def test_an_app_removed_while_it_is_photographed_leaves_nothing_behind(gallery, told):
    async with serving(site({"/": (PAGE, BODY)})) as server:
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{server.port}/"))
        asking = asyncio.create_task(gallery.refresh())
        await eventually(lambda: server.heard)
        gallery.know("shop", None)
        await asking

    assert thumbs.read_cached("shop") == thumbs.CachedImages()
    assert told.thumbs == []


@pytest.mark.slow
async def test_closing_ends_what_is_being_taken(gallery):
    async with serving(hangs) as server:
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{server.port}/"))
        asking = asyncio.create_task(gallery.refresh())
        await eventually(lambda: server.heard)
        await gallery.close()
        with contextlib.suppress(asyncio.CancelledError):
            await asking

    assert not gallery._refreshes
