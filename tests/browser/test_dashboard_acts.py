"""Letters and buttons of the page of apps that lead on: logs, editor, folds, pictures."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.test_dashboard import opened, tile, web_server
from tests.dashboard.served import Dev, Served
from tests.service import free_port, until

PORTS = [free_port() for _ in range(4)]
SCAN = {"scan": {"ports": ",".join(map(str, PORTS))}}
SHAPE = """(state) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", `state ${state}`);
  document.body.append(svg);
  return getComputedStyle(svg).animationName;
}"""


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Pictures are taken here, and nothing is found but what the tests start."""
    with Served(tmp_path_factory.mktemp("acts"), dashboard=SCAN) as served:
        yield served


def test_letters_restart_an_app_open_its_log_and_lead_to_what_listens(
    page: Page, shared_service: Served
) -> None:
    running(shared_service, "Press")
    first = shared_service.app("press")["service"]["pid"]
    opened(page)
    expect(page.get_by_text("Nothing new is listening.")).to_be_visible()
    page.get_by_role("link", name="Press", exact=True).focus()

    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Stop Press")).to_be_visible()
    until(lambda: (shared_service.app("press")["service"]["pid"] or first) != first)
    page.keyboard.press("l")
    drawer = page.get_by_role("complementary", name="Press")
    expect(drawer.get_by_role("tab", selected=True)).to_have_text("Logs")
    page.keyboard.press("Escape")
    page.keyboard.press("o")

    expect(page.get_by_role("heading", name="Listening, not claimed")).to_be_focused()
    shared_service.act("press", "stop")
    shared_service.file("press").unlink()


@pytest.mark.slow
def test_what_is_down_says_why_and_since_when(page: Page, shared_service: Served) -> None:
    health = "health: {type: tcp, interval: 1s}"
    shared_service.declare(
        "alarm", f"name: Alarm\nexpected: always\nport: {free_port()}\n{health}\n"
    )
    shared_service.until_state("alarm", "down")
    health = "health: {path: /none, status: 200-299, interval: 1s}"
    shared_service.declare("ailing", f"name: Ailing\n{health}\n{web_server(free_port())}")
    until(lambda: shared_service.app("ailing"), what="the app")
    shared_service.act("ailing", "start")
    until(lambda: poor(shared_service, "ailing") > 1, what="two bad answers")
    opened(page)

    expect(tile(page, "Alarm")).to_contain_text("Down: connection refused, since ")
    expect(tile(page, "Ailing")).to_contain_text("Degraded: answers 404")
    trace = tile(page, "Ailing").locator(".spark")
    expect(trace.locator("path")).to_be_visible()
    expect(trace.locator("line.poor").nth(1)).to_be_attached()
    expect(trace.locator("line:not(.poor)")).to_have_count(0)  # it did answer
    page.goto(f"{shared_service.dashboard_url}/#app=ailing&tab=history")
    expect(page.locator("#drawer")).to_contain_text("failed or answered badly")
    shared_service.act("ailing", "stop")
    for slug in ("alarm", "ailing"):
        shared_service.file(slug).unlink()


def test_the_banner_of_a_broken_file_copies_its_path_and_opens_its_text(
    page: Page, shared_service: Served
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    path = shared_service.declare("vault", "name: Vault\nport: 1\nport: 2\n")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/dashboard/api/config", hold)
    with page.expect_request("**/dashboard/api/config"):
        opened(page)
    copying = page.get_by_role("button", name="Copy the path of apps/vault.yaml")
    expect(page.get_by_role("button", name="Open editor: apps/vault.yaml")).to_be_visible()
    expect(copying).to_have_count(0)  # it would copy a path that is none
    held[0].continue_()

    copying.click()

    expect(page.get_by_text(f"Copied: {path}")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == str(path)

    page.get_by_role("button", name="Open editor: apps/vault.yaml").press("Enter")

    expect(page.get_by_label("Text of apps/vault.yaml")).to_have_value(path.read_text())
    path.unlink()


def test_a_group_of_bookmarks_is_made_and_stays_folded(page: Page, shared_service: Served) -> None:
    opened(page)
    page.get_by_role("button", name="New app or bookmark").press("Enter")
    page.get_by_role("menuitem", name="New group of bookmarks").press("Enter")
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("Papers")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Added: bookmarks/papers.yaml")).to_be_visible()
    link = {"name": "Law", "url": "http://127.0.0.1:9/"}
    body = {"name": "Papers", "links": [link]}
    shared_service.api.put("/api/bookmarks/papers", json=body).raise_for_status()
    expect(page.get_by_role("link", name="Law")).to_be_visible()

    page.get_by_role("heading", name="Papers").click()
    expect(page.get_by_role("link", name="Law")).to_be_hidden()
    page.reload()

    expect(page.get_by_role("heading", name="Papers")).to_be_visible()
    expect(page.get_by_role("link", name="Law")).to_be_hidden()


def test_a_group_that_changes_while_it_is_pressed_still_folds(
    page: Page, shared_service: Served
) -> None:
    def linked(group: str, name: str) -> None:
        body = {"name": group, "links": [{"name": name, "url": "http://127.0.0.1:9/"}]}
        shared_service.api.put(f"/api/bookmarks/{group.lower()}", json=body).raise_for_status()

    linked("Held", "Was")
    opened(page)
    page.get_by_role("heading", name="Held").hover()
    page.mouse.down()
    linked("Held", "Is")
    linked("Other", "Beside")
    expect(page.get_by_role("link", name="Beside")).to_be_visible()
    expect(page.get_by_role("link", name="Was")).to_be_visible()
    page.mouse.up()

    expect(page.get_by_text("Was", exact=True)).to_have_count(0)
    expect(page.get_by_text("Is", exact=True)).to_be_hidden()
    page.get_by_role("heading", name="Held").click()
    expect(page.get_by_role("link", name="Is", exact=True)).to_be_visible()


@pytest.mark.slow
def test_pictures_are_taken_of_one_app_and_of_all(page: Page, shared_service: Served) -> None:
    for name in ("Lens", "Prism"):
        running(shared_service, name)
    opened(page)
    tile(page, "Lens").hover()
    page.get_by_role("button", name="More for Lens").click()
    page.get_by_role("menuitem", name="New picture").click()
    expect(page.get_by_text("1 new picture.")).to_be_visible()
    expect(tile(page, "Lens").locator("img")).to_have_js_property("complete", True)

    page.get_by_role("button", name="More of this page").press("Enter")
    page.get_by_role("menuitem", name="New pictures of all").press("Enter")

    expect(page.get_by_text("2 new pictures")).to_be_visible()
    expect(tile(page, "Prism").locator("img")).to_be_visible()
    for slug in ("lens", "prism"):
        shared_service.act(slug, "stop")
        shared_service.file(slug).unlink()


def test_a_state_pulses_only_for_those_who_want_motion(page: Page, shared_service: Served) -> None:
    opened(page)

    assert page.evaluate(SHAPE, "starting") == "none"
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(SHAPE, "starting") == "pulse"


@pytest.mark.slow
def test_what_a_reboot_took_and_cannot_start_says_why_and_all_is_dismissed_at_once(
    browser: Browser, tmp_path: Path
) -> None:
    with Served(tmp_path, dashboard={**SCAN, "lost": {"grace": "1s"}}) as served:
        devs = {name: served.dev_server(name, PORTS.pop()) for name in ("lantern", "compass")}
        until(lambda: all(found(served, dev) for dev in devs.values()), what="the servers")
        served.api.post("/api/scan", json={}).raise_for_status()
        served.stop()
        for dev in devs.values():
            dev.kill()
        shutil.rmtree(devs["lantern"].cwd)
        (devs["compass"].cwd / "http.py").write_text("raise SystemExit('no needle')\n")
        served.env["SVC_TEST_BOOT_ID"] = "another"
        served.start()
        context = browser.new_context(base_url=served.dashboard_url)
        page = opened(context.new_page(), "/")

        expect(page.get_by_text("Cannot start: cwd is gone")).to_be_visible()
        expect(page.get_by_role("button", name="Start once: lantern")).to_have_count(0)
        expect(page.get_by_role("button", name="Start once: compass")).to_be_visible()
        page.get_by_role("button", name="Start once: compass").press("Enter")
        notice = page.get_by_role("listitem").filter(has_text="compass").first
        expect(notice).to_contain_text("Did not come up")
        expect(notice).to_contain_text("no needle")
        page.get_by_role("button", name="Dismiss all").press("Enter")

        expect(page.get_by_text("before the restart")).to_have_count(0)
        assert served.api.get("/api/lost").json() == {"lost": None}
        context.close()


def running(served: Served, name: str) -> None:
    """An app with a page of its own, up."""
    slug = name.lower()
    served.declare(slug, f"name: {name}\n{web_server(free_port())}")
    until(lambda: served.app(slug), what="the app")
    served.act(slug, "start")
    served.until_state(slug, "up")


def poor(served: Served, slug: str) -> int:
    """How many of the last checks found it degraded."""
    return sum(check["state"] == "degraded" for check in served.app(slug).get("recent", ()))


def found(served: Served, dev: Dev) -> bool:
    identity = served.observed(dev.port).get("identity", {})
    return bool(identity.get("title"))
