"""A service that went away is visible, and its return is noticed without a reload."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.service import Service

LOST = "Connection lost"


def test_a_lost_connection_is_shown_and_found_again(browser: Browser, service: Service) -> None:
    service.http.post("/api/demo").raise_for_status()
    context = browser.new_context(base_url=service.url)
    page = context.new_page()
    page.goto("/projects/demo")
    expect(page.get_by_role("img", name="Live: changes arrive by themselves")).to_be_visible()

    service.stop()
    expect(page.get_by_text(LOST)).to_be_visible(timeout=15_000)
    service.start()

    expect(page.get_by_text(LOST)).to_be_hidden(timeout=15_000)
    service.http.post("/api/projects/demo/chats", json={"name": "Made elsewhere"})
    expect(page.get_by_role("link", name="Made elsewhere")).to_be_visible()
    context.close()


def test_every_part_says_that_the_connection_is_lost_and_turns_its_shapes_hollow(
    browser: Browser, service: Service
) -> None:
    service.http.post("/api/demo").raise_for_status()
    service.http.put("/dashboard/api/apps/tide", json={"port": 4173}).raise_for_status()
    context = browser.new_context()
    pages = [context.new_page() for _ in range(3)]
    for page, url in zip(
        pages, (service.url, service.review_url, service.dashboard_url), strict=True
    ):
        page.goto(f"{url}/")
        expect(page.get_by_role("img", name="Live: changes arrive by themselves")).to_be_visible()

    service.stop()
    for page in pages:
        expect(page.get_by_text(LOST)).to_be_visible(timeout=40_000)
        expect(page.get_by_role("img", name="Not connected")).to_be_visible()
        expect(page.locator(".state").first).to_have_css("border-style", "solid")
    service.start()

    for page in pages:
        expect(page.get_by_text(LOST)).to_be_hidden(timeout=40_000)
    context.close()
