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
