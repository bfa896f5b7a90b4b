"""Screenshots by the system's Chromium: bounded, fresh, on the app's own origin only."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import psutil
import pytest

from dashboard.health import address
from dashboard.rendering import chromium, screenshot, thumbs
from dashboard.rendering.screenshot import Camera, NoShot
from tests.dashboard.health.servers import Server, answers, eventually, hangs, serving
from tests.dashboard.rendering import pictures
from tests.dashboard.rendering.sites import PAGE, site

CHROMIUM = chromium.find_browser(None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
BLUE = b"<body style='background:#0000ff'>"


@pytest.fixture
def command() -> str:
    assert CHROMIUM is not None
    return CHROMIUM


def middle(png: bytes) -> tuple[int, ...]:
    picture = pictures.read(png).convert("RGB")
    pixel = picture.getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(pixel, tuple)
    return tuple(int(value) for value in pixel)


def asked_by_a_browser(server: Server) -> bool:
    """Whether a browser sent it anything: others on this machine may look at any port."""
    return b"Mozilla/" in b"".join(server.heard)


def left_over(data: Path) -> list[str]:
    """Processes and profiles of the browser that are still there."""
    folder = str(data / "cache")
    processes = [p for p in psutil.process_iter(["cmdline"])
                 if folder in " ".join(p.info["cmdline"] or [])]  # fmt: skip
    return [str(p.pid) for p in processes] + [str(p) for p in data.glob("cache/*/browser-*")]


async def test_a_page_is_shown_as_it_looks_after_load_and_nothing_is_left_over(command, data):
    late = (
        b"<script>onload=()=>setTimeout(()=>document.body.style.background='#0000ff',300)</script>"
    )
    async with serving(site({"/": (PAGE, b"<body>" + late)})) as server:
        png = await Camera().take(command, f"http://127.0.0.1:{server.port}/")

    assert pictures.read(png).size == (1280, 800)
    assert middle(png) == (0, 0, 255)
    await eventually(lambda: not left_over(data))


@pytest.mark.slow
async def test_dark_and_viewport_are_as_wanted(command):
    page = b"<style>@media (prefers-color-scheme: dark){body{background:#00ff00}}</style><body>"
    async with serving(site({"/": (PAGE, page)})) as server:
        png = await Camera().take(
            command, f"http://127.0.0.1:{server.port}/", viewport=(800, 500), delay=0, dark=True
        )

    assert (pictures.read(png).size, middle(png)) == ((800, 500), (0, 255, 0))


async def test_a_page_cannot_lead_the_browser_to_another_origin(command):
    async with serving(answers(body=b"elsewhere")) as other:
        there = f"http://127.0.0.1:{other.port}/".encode()
        page = BLUE + b"<iframe src='%s'></iframe><script>location='%s'</script>" % (there, there)
        async with serving(site({"/": (PAGE, page)})) as server:
            png = await Camera().take(command, f"http://127.0.0.1:{server.port}/")
        away = answers(302, headers=f"Location: {there.decode()}\r\n")
        async with serving(away) as server:
            with pytest.raises(NoShot):
                await Camera().take(command, f"http://127.0.0.1:{server.port}/")

        assert not asked_by_a_browser(other)  # it may connect ahead, but asks for nothing
    assert middle(png) == (0, 0, 255)


@pytest.mark.slow
async def test_a_page_may_load_from_a_neighbour_but_not_from_what_is_never_asked(
    command, monkeypatch
):
    forbidden = address.forbidden
    monkeypatch.setattr(address, "forbidden", lambda ip: ip == "127.0.0.9" or forbidden(ip))
    async with (
        serving(site({"/ok.css": ("text/css", b"body{background:#0000ff}")})) as other,
        serving(answers(body=b"secret"), host="127.0.0.9") as inward,
    ):
        page = (
            b"<link rel=stylesheet href=http://127.0.0.1:%d/ok.css><body><img src=http://127.0.0.9:%d/>"
            % (other.port, inward.port)
        )
        async with serving(site({"/": (PAGE, page)})) as server:
            png = await Camera().take(command, f"http://127.0.0.1:{server.port}/")

    assert middle(png) == (0, 0, 255)
    assert not asked_by_a_browser(inward)


@pytest.mark.slow
async def test_a_socket_of_a_page_gets_no_further_than_its_images(command, monkeypatch):
    monkeypatch.setattr(chromium, "_NEVER", (*chromium._NEVER, "127.0.0.9"))
    async with serving(hangs, host="127.0.0.9") as inward, serving(hangs) as other:
        page = b"<script>new WebSocket('ws://127.0.0.9:%d/');new WebSocket('ws://127.0.0.1:%d/')"
        page = page % (inward.port, other.port) + b"</script><h1>Shop"
        async with serving(site({"/": (PAGE, page)})) as server:
            await Camera().take(command, f"http://127.0.0.1:{server.port}/")

    assert asked_by_a_browser(other)
    assert not asked_by_a_browser(inward)


async def test_every_way_to_write_a_link_local_address_leads_nowhere(command):
    ways = (
        "169.254.169.254", "0xa9fea9fe", "2852039166", "[fe80::1]", "[febf::1]",
        "[::ffff:169.254.169.254]", "[64:ff9b::169.254.169.254]", "100.100.100.200",
        "[fd00:ec2::254]",
    )  # fmt: skip
    async with chromium.running(command, (400, 300)) as browser:
        target = (await browser.ask("Target.createTarget", url="about:blank"))["targetId"]
        attached = await browser.ask("Target.attachToTarget", targetId=target, flatten=True)
        for way in ways:
            went = await browser.ask("Page.navigate", attached["sessionId"], url=f"http://{way}/")
            assert went["errorText"] == "net::ERR_NAME_NOT_RESOLVED", way


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/", "http://[fe80::1]/", "http://0.0.0.0:80/", "file:///etc/passwd"],
)
async def test_the_browser_is_not_even_started_for_an_address_that_is_never_asked(url):
    with pytest.raises(NoShot, match=r"never|not the address|http"):
        await Camera().take("/nowhere/browser", url)


@pytest.mark.slow
async def test_a_page_that_is_no_html_makes_no_shot(command):
    async with serving(site({"/": ("application/json", b'{"a": 1}')})) as server:
        with pytest.raises(NoShot, match="application/json"):
            await Camera().take(command, f"http://127.0.0.1:{server.port}/")


async def test_the_browser_stands_back_behind_other_work(tmp_path, monkeypatch):
    monkeypatch.setattr(screenshot, "SECONDS", 1.0)
    noted, script = tmp_path / "nice", tmp_path / "browser"
    script.write_text(f"#!/bin/sh\nsleep 0.2\nnice > {noted}\n")
    script.chmod(0o755)

    with pytest.raises(NoShot):
        await Camera().take(str(script), "http://127.0.0.1:1/")

    assert int(noted.read_text()) == chromium.NICE


@pytest.mark.slow
async def test_a_page_that_never_loads_ends_with_the_whole_group(command, data, monkeypatch):
    monkeypatch.setattr(screenshot, "SECONDS", 3.0)
    async with serving(hangs) as server:
        began = time.monotonic()
        with pytest.raises(NoShot, match="within"):
            await Camera().take(command, f"http://127.0.0.1:{server.port}/")

    assert time.monotonic() - began < 8
    await eventually(lambda: not left_over(data))


@pytest.mark.slow
async def test_one_is_taken_at_a_time(command, data):
    camera = Camera()
    most = 0
    async with serving(site({"/": (PAGE, BLUE)})) as server:
        url = f"http://127.0.0.1:{server.port}/"
        tasks = [asyncio.create_task(camera.take(command, url, delay=0)) for _ in range(2)]
        while not all(task.done() for task in tasks):
            most = max(most, len(list(data.glob("cache/*/browser-*"))))
            await asyncio.wait(tasks, timeout=0.02)

    assert [middle(task.result()) for task in tasks] == [(0, 0, 255)] * 2
    assert most == 1


async def test_a_screenshot_becomes_the_apps_image(command):
    page = BLUE + b"<h1 style='font-size:300px;color:white'>Shop</h1>"
    async with serving(site({"/": (PAGE, page)})) as server:
        png = await Camera().take(command, f"http://127.0.0.1:{server.port}/")

    assert thumbs.keep_screenshot("shop", png)
    assert thumbs.picture(thumbs.Subject("shop", "Shop")).kind == "screenshot"


@pytest.mark.parametrize("command", ["/bin/false", "/bin/cat", "/nowhere/browser"])
async def test_a_command_that_is_no_browser_makes_no_shot(command, monkeypatch):
    monkeypatch.setattr(screenshot, "SECONDS", 2.0)
    with pytest.raises(NoShot):
        await Camera().take(command, "http://127.0.0.1:1/")


async def test_what_the_browser_started_is_killed_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(screenshot, "SECONDS", 1.0)
    noted, script = tmp_path / "pid", tmp_path / "browser"
    script.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {noted}\nsleep 600\n")
    script.chmod(0o755)

    with pytest.raises(NoShot, match="within"):
        await Camera().take(str(script), "http://127.0.0.1:1/")

    pid = int(noted.read_text())
    await eventually(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie")
