"""A turn whose provider takes no more requests says until when it waits, and may be tried now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.promises.rings import few
from tests.service import Service, until
from tests.stubs.openai import Stub, text

CHATS = "/api/projects/alpha/chats"


@pytest.fixture
def shared_service(tmp_path: Path, stub: Stub) -> Iterator[Service]:
    """A service of its own, for the model that it asks."""
    config = {"engines": {"retry": {"times": 2, "seconds": 600}}}
    env = {"SVC_LOCAL_MODEL_URL": stub.url, "OPENAI_API_KEY": "dummy"}
    with Service(tmp_path / "service", env=env, config=config) as service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        yield service


@pytest.mark.slow
@pytest.mark.parametrize("width", few([390, 1280], 1))
def test_a_chat_says_until_when_it_waits_and_goes_on_when_it_is_told_to(
    page: Page, shared_service: Service, stub: Stub, width: int
) -> None:
    stub.say(status=429, message="slow down", headers={"Retry-After": "300"})
    body = {"prompt": "Which word?", "model": "local:plum"}
    made = shared_service.http.post(CHATS, json=body).json()["chat"]["sessionId"]
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/projects/alpha/chats/{made}")

    banner = page.locator(".banner.waits")
    expect(banner).to_contain_text("slow down", timeout=30_000)
    expect(banner).to_contain_text(re.compile(r"Try 2 of 3 in [45] m"))

    def chat() -> Any:
        return shared_service.http.get(f"{CHATS}/{made}").json()["chat"]

    shown = until(lambda: chat()["waiting"])  # once the turn process has ended
    expect(banner.locator("[data-until]")).to_have_attribute("data-until", shown["until"])
    expect(page.locator(".origin").last).to_contain_text("waits for its model's provider")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.reload()
    expect(banner).to_contain_text("Try 2 of 3")

    stub.say(text("Plum."))
    banner.get_by_role("button", name="Try now").click()

    expect(page.get_by_text("took no more requests for a while: try 2 of 3.")).to_be_visible()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("Plum.")
    expect(banner).to_have_count(0)
