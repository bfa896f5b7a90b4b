"""The drawer of an app: its head, overview and history, by mouse and by keyboard."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.dashboard.served import NO_PICTURES, Served
from tests.service import free_port, until

PORTS = [free_port() for _ in range(4)]
SCANNED = {**NO_PICTURES, "scan": {"ports": ",".join(map(str, PORTS))}}
ADDRESS = "/dashboard/#app={}&tab={}"
TABS = ("overview", "history", "logs", "config")


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running app with a log, one that dies when it is started, and one without a service."""
    root = tmp_path_factory.mktemp("drawer")
    with Served(root, dashboard=SCANNED) as running:
        port = PORTS.pop()
        server = f"exec {sys.executable} -u -m http.server {port} --bind 127.0.0.1"
        (root / "press").mkdir()
        running.declare(
            "press",
            f"name: Press\nport: {port}\nexpected: always\nnotes: Prints the **paper**.\n"
            f"health: {{interval: 1s}}\nservice: {{command: '{server}', cwd: {root / 'press'}}}\n",
        )
        running.declare(
            "kiln", "name: Kiln\nservice: {command: 'echo no clay here; exit 3', cwd: /tmp}\n"
        )
        running.declare("stone", "name: Stone\npaused: true\n")
        until(lambda: running.app("press"), what="the app")
        running.act("press", "start")
        running.until_state("press", "up")
        yield running


def drawer(page: Page, slug: str, tab: str = "overview") -> Locator:
    page.goto(ADDRESS.format(slug, tab))
    found = page.locator("#drawer")
    expect(found.get_by_role("tab", selected=True)).to_have_text(tab.capitalize())
    return found


def test_reload_and_back_lead_where_the_address_says(page: Page) -> None:
    page.goto("/dashboard/")
    expect(page.get_by_role("heading", name="Press", exact=True)).to_be_visible()
    page.evaluate("location.hash = '#app=press&tab=history'")
    found = page.locator("#drawer")
    expect(found.get_by_role("heading", name="Press")).to_be_visible()

    found.get_by_role("tab", name="Config").click()
    expect(page).to_have_url(re.compile("#app=press&tab=config$"))
    page.reload()
    expect(found.get_by_label("Text of apps/press.yaml")).to_have_value(re.compile("name: Press"))

    page.go_back()
    expect(found).to_be_hidden()
    page.go_forward()
    expect(found).to_be_visible()
    found.get_by_role("button", name="Close").click()
    expect(found).to_be_hidden()
    expect(page).not_to_have_url(re.compile("app="))


def test_tabs_are_walked_and_the_drawer_is_left_by_keyboard(page: Page) -> None:
    found = drawer(page, "press")
    expect(found.get_by_role("tab", name="Overview")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(found.get_by_role("tab", name="History")).to_be_focused()
    expect(found.get_by_role("tabpanel", name="History")).to_be_visible()
    page.keyboard.press("]")
    page.keyboard.press("]")
    field = found.get_by_label("Text of apps/press.yaml")
    field.focus()
    page.keyboard.press("Escape")
    expect(found.get_by_role("tab", name="Config")).to_be_focused()

    page.keyboard.press("Escape")

    expect(found).to_be_hidden()
    expect(page.locator("#main")).to_be_focused()


def test_the_head_says_how_it_is_and_offers_what_can_be_done(
    page: Page, shared_service: Served
) -> None:
    found = drawer(page, "press")
    expect(found).to_contain_text(re.compile("Up, [0-9]+ ms"))
    acts = found.get_by_role("group", name="Service").get_by_role("button")
    expect(acts).to_have_text(["Restart", "Stop"])
    expect(found.get_by_role("link", name="Open Press in a new tab")).to_have_attribute(
        "href", shared_service.app("press")["url"]
    )

    found.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Keep it running").click()
    assert shared_service.app("press")["service"]["status"] == "running"
    page.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()

    expect(acts).to_have_text(["Start"])
    shared_service.until_state("press", "stopped")
    found.get_by_role("button", name="Start", exact=True).click()
    expect(found).to_contain_text(re.compile("Up, [0-9]+ ms"))


def test_a_start_that_fails_leads_to_the_lines_it_ended_with(page: Page) -> None:
    found = drawer(page, "kiln")
    found.get_by_role("button", name="Start", exact=True).focus()
    page.keyboard.press("Enter")

    expect(found.get_by_role("tab", selected=True)).to_have_text("Logs")
    expect(found.get_by_role("alert")).to_contain_text("Did not start")
    expect(found.locator(".l.told")).to_have_text("no clay here")


def test_the_overview_tells_what_it_is_and_where_its_file_lies(
    page: Page, shared_service: Served, context: BrowserContext
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    app = until(lambda: known(shared_service, "press"), seconds=20, what="who listens is known")
    found = drawer(page, "press")

    expect(found.locator("strong")).to_have_text("paper")
    for words in (app["identity"]["cwd"], f"pid {app['service']['pid']}", "this machine only"):
        expect(found).to_contain_text(words)
    expect(found.get_by_role("img", name="Picture of Press")).to_be_visible()
    path = shared_service.file("press")
    expect(found).to_contain_text(str(path))
    found.get_by_role("button", name="Copy the path of its file").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == str(path)


def known(served: Served, slug: str) -> dict[str, Any]:
    """The App once a scan has seen who listens, {} until then."""
    found = served.app(slug)
    return found if found.get("identity") else {}


def last_bucket(served: Served, slug: str) -> dict[str, Any]:
    found = served.api.get(f"/api/apps/{slug}/history?window=24h").json()["buckets"][-1]
    return dict(found)


def test_bars_of_the_history_are_read_by_arrow_keys_and_a_gap_is_a_gap(
    page: Page, shared_service: Served
) -> None:
    until(lambda: last_bucket(shared_service, "press")["p95"], seconds=60, what="a passed check")
    found = drawer(page, "press", "history")
    moment = found.get_by_role("slider", name="Moment")
    moment.focus()
    expect(found.locator(".told")).to_contain_text(re.compile("[0-9.]+ % up · [0-9]+ of [0-9]+ ch"))
    expect(moment).to_have_attribute("aria-valuetext", re.compile("p95 [0-9]+ m?s"))
    page.keyboard.press("Home")
    expect(found.locator(".told")).to_contain_text("nothing known")
    expect(found.locator(".buckets rect:not(.cursor)")).not_to_have_count(96)
    expect(found.get_by_role("listitem").filter(has_text="Starting")).not_to_have_count(0)

    found.get_by_role("button", name="90 days").click()

    expect(moment).to_have_attribute("aria-valuemax", "90")
    expect(found.get_by_role("button", name="90 days")).to_have_attribute("aria-pressed", "true")


def test_what_has_no_service_and_no_history_says_what_would_be_there(page: Page) -> None:
    found = drawer(page, "stone", "logs")
    expect(found).to_contain_text("No log: this app is not started from here.")
    found.get_by_role("tab", name="History").click()
    expect(found).to_contain_text("Nothing is known of this time.")
    found.get_by_role("button", name="Open Config").click()
    expect(found.get_by_label("Text of apps/stone.yaml")).to_be_visible()


def test_an_app_that_is_not_there_says_so(page: Page, watch: object) -> None:
    watch.meant.append("404")  # type: ignore[attr-defined]
    found = page.locator("#drawer")
    page.goto(ADDRESS.format("nobody", "logs"))

    expect(found.get_by_role("alert")).to_contain_text('There is no app "nobody" any more.')


@pytest.mark.slow
def test_every_tab_fits_and_has_no_axe_violation(look: BrowserContext, axe: str) -> None:
    page, wrong = look.new_page(), {}
    for tab in TABS:
        found = drawer(page, "press", tab)
        expect(found.get_by_role("tabpanel").locator("> *").first).to_be_visible()
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong[f"{tab} scrolls sideways"] = ["the page"]
        page.evaluate(axe)
        for violation in page.evaluate("axe.run('#drawer')")["violations"]:
            html = [node["html"][:200] for node in violation["nodes"][:3]]
            wrong[f"{tab} {violation['id']}"] = html
    if page.viewport_size and page.viewport_size["width"] < 720:
        assert page.locator("#main").evaluate("node => node.inert")
    assert wrong == {}


OFF = """facts => [...facts].filter(one => one.lastChild.matches("button")).map(one => {
  const { top, height } = one.lastChild.getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(one.firstChild);
  const line = text.getClientRects()[0];
  return Math.abs(top + height / 2 - line.top - line.height / 2);
})"""


def test_what_copies_a_fact_stands_on_its_first_line(look: BrowserContext) -> None:
    found = drawer(look.new_page(), "press")
    expect(found.get_by_role("button", name="Copy the path of its file")).to_be_attached()

    off = found.locator(".fact").evaluate_all(OFF)

    assert len(off) >= 2
    assert max(off) <= 4, off


@pytest.mark.slow
def test_a_found_app_gets_its_file_from_the_drawer(page: Page, shared_service: Served) -> None:
    dev = shared_service.dev_server("orchard", PORTS.pop())
    shared_service.seen(dev)
    until(lambda: shared_service.app("orchard"), what="the found app")
    found = drawer(page, "orchard", "config")
    found.get_by_role("button", name="Make its file").click()

    expect(found.get_by_label("Text of apps/orchard.yaml")).to_have_value(
        re.compile(f"port: {dev.port}")
    )
    assert Path(shared_service.file("orchard")).exists()
    dev.kill()
