"""Neither an icon nor a photographed page reaches the service itself."""

from __future__ import annotations

import asyncio

import pytest

from config.web import surfaces
from dashboard.rendering import chromium, fetch
from dashboard.rendering.fetch import AddressRefused, Rules
from dashboard.rendering.screenshot import Camera, NoShot
from tests.dashboard.health.servers import Server, answers, hangs, serving
from tests.dashboard.itself import WAYS, itself  # noqa: F401 - fixture
from tests.dashboard.rendering.sites import PAGE, site
from tests.promises.rings import few

CHROMIUM = chromium.find_browser(None)
BROWSER = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
QUIET = 0.3  # seconds after load in which a page may try


def written(host: str, port: int) -> str:
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


@pytest.mark.parametrize("host", WAYS)
async def test_nothing_is_fetched_from_it(itself: Server, host: str):  # noqa: F811
    with pytest.raises(AddressRefused, match="this service itself"):
        await fetch.get(written(host, itself.port), Rules())

    assert itself.heard == []


@pytest.mark.parametrize("host", WAYS)
async def test_nor_after_a_redirect(itself: Server, host: str):  # noqa: F811
    away = answers(302, headers=f"Location: {written(host, itself.port)}\r\n")
    async with serving(away) as server:
        with pytest.raises(AddressRefused, match="this service itself"):
            await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())

    assert itself.heard == []


async def test_the_browser_is_not_even_started_for_it(itself: Server):  # noqa: F811
    with pytest.raises(NoShot, match="this service itself"):
        await Camera().take("/nowhere/browser", f"http://127.0.0.1:{itself.port}/")


@BROWSER
async def test_no_image_frame_script_or_navigation_of_a_page_reaches_it(itself: Server):  # noqa: F811
    assert CHROMIUM is not None
    there = f"http://127.0.0.1:{itself.port}/"
    page = (
        f"<img src='{there}a'><script src='{there}b'></script><iframe src='{there}c'></iframe>"
        f"<link rel=stylesheet href='{there}d'><h1>Shop</h1><img src=/away>"
        f"<script>fetch('{there}e',{{mode:'no-cors'}});navigator.sendBeacon('{there}f');"
        f"new Image().src='http://[::ffff:127.0.0.1]:{itself.port}/g';"
        f"setTimeout(()=>location='{there}h',50)</script>"
    )
    away = f"HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n"

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 Fine\r\nContent-Type: {PAGE}\r\nContent-Length: {len(page)}\r\n\r\n"
        writer.write((away if asked.startswith(b"GET /away ") else head + page).encode())
        await writer.drain()

    async with serving(handle) as server:
        await Camera().take(CHROMIUM, f"http://127.0.0.1:{server.port}/", delay=QUIET)

        assert any(asked.startswith(b"GET /away ") for asked in server.heard)
    assert itself.heard == []


HOSTS = ["127.0.0.1", "[::ffff:7f00:1]", "localhost", "a.localhost"]


@BROWSER
@pytest.mark.parametrize("host", few(HOSTS, 1))
async def test_no_socket_of_a_page_reaches_it(itself: Server, host: str):  # noqa: F811
    assert CHROMIUM is not None
    async with serving(hangs) as other:
        page = "<script>new WebSocket('ws://{}:{}/');new WebSocket('ws://127.0.0.1:{}/')</script>x"
        body = page.format(host, itself.port, other.port).encode()
        async with serving(site({"/": (PAGE, body)})) as server:
            await Camera().take(CHROMIUM, f"http://127.0.0.1:{server.port}/", delay=QUIET)

        assert other.heard != []
    assert itself.heard == []


@pytest.mark.parametrize("own", [{"main": 8000, "tls": 8443}, {}])
def test_a_browser_knows_every_open_port_by_every_name_of_the_machine(monkeypatch, own):
    monkeypatch.setattr(surfaces, "_ports", own)

    closed = set(chromium._own())

    assert {one.rpartition(":")[2] for one in closed} == {str(port) for port in own.values()}
    for host in ("localhost", "127.*", "[::1]", "[::ffff:7f00:1]") if own else ():
        assert {f"{host}:8000", f"{host}:8443"} <= closed
