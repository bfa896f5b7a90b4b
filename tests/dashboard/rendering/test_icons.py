"""Favicons are found, and bookmark icons fetched once and kept (case D49)."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from config.errors import NotFound
from dashboard.files import masks
from dashboard.files.schema.group import BookmarkLink, Group
from dashboard.rendering import favicon, fetch, icons
from dashboard.rendering.fetch import AddressRefused, NoAnswer
from dashboard.rendering.icons import Icons
from dashboard.rendering.images import NoImage
from tests.dashboard.health.servers import answers, eventually, hangs, serving
from tests.dashboard.rendering import pictures
from tests.dashboard.rendering.sites import PAGE, site

PNG = "image/png"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
)


def head(text: str) -> tuple[str, bytes]:
    return PAGE, f"<html><head>{text}</head></html>".encode()


async def found(
    paths: Mapping[str, tuple[str, bytes]], **how: int
) -> tuple[tuple[int, int], list[str]]:
    asked: list[str] = []
    async with serving(site(paths, asked)) as server:
        picture = await favicon.find(f"http://127.0.0.1:{server.port}/", private=True, **how)
    return picture.size, asked


async def test_the_svg_or_largest_icon_is_tried_first():
    links = (
        '<link rel="icon" sizes="16x16" href="/16.png"><LINK REL="shortcut icon" sizes="96x96 '
        '64x64" href=/96.png><link rel=icon type="image/svg+xml" href="/i.svg">'
    )
    paths = {"/": head(links), "/96.png": (PNG, pictures.png(96, 96))}

    assert await found({**paths, "/i.svg": ("image/svg+xml", SVG)}) == ((128, 128), ["/", "/i.svg"])
    assert await found(paths) == ((96, 96), ["/", "/i.svg", "/96.png"])


async def test_touch_icon_then_manifest_then_favicon_ico_follow():
    links = '<link rel="manifest" href="m.json"><link rel="apple-touch-icon" href="t.png">'
    manifest = (
        b'{"icons": [{"src": "a.png", "sizes": "48x48"}, {"src": "b.png", "sizes": "512x512"}]}'
    )
    icon = (PNG, pictures.png(64, 64))
    paths = {"/": head(links), "/m.json": ("application/json", manifest), "/favicon.ico": icon}

    assert (await found({**paths, "/t.png": icon}))[1] == ["/", "/t.png"]
    assert (await found({**paths, "/b.png": icon}))[1] == ["/", "/t.png", "/m.json", "/b.png"]
    assert (await found(paths))[1][-3:] == ["/b.png", "/a.png", "/favicon.ico"]


async def test_a_page_that_wants_a_sign_in_still_has_an_icon():
    assert (await found({"/favicon.ico": (PNG, pictures.png(32, 32))}))[0] == (32, 32)


async def test_a_small_icon_is_taken_when_there_is_no_larger_one():
    links = '<link rel=icon href=/s.png><link rel="apple-touch-icon" href="/t.png">'
    small = (PNG, pictures.png(16, 16))

    assert (await found({"/": head(links), "/s.png": small}, least=48))[0] == (16, 16)
    large = {"/t.png": (PNG, pictures.png(60, 60))}
    assert (await found({"/": head(links), "/s.png": small, **large}, least=48))[0] == (60, 60)


async def test_icons_inside_the_page_and_below_its_base_are_found():
    inline = base64.b64encode(pictures.png(40, 40)).decode()

    links = f'<link rel=icon href="data:image/png;base64,{inline}">'
    assert await found({"/": head(links)}) == ((40, 40), ["/"])
    paths = {"/": head('<base href="/x/"><link rel=icon href="i.png">'),
             "/x/i.png": (PNG, pictures.png(50, 50))}  # fmt: skip
    assert (await found(paths))[0] == (50, 50)


async def test_a_sign_written_in_the_link_itself_is_an_icon():
    drawn = "%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 100 100%22%3E"
    text = "<text y=%22.9em%22 font-size=%2290%22>⚡</text></svg>"
    links = f'<link rel="icon" href="data:image/svg+xml,{drawn}{text}">'

    assert await found({"/": head(links)}) == ((128, 128), ["/"])


async def test_a_page_cannot_have_another_server_of_the_machine_asked():
    async with serving(answers()) as other:
        links = f'<link rel=icon href="http://127.0.0.1:{other.port}/off">'
        with pytest.raises(NoImage):
            await found({"/": head(links)})

        assert other.heard == []


@pytest.mark.parametrize("text", ["<link " * 9000, '<link "' * 9000, "<link a='" * 8000,
    "<link rel=icon href=" + "a" * 9999, "<base href=http://[>" * 900, "\0" * 60_000])  # fmt: skip
async def test_no_page_takes_long_to_search(text):
    began = time.process_time()

    favicon.read(text.encode(), "http://localhost/")

    assert time.process_time() - began < 2


async def test_a_page_that_names_a_hundred_icons_gets_six_tries():
    links = "".join(f"<link rel=icon href=/{n}.png>" for n in range(100))
    asked: list[str] = []
    async with serving(site({"/": head(links)}, asked)) as server:
        with pytest.raises(NoImage):
            await favicon.find(f"http://127.0.0.1:{server.port}/", private=True)

    assert len(asked) == 7


async def test_everything_together_ends_within_the_deadline(monkeypatch):
    monkeypatch.setattr(fetch, "SECONDS", 0.3)
    async with serving(hangs) as server:
        with pytest.raises(NoAnswer, match="within"):
            await favicon.find(f"http://127.0.0.1:{server.port}/", private=True)


async def test_the_first_question_has_no_icon_and_the_second_one_has():
    told: list[bool] = []
    cache = Icons()
    asked: list[str] = []
    async with serving(site({"/favicon.ico": (PNG, pictures.png(64, 64))}, asked)) as server:
        url = f"http://127.0.0.1:{server.port}"
        first = await cache.get(url, private=True, then=lambda: told.append(True))
        await eventually(lambda: told)
        count = len(asked)
        second = await cache.get(f"{url}/#top", private=True, then=lambda: told.append(True))
        again = await Icons().get(url, private=True, then=lambda: told.append(True))
        await cache.close()

    assert first is None
    assert second is not None
    assert again == second
    assert pictures.read(second.data).size == (64, 64)
    assert len(second.etag) == 34
    assert (len(asked), told) == (count, [True])


async def test_a_failure_is_kept_six_hours_and_a_success_seven_days():
    now = [1e9]
    cache = Icons(clock=lambda: now[0])
    asked: list[str] = []
    paths: dict[str, tuple[str, bytes]] = {}

    async def ask(url: str):
        icon = await cache.get(url, private=True, then=lambda: None)
        await eventually(lambda: not cache._fetching)
        return icon, len(asked)

    async with serving(site(paths, asked)) as server:
        url = f"http://127.0.0.1:{server.port}/"
        assert await ask(url) == (None, 2)
        now[0] += 6 * 3600 - 1
        assert await ask(url) == (None, 2)
        paths["/favicon.ico"] = (PNG, pictures.png(64, 64))
        now[0] += 1
        assert await ask(url) == (None, 4)
        now[0] += 7 * 86_400 - 1
        icon, count = await ask(url)
        assert (icon is not None, count) == (True, 4)
        paths.clear()
        now[0] += 1
        assert await ask(url) == (icon, 6)
        assert (await ask(url))[0] == icon  # the failed try left it in use


async def test_private_addresses_are_asked_only_by_permission_and_at_once_when_it_comes():
    cache = Icons()
    async with serving(site({"/favicon.ico": (PNG, pictures.png(64, 64))})) as server:
        url = f"http://127.0.0.1:{server.port}/"
        told: list[bool] = []
        await cache.get(url, private=False, then=lambda: told.append(True))
        await eventually(lambda: not cache._fetching)
        assert (server.heard, told) == ([], [])

        await cache.get(url, private=True, then=lambda: told.append(True))
        await eventually(lambda: told)


async def test_four_are_fetched_at_once_and_one_address_only_once():
    cache = Icons()
    async with serving(hangs) as server:
        for n in range(9):
            for _ in range(2):
                url = f"http://127.0.0.1:{server.port}/{n}"
                await cache.get(url, private=True, then=lambda: None)
        await eventually(lambda: len(server.heard) == 4)
        for _ in range(50):
            await asyncio.sleep(0)
        assert (len(server.heard), len(cache._fetching)) == (4, 9)
        await cache.close()

    assert cache._fetching == {}


async def test_a_cache_that_was_damaged_or_deleted_is_filled_again(data: Path):
    cache = Icons()
    async with serving(site({"/favicon.ico": (PNG, pictures.png(64, 64))})) as server:
        url = f"http://127.0.0.1:{server.port}/"
        for damage in (b"", b"{", b"[]", b'{"url": 1}', None):
            await cache.get(url, private=True, then=lambda: None)
            await eventually(lambda: not cache._fetching)
            assert await cache.get(url, private=True, then=lambda: None) is not None
            for file in (data / "cache/dashboard/icons").glob("*.json"):
                file.write_bytes(damage) if damage is not None else file.unlink()
            assert await cache.get(url, private=True, then=lambda: None) is None
            await eventually(lambda: not cache._fetching)
            for file in (data / "cache/dashboard/icons").iterdir():
                file.unlink()


async def test_a_redirect_to_the_metadata_address_brings_no_icon():
    away = answers(302, headers="Location: http://169.254.169.254/\r\n")
    async with serving(away) as server:
        with pytest.raises(AddressRefused):
            await favicon.find(f"http://127.0.0.1:{server.port}/", private=True)


GROUP = Group("Docs", links=(
    BookmarkLink("A", "HTTP://Example.org:80"), BookmarkLink("M", "mailto:a@example.org"),
    BookmarkLink("I", "https://b.example/x?y", icon="https://c.example/i.png"),
))  # fmt: skip


@pytest.mark.parametrize(
    "url", ["http://example.org/", "http://EXAMPLE.org", "http://example.org/#a"]
)
def test_a_link_is_known_by_its_normal_address(url):
    assert icons.link_of(GROUP, url).name == "A"


@pytest.mark.parametrize("shown", [str, masks.text])
def test_a_link_with_a_user_is_known_by_the_address_that_is_shown_of_it(shown):
    link = BookmarkLink("P", "https://me:secret@private.example:443/")

    assert icons.link_of(Group("Own", links=(link,)), shown(link.url)) is link
    assert icons.normal(link.url) == "https://private.example/"


@pytest.mark.parametrize("url", ["http://example.org/other", "https://example.org/", "", "http://[",
    "mailto:a@example.org", "http://169.254.169.254/", "https://c.example/i.png"])  # fmt: skip
def test_an_address_that_is_no_web_link_of_the_group_is_not_found(url):
    with pytest.raises(NotFound):
        icons.link_of(GROUP, url)


def test_an_icon_that_is_an_address_is_where_the_icon_comes_from():
    assert [icons.source(link) for link in GROUP.links if link.fetchable] == [
        "HTTP://Example.org:80", "https://c.example/i.png",
    ]  # fmt: skip
