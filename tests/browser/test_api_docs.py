"""The page that describes an API works in a browser, on a part's own port and under its mount."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.promises.rings import few
from tests.service import Service


@pytest.mark.parametrize(
    ("part", "mount"),
    few(
        [
            ("main", "/review"),
            ("main", ""),
            ("review", ""),
            ("dashboard", ""),
            ("main", "/dashboard"),
        ],
        1,
    ),
)
def test_a_route_is_found_and_tried_from_the_page(
    shared_service: Service, page: Page, part: str, mount: str
):
    base = f"http://127.0.0.1:{shared_service.ports[part]}{mount}"
    page.emulate_media(color_scheme="dark")
    page.goto(f"{base}/api/docs")
    expect(page.locator("body")).to_have_css("background-color", "rgba(0, 0, 0, 0)")

    route = page.locator(".opblock-get", has_text="/api/health").first
    route.locator(".opblock-summary-control").first.click()
    route.get_by_role("button", name="Try it out").click()
    route.get_by_role("button", name="Execute").click()

    expect(route.locator(".request-url")).to_contain_text(f"{base}/api/health")
    expect(route.locator(".live-responses-table .response-col_status").last).to_contain_text("200")
    expect(page.locator(".errors-wrapper")).to_have_count(0)
