"""Which image an app has: always one, of the kind wanted where there is one (case D49)."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from config.errors import Invalid
from dashboard.rendering import card, images, thumbs
from dashboard.rendering.thumbs import Subject
from tests.dashboard.health.servers import closed_port, serving
from tests.dashboard.rendering import pictures
from tests.dashboard.rendering.sites import site

SHOP = Subject("shop", "Shop", "Django")


def page(hue: int = 0) -> bytes:
    shades = Image.linear_gradient("L").convert("RGB").rotate(hue)
    return pictures.saved(shades.resize((1280, 800)), "PNG")


async def favicon(side: int) -> bool:
    paths = {"/favicon.ico": ("image/png", pictures.png(side, side))}
    async with serving(site(paths)) as server:
        return await thumbs.refresh_favicon("shop", f"http://127.0.0.1:{server.port}/")


@pytest.mark.parametrize("kind", ["auto", "favicon", "screenshot", "card"])
def test_every_kind_has_an_image_before_anything_was_fetched(kind):
    found = thumbs.picture(SHOP, kind=kind)

    assert (found.kind, found.type) == ("card", "image/png")
    assert pictures.read(found.data).size == (640, 400)
    assert re.fullmatch(r'"[0-9a-f]{32}"', found.etag)


def test_the_tag_of_a_card_is_known_without_drawing_and_changes_with_what_it_shows(monkeypatch):
    monkeypatch.setattr(card, "card", None)
    subjects = [
        SHOP,
        replace(SHOP, slug="store"),
        replace(SHOP, name="Store"),
        replace(SHOP, framework=None),
        replace(SHOP, color="#ff0000"),
    ]

    tags = [thumbs.card_tag(subject) for subject in subjects]

    assert len(set(tags)) == len(subjects)
    assert thumbs.card_tag(replace(SHOP)) == tags[0]


async def test_what_is_shown_is_known_from_the_tags_alone():
    await favicon(64)
    thumbs.keep_screenshot("shop", page())
    kept = thumbs.all_kept()["shop"]
    assert kept == thumbs.read_cached("shop")

    for kind in ("auto", "favicon", "screenshot", "card"):
        for on in (True, False):
            found = thumbs.picture(SHOP, kind=kind, screenshots=on)
            assert kept.choice(SHOP, kind, screenshots=on) == (found.kind, found.etag)


def test_a_foreign_file_in_the_cache_is_no_picture(data: Path):
    thumbs.keep_screenshot("shop", page())
    (data / "cache/dashboard/thumbs/Not A Slug.png").write_bytes(b"x")
    (data / "cache/dashboard/thumbs/empty.png").write_bytes(b"")

    assert thumbs.all_kept().keys() == {"shop", "empty"}
    assert thumbs.all_kept()["empty"] == thumbs.CachedImages()


async def test_the_screenshot_comes_before_the_favicon_and_that_before_the_card():
    assert await favicon(64)
    assert thumbs.picture(SHOP).kind == "favicon"
    assert thumbs.keep_screenshot("shop", page())
    assert thumbs.picture(SHOP).kind == "screenshot"
    assert thumbs.picture(SHOP).type == "image/webp"
    assert thumbs.picture(SHOP, screenshots=False).kind == "favicon"
    assert thumbs.picture(SHOP, kind="favicon").kind == "favicon"
    assert thumbs.picture(SHOP, kind="card").kind == "card"


async def test_every_kept_image_is_640_by_400_and_below_the_limit():
    await favicon(512)
    thumbs.keep_screenshot("shop", page())

    for kind in ("favicon", "screenshot"):
        found = thumbs.picture(SHOP, kind=kind)
        assert found.kind == kind
        assert pictures.read(found.data).size == (640, 400)
        assert len(found.data) <= 300 << 10


async def test_a_favicon_below_48_pixels_makes_no_plate():
    assert not await favicon(47)
    assert thumbs.picture(SHOP).kind == "card"
    assert await favicon(48)


async def test_the_icon_of_a_file_makes_a_plate_of_any_size_from_an_address_or_below_home(
    data: Path,
):
    icons = data / "dashboard/icons"
    icons.mkdir(parents=True)
    (icons / "shop.png").write_bytes(pictures.png(24, 24))
    (data / "outside.png").write_bytes(pictures.png(24, 24))
    (icons / "led.png").symlink_to(data / "outside.png")
    (icons / "page.png").write_text("<html>")
    async with serving(site({"/i.png": ("image/png", pictures.png(24, 24))})) as server:
        url = f"http://127.0.0.1:{server.port}/i.png"
        assert not await thumbs.refresh_icon("shop", url, private=False)
        assert await thumbs.refresh_icon("shop", url, private=True)

    for path in ("icons/led.png", "icons/page.png", "icons/none.png", "../outside.png", "icons"):
        assert not await thumbs.refresh_icon("blog", f"file:{path}", private=True)
    assert await thumbs.refresh_icon("blog", "file:icons/shop.png", private=True)

    shop, blog = thumbs.picture(SHOP), thumbs.picture(replace(SHOP, slug="blog"))
    assert (shop.kind, shop.etag) == ("favicon", blog.etag)


async def test_an_app_that_does_not_answer_keeps_its_favicon():
    await favicon(64)
    before = thumbs.picture(SHOP)

    with closed_port() as port:
        assert not await thumbs.refresh_favicon("shop", f"http://127.0.0.1:{port}/")

    assert thumbs.picture(SHOP) == before


def test_a_blank_page_keeps_the_old_screenshot():
    thumbs.keep_screenshot("shop", page())
    before = thumbs.picture(SHOP)

    with pytest.raises(images.NoImage, match="blank"):
        thumbs.keep_screenshot("shop", pictures.png(1280, 800, "white"))

    assert thumbs.picture(SHOP) == before


def test_the_tag_changes_with_the_image_and_only_then():
    assert thumbs.keep_screenshot("shop", page())
    first = thumbs.picture(SHOP).etag
    assert not thumbs.keep_screenshot("shop", page())
    assert thumbs.picture(SHOP).etag == first
    assert thumbs.keep_screenshot("shop", page(90))
    assert thumbs.picture(SHOP).etag != first


async def test_a_deleted_cache_and_an_app_that_is_gone_fall_back_to_the_card(data: Path):
    await favicon(64)
    shutil.rmtree(data / "cache")
    assert thumbs.picture(SHOP).kind == "card"

    await favicon(64)
    thumbs.forget("shop")
    thumbs.forget("shop")
    assert thumbs.picture(SHOP).kind == "card"


@pytest.mark.parametrize("slug", ["..", "a/b", "A", ""])
def test_what_is_no_slug_reaches_no_file(slug):
    with pytest.raises(Invalid):
        thumbs.keep(slug, "favicon", b"x")
