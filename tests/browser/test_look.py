"""Every page: both themes, 1440 and 360 px, no axe violation, no sideways scroll, by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Watch
from tests.browser.ledger import ledger
from tests.service import Service

PAGES = {
    "/": "Demo",
    "/projects/demo": "First look around",
    "/projects/demo/chats": "First look around",
    "/projects/demo/chats/{chat}": "3 tool calls",
    "/projects/demo/triggers": "nightly-check",
    "/projects/demo/triggers?name=nightly-check": "Would fire next",
    "/projects/demo/triggers?name=close-books": "It never fires.",
    "/projects/demo/runs": "No runs yet.",
    "/projects/demo/settings": "In project.yaml",
    "/search?q=todo": "First look around",
    "/runs": "No runs yet.",
    "/audit": "No calls yet.",
    "/clients": "The endpoint is off",
    "/settings": "No one is notified while no page is open",
    "/nothing-here": "There is no page",
    "/api/docs": "/api/projects",
    "/api/projects": "HTTP 200 OK",
    "/review/": "Ledger",
    "/review/p/looks": "Store refunds",
    "/review/p/looks/api/{commit}": "Made by a tool",
    "/review/p/looks/api/WORKTREE": "Nothing differs from HEAD.",
    "/dashboard/": "Listening, not claimed",
}


SHIFTS = """
  window.shifted = [];
  const named = ({ node }) => `${node?.nodeName} ${node?.className}`;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries())
      if (!hadRecentInput) shifted.push([value, ...sources.map(named)]);
  }).observe({ type: "layout-shift", buffered: true });
"""
MOST_SHIFTED = 0.05  # twice as much is what browsers' makers call poor


@pytest.fixture(scope="module")
def chat(shared_service: Service) -> str:
    """The demo project with one entry that is not valid; its chat's id."""
    shared_service.http.post("/api/demo").raise_for_status()
    path = shared_service.projects / "demo" / "project.yaml"
    text = path.read_text()
    entry = "triggers:\n  close-books:\n    trigger: {type: schedule, cron: '1 2'}\n"
    path.write_text(entry + "    run: {prompt: x}\n" + text.split("triggers:\n", 1)[1])
    chats = shared_service.http.get("/api/projects/demo/chats").json()["chats"]
    return str(chats[0]["sessionId"])


@pytest.fixture(scope="module")
def commit(shared_service: Service, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A commit of every kind of change, one thread on it; its sha."""
    made = ledger(shared_service, tmp_path_factory.mktemp("looks") / "src", "looks")
    body = {"body": "Why `key`?", "path": "pay/refunds.py", "line": 50}
    shared_service.http.post(made.api("change", "/threads"), json=body).raise_for_status()
    return made.shas["change"]


def test_pages_fit_keep_still_and_have_no_axe_violation(
    look: BrowserContext, chat: str, commit: str, axe: str
) -> None:
    found: dict[str, Any] = {}
    page = look.new_page()
    page.add_init_script(SHIFTS)
    for address, words in PAGES.items():
        page.goto(address.format(chat=chat, commit=commit))
        expect(page.get_by_text(words).locator("visible=true").first).to_be_visible()
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[f"{address} scrolls sideways"] = True
        shifted = page.evaluate("shifted")
        if sum(value for value, *_ in shifted) > MOST_SHIFTED:
            found[f"{address} moves under the reader"] = shifted
        page.evaluate(axe)
        for violation in page.evaluate("axe.run()")["violations"]:
            html = [node["html"][:160] for node in violation["nodes"][:3]]
            found[f"{address} {violation['id']}"] = html
    assert found == {}


def test_a_page_of_the_api_begins_where_it_stays(page: Page) -> None:
    page.goto("/api/projects")
    assert page.evaluate("document.body.getBoundingClientRect().top") == 0


def test_settings_are_saved_and_errors_stand_at_their_field(
    page: Page, chat: str, watch: Watch
) -> None:
    watch.meant.append("400")
    page.goto("/projects/demo/settings")
    page.get_by_label("Turn limit").fill("0")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(re.compile("1 to 1000"))).to_be_visible()

    page.get_by_label("Turn limit").fill("50")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_label("Turn limit")).to_have_value("50")
