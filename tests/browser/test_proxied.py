"""A page that came through a proxy leads to no part that refuses whoever came so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WAIT_MS, Watch
from tests.service import Service

HERE = "Opens only on the machine that runs this service"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service without a project."""
    with Service(tmp_path_factory.mktemp("proxied"), scheduler=False) as running:
        yield running


@pytest.fixture
def page(browser: Browser, fresh: Service) -> Iterator[Page]:
    context = browser.new_context(
        base_url=fresh.url, extra_http_headers={"X-Forwarded-User": "ann"}
    )
    context.set_default_timeout(WAIT_MS)
    watch = Watch(context, "127.0.0.1")
    yield context.new_page()
    context.close()
    assert watch.left() == []


def test_neither_rail_nor_keys_nor_palette_lead_to_the_other_parts(page: Page) -> None:
    page.goto("/settings")
    parts = page.locator(".rail .part[data-part]")
    expect(parts).to_have_text(["Workspace"])

    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Runs").first).to_be_visible()
    expect(page.locator(".options-head")).to_have_text(["Workspace", "Everywhere"])
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    expect(keys).to_contain_text("Search all chats")
    expect(keys.get_by_text("Review", exact=True)).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("v")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("/")


def test_the_first_page_asks_nothing_of_the_other_parts_and_says_where_they_open(
    page: Page,
) -> None:
    paths: list[str] = []
    page.on("request", lambda request: paths.append(urlsplit(request.url).path))
    page.goto("/")

    expect(page.get_by_text(HERE)).to_have_count(2)
    expect(page.get_by_text("Make the demo project")).to_be_visible()
    page.wait_for_load_state("load")
    assert "/api/badges" in paths
    assert [path for path in paths if path.startswith(("/review", "/dashboard"))] == []


def test_a_project_offers_no_review_of_its_folder(
    page: Page, fresh: Service, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (tmp_path / ".git" / name).mkdir()
    body = {"name": "Shop", "path": str(tmp_path)}
    fresh.http.post("/api/projects", json=body).raise_for_status()

    page.goto("/projects/shop")

    expect(page.get_by_text(str(tmp_path)).first).to_be_visible()
    expect(page.get_by_text("Review its commits and changes")).to_be_hidden()
    page.goto("about:blank")  # an open page would say that it is deleted
    fresh.http.delete("/api/projects/shop").raise_for_status()
