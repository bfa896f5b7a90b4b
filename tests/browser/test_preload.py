"""What a page is about is on its way while its scripts are read, and asked for once."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Page, expect

from tests.browser.commits import made
from tests.browser.test_windows import LIVE
from tests.service import Service, until


@pytest.fixture
def addresses(shared_service: Service, tmp_path: Path) -> dict[str, tuple[str, str]]:
    """Page → its address and what is there once its data is."""
    http = shared_service.http
    http.post("/api/projects", json={"name": "Early", "slug": "early"})
    prompt = {"name": "Heard", "prompt": "#!runbook\nHello."}
    chat = http.post("/api/projects/early/chats", json=prompt).json()["chat"]["sessionId"]
    # Each state of the turn is told to the pages, which ask again.
    until(lambda: http.get(f"/api/projects/early/chats/{chat}").json()["chat"]["lastTurn"])
    commit = made(shared_service, tmp_path)
    review = shared_service.review_url
    return {
        "home": ("/", ".home-row"),
        "chat": (f"/projects/early/chats/{chat}", ".turn-block"),
        "apps": ("/dashboard/", "#main *"),
        "apps on their own port": (f"{shared_service.dashboard_url}/", "#main *"),
        "a commit": (commit.address, "tr.ln"),
        "a project under review": (f"/review/p/{commit.slug}", "#main a[href*='/app/']"),
        "projects under review on their own port": (f"{review}/", ".rows .over"),
    }


def test_what_a_page_is_about_is_asked_for_once_and_before_its_scripts(
    page: Page, addresses: dict[str, tuple[str, str]]
):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.install()
    for name, (address, selector) in addresses.items():
        page.goto("about:blank")  # so that the page before asks for nothing more
        asked.clear()
        page.goto(address)
        expect(page.locator(selector).first).to_be_visible()
        page.wait_for_load_state("load")
        expect(page.get_by_role("img", name=LIVE)).to_be_attached()
        page.clock.run_for(500)  # whatever the beginning of the stream asks for

        links = page.locator("link[rel=preload][as=fetch]").all()
        named = [urljoin(page.url, link.get_attribute("href") or "") for link in links]
        assert named, name
        by_script = next(n for n, url in enumerate(asked) if url.endswith("/api/badges"))
        # Asked for once it is read; the stream of a chat that begins then has it read again.
        read = next((n for n, url in enumerate(asked) if url.endswith("/edits")), len(asked))
        for url in named:
            # Under another query it would be asked for twice, and nobody would take the first.
            path = url.partition("?")[0]
            times = [n for n, one in enumerate(asked[:read]) if one.partition("?")[0] == path]
            assert len(times) == 1, (name, url)
            assert times[0] < by_script, (name, url)
