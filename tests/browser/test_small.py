"""Small things that a reader meets on many pages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.promises.rings import few
from tests.service import Service


@pytest.fixture
def chat(shared_service: Service) -> str:
    """The address of a chat in a project of an area."""
    project = {"name": "Small", "group": "client work"}
    shared_service.http.post("/api/projects", json=project)
    made = shared_service.http.post("/api/projects/small/chats", json={"name": "Quiet"}).json()
    return f"/projects/small/chats/{made['chat']['sessionId']}"


def test_lists_of_chats_show_the_clock_of_today(page: Page, chat: str) -> None:
    page.goto(chat)

    row = page.locator("#chats a.pick").first
    expect(row).to_contain_text(re.compile(r"\d\d:\d\d"))
    expect(row).not_to_contain_text("ago")


def test_a_message_lies_over_no_box_that_one_writes_in(page: Page, chat: str, watch: Watch) -> None:
    watch.meant.append("ERR_FAILED")
    page.goto(chat)
    page.get_by_role("textbox", name="Message").fill("#!runbook\n```Glob\n{}\n```\n")
    page.route("**/messages", lambda route: route.abort())
    page.get_by_role("textbox", name="Message").press("Control+Enter")

    toast = page.locator(".toast").last
    expect(toast).to_contain_text("does not answer")
    said, dock = toast.bounding_box(), page.locator(".dock").bounding_box()
    assert said
    assert dock
    assert said["y"] + said["height"] <= dock["y"]


def test_an_area_is_written_as_the_home_page_writes_it(page: Page, chat: str) -> None:
    page.goto("/projects/small/settings")

    expect(page.get_by_label("Area")).to_have_value("Client work")


@pytest.mark.parametrize("address", few(["/api/docs", "/api/projects"], 1))
def test_pages_of_the_api_lead_back_and_say_their_language(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("html")).to_have_attribute("lang", "en")

    page.get_by_role("link", name="Back to the pages").click()

    expect(page).to_have_url(re.compile(r"//[^/]+/$"))
