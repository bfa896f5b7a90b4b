"""A service that went away is visible, and its return is noticed without a reload."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.service import Service

LOST = "Connection lost"
PATIENCE_MS = 10_000  # of the page of the apps; the others say it at once


def test_every_part_says_that_the_connection_is_lost_and_turns_its_shapes_hollow(
    browser: Browser, service: Service
) -> None:
    service.http.post("/api/demo").raise_for_status()
    service.http.put("/dashboard/api/apps/tide", json={"port": 4173}).raise_for_status()
    context = browser.new_context()
    context.clock.install()
    pages = [context.new_page() for _ in range(3)]
    project = f"{service.url}/projects/demo"
    for page, url in zip(
        pages, (project, f"{service.review_url}/", f"{service.dashboard_url}/"), strict=True
    ):
        page.goto(url)
        expect(page.get_by_role("img", name="Live: changes arrive by themselves")).to_be_visible()

    service.stop()
    for page in pages[:2]:
        expect(page.get_by_text(LOST)).to_be_visible()
    context.clock.fast_forward(PATIENCE_MS)
    for page in pages:
        expect(page.get_by_text(LOST)).to_be_visible()
        expect(page.get_by_role("img", name="Not connected")).to_be_visible()
        expect(page.locator(".state").first).to_have_css("border-style", "solid")
    service.start()

    for page in pages:
        expect(page.get_by_text(LOST)).to_be_hidden()
    service.http.post("/api/projects/demo/chats", json={"name": "Made elsewhere"})
    expect(pages[0].get_by_role("link", name="Made elsewhere")).to_be_visible()
    context.close()
