"""The pictures as a client of the running service sees them (case D49)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dashboard.rendering import chromium
from tests.dashboard.rendering import pictures
from tests.dashboard.served import Dev, Served
from tests.service import free_port, until

PAGE = """<!doctype html><title>Shop</title>
<body style='font:40px sans-serif;background:#f6f1e7'><h1>Shop</h1><p>Fresh bread, every day."""
without_browser = pytest.mark.skipif(
    chromium.find_browser(None) is None, reason="no Chromium on this machine"
)
browser = [without_browser]


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    """Screenshots as they are by default."""
    with Served(tmp_path_factory.mktemp("served"), dashboard={"title": "Apps"}) as running:
        yield running


def started(served: Served, slug: str, kind: str) -> Dev:
    """A declared app with a page and an icon, just started."""
    port = free_port()
    url = f"http://localhost:{port}/shop.html"
    served.declare(slug, f"name: Shop\nport: {port}\nthumb: {{kind: {kind}, url: '{url}'}}\n")
    until(lambda: served.app(slug))
    folder = served.tmp / "src" / slug
    folder.mkdir(parents=True)
    (folder / "shop.html").write_text(PAGE)
    (folder / "favicon.ico").write_bytes(pictures.png(128, 128))
    return served.dev_server(slug, port)


@pytest.mark.parametrize(
    ("kind", "shown"),
    [pytest.param("auto", "screenshot", marks=browser), ("favicon", "favicon"), ("card", "card")],
)
def test_an_app_that_comes_up_gets_its_picture(served, kind, shown):
    slug = f"shop-{kind}"
    with served.events() as stream:
        started(served, slug, kind)
        served.until_state(slug, "up", seconds=30)
        until(lambda: served.app(slug)["thumbKind"] == shown, seconds=60)
        if shown != "card":
            stream.has(type="thumb", slug=slug)

    app, thumb = served.app(slug), served.api.get(f"/api/apps/{slug}/thumb")
    assert (thumb.headers["X-Thumb-Kind"], thumb.headers["ETag"]) == (shown, app["thumbEtag"])
    assert thumb.headers["Cache-Control"] == "no-cache"
    assert pictures.read(thumb.content).size == (640, 400)
    same = served.api.get(f"/api/apps/{slug}/thumb", headers={"If-None-Match": app["thumbEtag"]})
    assert (same.status_code, same.content) == (304, b"")


@pytest.mark.slow
@without_browser
def test_a_refresh_counts_and_is_refused_once_screenshots_are_off(served):
    slug = "fresh"
    dev = started(served, slug, "auto")
    served.until_state(slug, "up", seconds=30)

    def refresh() -> tuple[int, object]:
        answer = served.api.post("/api/thumbs/refresh", json={"slug": slug})
        return answer.status_code, answer.json()

    # a browser that gets no processor for long is given up
    until(lambda: refresh() == (200, {"taken": 1}), seconds=60, what="a picture")
    assert served.app(slug)["thumbKind"] == "screenshot"

    config = served.data / "dashboard" / "config.yaml"
    before = config.read_text()
    config.write_text("screenshots: {enabled: false}\n")
    try:
        until(lambda: refresh()[0] == 409, seconds=40)  # each of those before takes a picture
        error = "Screenshots are off: screenshots.enabled is false in config.yaml."
        assert refresh() == (409, {"error": error, "code": "screenshots_off"})
        until(lambda: served.app(slug)["thumbKind"] != "screenshot")
    finally:
        config.write_text(before)

    until(lambda: served.app(slug)["thumbKind"] == "screenshot", seconds=20)
    dev.kill()
    served.until_state(slug, "stopped", seconds=30)
    assert served.app(slug)["thumbKind"] == "screenshot"
    assert refresh() == (200, {"taken": 0})
    served.api.delete(f"/api/apps/{slug}").raise_for_status()
    assert served.api.get(f"/api/apps/{slug}/thumb").status_code == 404


def test_an_icon_is_204_then_told_then_there(served):
    dev = started(served, "icons", "card")
    served.until_state("icons", "up", seconds=30)
    url = f"http://127.0.0.1:{dev.port}/"
    group = served.data / "dashboard" / "bookmarks" / "shops.yaml"
    group.parent.mkdir(exist_ok=True)

    with served.events() as stream:
        group.write_text(f"name: All the shops\nlinks: [{{url: '{url}'}}]\n")
        written = stream.has(type="bookmarks", group="shops")
        first = served.api.get("/api/bookmarks/shops/icon", params={"url": url})
        stream.until(lambda one: one is not written and one.get("group") == "shops")
    second = served.api.get("/api/bookmarks/shops/icon", params={"url": url})

    assert (first.status_code, first.content, second.status_code) == (204, b"", 200)
    assert pictures.read(second.content).format == "PNG"
    tag = {"If-None-Match": second.headers["ETag"]}
    again = served.api.get("/api/bookmarks/shops/icon", params={"url": url}, headers=tag)
    assert again.status_code == 304
    other = served.api.get("/api/bookmarks/shops/icon", params={"url": f"{url}other"})
    assert other.status_code == 404
