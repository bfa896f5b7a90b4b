"""What is shown of an app, served and forgotten; nothing here needs a browser (case D49)."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image

from config.errors import Conflict, NotFound
from dashboard.files.schema.app import Thumb, ThumbKind
from dashboard.files.schema.group import BookmarkLink, Group
from dashboard.health.record import State
from dashboard.pictures import Gallery
from dashboard.rendering import thumbs
from tests.dashboard.health.servers import answers, eventually, serving
from tests.dashboard.pictures.world import SHOP, Told, config
from tests.dashboard.rendering import pictures
from tests.dashboard.rendering.sites import PAGE, site

KINDS: tuple[ThumbKind, ...] = ("auto", "favicon", "screenshot", "card")


@pytest.fixture
def told() -> Told:
    return Told(command="/bin/true")


@pytest_asyncio.fixture
async def gallery(told: Told) -> AsyncIterator[Gallery]:
    made = Gallery(told.world)
    await made.begin()
    yield made
    await made.close()


def keep(slug: str, kind: str = "screenshot", angle: int = 0) -> None:
    """An image of the app in the cache, as an earlier run left it."""
    shades = Image.linear_gradient("L").convert("RGB").rotate(angle).resize((1280, 800))
    if kind == "screenshot":
        thumbs.keep_screenshot(slug, pictures.saved(shades, "PNG"))
    else:
        thumbs.keep(slug, "favicon", pictures.saved(shades.resize((640, 400)), "PNG"))


async def test_every_kind_of_every_app_has_the_picture_its_record_names(told):
    keep("shop")
    keep("shop", "favicon")
    keep("blog", "favicon")
    gallery = Gallery(told.world)
    await gallery.begin()

    found = {}
    for slug in ("shop", "blog", "bare"):
        for kind in KINDS:
            gallery.know(slug, replace(SHOP, thumb=Thumb(kind=kind)))
            picture = await gallery.picture(slug)
            assert (picture.kind, picture.etag) == gallery.choice(slug)
            assert pictures.read(picture.data).size == (640, 400)
            found[slug, kind] = picture.kind

    assert [found["shop", kind] for kind in KINDS] == [
        "screenshot",
        "favicon",
        "screenshot",
        "card",
    ]
    assert [found["blog", kind] for kind in KINDS] == ["favicon", "favicon", "card", "card"]
    assert [found["bare", kind] for kind in KINDS] == ["card"] * 4


@pytest.mark.parametrize("state", list(State))
async def test_an_app_keeps_its_picture_in_every_state(gallery, state):
    gallery.know("shop", replace(SHOP, state=state))

    assert (await gallery.picture("shop")).kind == "card"


async def test_an_unknown_app_has_no_picture(gallery):
    with pytest.raises(NotFound, match='No app "shop"'):
        gallery.choice("shop")
    with pytest.raises(NotFound):
        await gallery.picture("shop")


async def test_apps_told_of_before_the_cache_was_read_change_then(told):
    keep("shop")
    gallery = Gallery(told.world)
    gallery.know("shop", SHOP)
    gallery.know("bare", SHOP)
    assert gallery.choice("shop")[0] == "card"

    await gallery.begin()
    await gallery.begin()

    assert gallery.choice("shop")[0] == "screenshot"
    assert told.thumbs == ["shop"]


async def test_a_change_is_told_when_the_image_is_another_and_only_then(gallery, told):
    gallery.know("shop", SHOP)
    gallery.know("shop", replace(SHOP, state=State.DOWN, framework=None, repository=None))
    assert told.thumbs == []

    gallery.know("shop", replace(SHOP, name="Store"))

    assert told.thumbs == ["shop"]


async def test_a_new_name_changes_no_screenshot(told):
    keep("shop")
    gallery = Gallery(told.world)
    await gallery.begin()
    gallery.know("shop", SHOP)

    gallery.know("shop", replace(SHOP, name="Store"))

    assert told.thumbs == []


async def test_screenshots_switched_off_show_the_favicon_again(told):
    keep("shop")
    keep("shop", "favicon")
    gallery = Gallery(told.world)
    await gallery.begin()
    gallery.know("shop", SHOP)
    told.config = config(enabled=False)

    with pytest.raises(Conflict):
        await gallery.refresh()

    assert gallery.choice("shop")[0] == (await gallery.picture("shop")).kind == "favicon"
    assert told.thumbs == ["shop"]


async def test_a_cache_that_was_deleted_leaves_the_card_and_is_told(told, data: Path):
    keep("shop")
    gallery = Gallery(told.world)
    await gallery.begin()
    gallery.know("shop", SHOP)
    shutil.rmtree(data / "cache")

    picture = await gallery.picture("shop")

    assert (picture.kind, picture.etag) == gallery.choice("shop")
    assert picture.kind == "card"
    assert told.thumbs == ["shop"]


async def test_a_removed_app_takes_its_pictures_along_and_a_stopped_one_does_not(told):
    keep("shop")
    keep("found")
    gallery = Gallery(told.world)
    await gallery.begin()
    gallery.know("shop", SHOP)
    gallery.know("found", replace(SHOP, declared=False))
    gallery.know("shop", replace(SHOP, state=State.STOPPED))
    assert gallery.choice("shop")[0] == "screenshot"

    gallery.know("shop", None)
    gallery.know("found", None)
    gallery.know("never", None)

    await eventually(lambda: thumbs.read_cached("shop") == thumbs.CachedImages())
    gallery.know("shop", SHOP)
    gallery.know("found", replace(SHOP, declared=False))
    assert (gallery.choice("shop")[0], gallery.choice("found")[0]) == ("card", "screenshot")


async def test_a_favicon_becomes_the_picture_of_an_app_that_came_up(gallery, told):
    told.clients = True
    icon = {"/favicon.ico": ("image/png", pictures.png(64, 64))}
    async with serving(site(icon)) as server:
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{server.port}/"))

        await gallery._fetch("shop")

    assert gallery.choice("shop")[0] == "favicon"
    assert told.thumbs == ["shop"]


async def test_the_icon_that_a_file_names_is_the_picture_also_of_what_is_not_up(gallery, told):
    paths = {"/": (PAGE, b"<title>Shop"), "/favicon.ico": ("image/png", pictures.png(64, 64))}
    paths["/own.png"] = ("image/png", pictures.png(64, 64, "#2040d0"))
    async with serving(site(paths)) as server:
        url = f"http://127.0.0.1:{server.port}/"
        gallery.know("shop", replace(SHOP, url=url))
        await gallery._fetch("shop")
        first = gallery.choice("shop")
        database = replace(SHOP, url=None, html=None, state=State.STOPPED)
        gallery.know("shop", replace(database, icon=f"{url}own.png"))
        assert gallery._rounds.next_favicon() is not None
        await gallery._fetch("shop")
        own = gallery.choice("shop")

        told.forbid_private()
        gallery.know("blog", replace(database, icon=f"{url}own.png"))
        await gallery._fetch("blog")

    assert first[0] == own[0] == "favicon"
    assert first != own
    assert gallery.choice("blog")[0] == "card"


async def test_a_favicon_that_was_not_found_is_looked_for_again(gallery):
    paths = {"/": (PAGE, b"<title>Shop")}
    async with serving(site(paths)) as server:
        gallery.know("shop", replace(SHOP, url=f"http://127.0.0.1:{server.port}/"))
        await gallery._fetch("shop")
        turn = gallery._album.need("shop").favicon
        assert (turn.wanted is not None, turn.failures) == (True, 1)
        paths["/favicon.ico"] = ("image/png", pictures.png(64, 64))

        await gallery._fetch("shop")

    assert (turn.wanted, turn.failures) == (None, 0)


async def test_a_defect_leaves_the_turn_to_the_next_app(gallery, monkeypatch):
    gallery.know("shop", SHOP)

    async def broken(*_args: object, **_named: object) -> bytes:
        raise RuntimeError

    monkeypatch.setattr(gallery._camera, "take", broken)
    with pytest.raises(RuntimeError):
        await gallery._photograph("shop")

    turn = gallery._album.need("shop").screenshot
    assert (turn.failures, turn.last is not None) == (1, True)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"command": None}, "Screenshots are off: no Chromium was found. Install one or set "
                            "screenshots.command in config.yaml."),
        ({"enabled": False}, "Screenshots are off: screenshots.enabled is false in config.yaml."),
        ({"command": "/nowhere/browser"}, "Screenshots are off: screenshots.command "
                            "/nowhere/browser of config.yaml is not a program that can be run."),
        ({"command": None, "enabled": True}, "Screenshots are off: no Chromium was found. Install "
                            "one or set screenshots.command in config.yaml."),
    ],
)  # fmt: skip
async def test_a_refresh_is_refused_while_screenshots_are_off(
    gallery, told, monkeypatch, said, sentence
):
    monkeypatch.setenv("PATH", "/nowhere")
    gallery.know("shop", SHOP)
    told.config = config(**said)

    with pytest.raises(Conflict) as refused:
        await gallery.refresh(["shop"])

    assert (refused.value.text, refused.value.code) == (sentence, "screenshots_off")
    assert gallery.screenshots is False


def group(*urls: str) -> Group:
    return Group("Docs", links=tuple(BookmarkLink(url, url) for url in urls))


async def test_an_icon_is_none_at_first_then_there_and_told_under_the_groups_own_name(
    gallery, told
):
    icon = {"/favicon.ico": ("image/png", pictures.png(64, 64))}
    async with serving(site(icon)) as server:
        url = f"http://127.0.0.1:{server.port}/"
        assert await gallery.icon("docs", group(url), url) is None
        await eventually(lambda: told.icons)

        found = await gallery.icon("docs", group(url), url)

    assert told.icons == ["docs"]
    assert found is not None
    assert pictures.read(found.data).format == "PNG"


async def test_an_icon_of_an_address_that_is_no_link_of_the_group_is_not_found(gallery):
    for url in ("http://127.0.0.1:1/other", "file:///etc/passwd", "", "http://[", "mailto:a@b.c"):
        with pytest.raises(NotFound):
            await gallery.icon("docs", group("http://127.0.0.1:1/", "mailto:a@b.c"), url)


async def test_an_icon_is_not_fetched_from_within_unless_that_is_allowed(gallery, told):
    told.forbid_private()
    async with serving(answers(body=b"x")) as server:
        url = f"http://127.0.0.1:{server.port}/"
        assert await gallery.icon("docs", group(url), url) is None
        await eventually(lambda: not gallery._icons._fetching)

    assert server.heard == []


async def test_an_icon_that_redirects_to_a_metadata_address_is_none(gallery, told):
    away = answers(302, headers="Location: http://169.254.169.254/latest\r\n")
    async with serving(away) as server:
        url = f"http://127.0.0.1:{server.port}/"
        await gallery.icon("docs", group(url), url)
        await eventually(lambda: not gallery._icons._fetching)
        assert await gallery.icon("docs", group(url), url) is None

    assert told.icons == []
