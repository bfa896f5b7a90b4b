"""An uploaded image that is opened runs nothing and asks nobody, whatever it holds (promise G7)."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Windows
from tests.review.bombs import ACTIVE, LEADING, opened
from tests.service import Service

pytestmark = pytest.mark.promise("G7")
SVG = "image/svg+xml"


class Elsewhere:
    """Somebody else's server: remembers what it was asked, and shows images without any policy."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.images: dict[str, bytes] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", SVG)
                self.end_headers()
                self.wfile.write(outer.images.get(self.path, b""))

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    made = Elsewhere()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def page(windows: Windows, shared_service: Service) -> Iterator[Page]:
    """A page that may log errors: refusals of the policy are what is wanted here."""
    context = windows.of(shared_service)
    yield context.new_page()
    windows.forget(context)


@pytest.fixture
def review(shared_service: Service) -> Iterator[httpx.Client]:
    project = shared_service.projects / "images" / "project.yaml"
    project.parent.mkdir(parents=True, exist_ok=True)
    project.write_text("title: Images\n")
    with httpx.Client(base_url=shared_service.review_url, trust_env=False) as client:
        yield client


def acted(page: Page, elsewhere: Elsewhere, url: str) -> tuple[bool, list[str]]:
    """Whether a script of the image ran when it was opened, and what it asked elsewhere for."""
    elsewhere.asked.clear()
    page.goto(url)
    page.wait_for_load_state("networkidle")
    own = url.removeprefix(elsewhere.url)
    return page.title() == "ran", [path for path in elsewhere.asked if path != own]


@pytest.mark.parametrize("kind", ACTIVE)
def test_an_opened_image_runs_and_fetches_nothing(
    page: Page, review: httpx.Client, elsewhere: Elsewhere, kind: str
):
    data = opened(ACTIVE[kind], elsewhere.url)
    stored = review.post("/api/projects/images/assets", content=data, headers={"Content-Type": SVG})
    name = stored.json()["name"]

    assert acted(page, elsewhere, f"{review.base_url}/api/projects/images/assets/{name}") == (
        False,
        [],
    )


@pytest.mark.parametrize("kind", ["script", "script of html", "handlers", "images", "foreign"])
def test_without_the_headers_it_would(page: Page, elsewhere: Elsewhere, kind: str):
    elsewhere.images["/image.svg"] = opened(ACTIVE[kind], elsewhere.url)
    ran, asked = acted(page, elsewhere, f"{elsewhere.url}/image.svg")

    assert ran or [path for path in asked if path != "/favicon.ico"]


@pytest.mark.parametrize("kind", LEADING)
def test_what_no_header_stops_is_neither_taken_nor_served(
    page: Page, shared_service: Service, review: httpx.Client, elsewhere: Elsewhere, kind: str
):
    data = opened(LEADING[kind], elsewhere.url)
    refused = review.post(
        "/api/projects/images/assets", content=data, headers={"Content-Type": SVG}
    )
    by_hand = (
        shared_service.projects / "images" / "assets" / f"{hashlib.sha256(data).hexdigest()}.svg"
    )
    by_hand.parent.mkdir(exist_ok=True)
    by_hand.write_bytes(data)

    assert (refused.status_code, refused.json()["error"]) == (415, "Contents are not an SVG image")
    url = f"{review.base_url}/api/projects/images/assets/{by_hand.name}"
    assert acted(page, elsewhere, url) == (False, [])
    assert review.get(url).status_code == 404
