"""What the pages of the workspace do beside their main ways: paste, pickers, why a run failed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.test_chat import PICTURE, model_is_there
from tests.service import Service, until

FAILS = '#!runbook\n```Read\n{"file_path": "nope.txt"}\n```\n'
PASTE = """(box, bytes) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A project with one trigger, whose last run failed."""
    with Service(tmp_path_factory.mktemp("acts")) as running:
        running.http.post("/api/projects", json={"name": "Orchard"}).raise_for_status()
        nightly = {"trigger": {"type": "schedule", "cron": "0 3 * * *"}, "run": {"prompt": FAILS}}
        address = "/api/projects/orchard/triggers/nightly"
        running.http.put(address, json={**nightly, "enabled": True}).raise_for_status()
        running.http.post(f"{address}/run").raise_for_status()
        until(lambda: running.http.get("/api/runs?status=failed").json()["runs"], what="a failure")
        yield running


def test_a_picture_is_pasted_and_its_place_is_named_in_the_prompt(
    page: Page, shared_service: Service
) -> None:
    model_is_there(page)
    page.goto("/projects/orchard/chats")
    write = page.get_by_role("textbox", name="Message")
    write.evaluate(PASTE, list(PICTURE))
    attached = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(attached).to_contain_text("pasted")
    expect(attached).not_to_have_attribute("aria-busy", "true")
    write.fill("Look at it.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/chats/[0-9a-f-]{36}$"))

    expect(page.get_by_role("img", name=re.compile(r"pasted.*\.png"))).to_be_visible()
    chat = page.url.split("/projects/")[1]
    told = shared_service.http.get(f"/api/projects/{chat}/messages").json()["messages"][0]
    (place,) = re.findall(r"\S*pasted\S*\.png", told["content"])
    assert (shared_service.projects / "orchard" / place).read_bytes() == PICTURE


@pytest.mark.slow
def test_files_attached_in_a_window_that_was_closed_are_offered_to_the_message_of_another(
    page: Page, context: BrowserContext, shared_service: Service
) -> None:
    other = context.new_page()
    for window in (other, page):
        window.goto("/projects/orchard/chats")
        window.get_by_role("textbox", name="Message").evaluate(PASTE, list(PICTURE))
        attached = window.get_by_role("list", name="Attached files").get_by_role("listitem")
        expect(attached.last).not_to_have_attribute("aria-busy", "true")
    expect(attached).to_have_count(2)  # the second window goes on with what the first had
    other.get_by_role("button", name=re.compile("^Leave out")).click()
    other.get_by_role("textbox", name="Message").evaluate(PASTE, list(PICTURE))
    attached = other.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(attached).not_to_have_attribute("aria-busy", "true")
    other.goto("about:blank")
    other.close()
    page.reload()

    attached = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    left = page.get_by_role("group", name="Text of a window that was closed")
    expect(attached).to_have_count(2)
    expect(left).to_contain_text("pasted")
    left.get_by_role("button", name="Put it here").click()
    expect(attached).to_have_count(3)
    expect(left).to_have_count(0)
    page.reload()
    expect(attached).to_have_count(3)


def test_the_list_of_triggers_says_when_each_fires_and_why_its_last_run_failed(page: Page) -> None:
    page.goto("/projects/orchard/triggers")

    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="nightly"))
    expect(row).to_contain_text("at 03:00, every day")
    expect(row.locator("ol > li")).to_have_count(3)
    expect(row).to_contain_text("Failed")
    expect(row).to_contain_text("file not found: nope.txt")


@pytest.mark.slow
def test_an_event_hook_is_made_from_what_the_catalogue_offers(
    page: Page, shared_service: Service
) -> None:
    page.goto("/projects/orchard/triggers")
    page.get_by_role("link", name="nightly").first.wait_for()
    page.keyboard.press("n")
    page.get_by_label("Name", exact=True).fill("after-runs")
    page.get_by_role("group", name="Starts").get_by_text(re.compile("[Ee]vent")).click()
    event = page.get_by_role("combobox", name="Event")
    offered = event.locator("option").evaluate_all("all => all.map(one => one.value)")
    event.select_option(offered[-1])
    page.get_by_role("textbox", name="Prompt", exact=True).fill("Look at it")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved. It is off until you enable it.")).to_be_visible()

    text = (shared_service.projects / "orchard" / "project.yaml").read_text()
    stored = yaml.safe_load(text)["triggers"]["after-runs"]["trigger"]
    assert stored == {"type": "event", "on": offered[-1]}
