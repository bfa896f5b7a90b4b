"""The page of the dashboard on the running service: what a person sees there and does with it."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.toasts import undo
from tests.dashboard.served import NO_PICTURES, Dev, Served
from tests.promises.rings import few
from tests.service import free_port, until

LOST = "Connection lost. Trying again."
PORTS = [free_port() for _ in range(12)]  # what else listens on this machine is not looked at
SCANNED = {**NO_PICTURES, "scan": {"ports": ",".join(map(str, PORTS))}}


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its dashboard scans, so these pages show what the tests of this module start."""
    with Served(tmp_path_factory.mktemp("dashboard"), dashboard=SCANNED) as running:
        yield running


def dev_server(served: Served, name: str) -> Dev:
    """A server that the dashboard knows."""
    dev = served.dev_server(name, PORTS.pop())
    served.seen(dev)
    return dev


def opened(page: Page, address: str = "/dashboard/") -> Page:
    page.goto(address)
    expect(page.get_by_role("heading", name="Listening, not claimed")).to_be_visible()
    return page


def tile(page: Page, name: str) -> Locator:
    heading = page.get_by_role("heading", name=name, exact=True)
    return page.get_by_role("listitem").filter(has=heading)


def observed(page: Page) -> Locator:
    return page.get_by_role("list", name="Listening, not claimed").get_by_role("listitem")


def web_server(port: int) -> str:
    """The `service` block of an app that serves its directory."""
    python = f"exec {sys.executable} -m http.server {port} --bind 127.0.0.1"
    return f"port: {port}\nservice: {{command: '{python}', cwd: /tmp}}\n"


def test_what_somebody_starts_is_found_claimed_and_followed_without_a_reload(
    page: Page, shared_service: Served
) -> None:
    opened(page)
    dev = shared_service.dev_server("greenhouse", PORTS.pop())
    expect(tile(page, "greenhouse")).to_contain_text(f":{dev.port}")
    expect(tile(page, "greenhouse")).to_contain_text("Up")

    expect(observed(page).filter(has_text=str(dev.port))).to_have_count(0)
    page.get_by_role("button", name="Claim greenhouse").click()
    dialog = page.get_by_role("dialog", name="Claim greenhouse")
    dialog.get_by_label("Name on the page").fill("The greenhouse")
    dialog.get_by_role("button", name="Claim").click()

    expect(page.get_by_text("Claimed: apps/greenhouse.yaml")).to_be_visible()
    expect(tile(page, "The greenhouse")).to_contain_text("Up")
    expect(page.get_by_role("button", name=re.compile("^Claim .*greenhouse"))).to_have_count(0)
    assert "name: The greenhouse" in shared_service.file("greenhouse").read_text()

    dev.kill()
    expect(tile(page, "The greenhouse")).to_contain_text("Stopped")


@pytest.mark.slow
def test_a_name_that_is_no_file_name_is_refused_where_it_was_typed(
    page: Page, shared_service: Served, watch: Watch
) -> None:
    watch.meant.append("400")
    dev = dev_server(shared_service, "orchard")
    opened(page)
    expect(tile(page, "orchard")).to_contain_text(f":{dev.port}")
    claim = page.get_by_role("button", name="Claim orchard")
    claim.click()
    dialog = page.get_by_role("dialog", name="Claim orchard")
    dialog.get_by_label("Name of its file").fill("Not a name")
    page.keyboard.press("Enter")

    expect(dialog.get_by_role("alert")).to_contain_text('"Not a name" is not a valid name')
    expect(dialog.get_by_label("Name of its file")).to_have_value("Not a name")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(claim).to_be_focused()


@pytest.mark.parametrize("by", few(["port", "process", "dir"], 1))
def test_what_is_ignored_leaves_by_a_rule_and_comes_back_with_undo(
    page: Page, shared_service: Served, by: str
) -> None:
    dev = dev_server(shared_service, f"meadow-{by}")
    rule = shared_service.data / "dashboard" / "ignore.yaml"
    opened(page)
    expect(tile(page, f"meadow-{by}")).to_contain_text(f":{dev.port}")
    page.get_by_role("button", name=f"More for meadow-{by}").press("Enter")
    page.get_by_role("menuitem", name="Ignore").press("Enter")
    way = {"port": "Everything on port", "process": "Every process", "dir": "Everything in"}[by]
    page.get_by_role("button", name=way).press("Enter")

    expect(tile(page, f"meadow-{by}")).to_have_count(0)
    assert f"- {by}: " in rule.read_text()
    undo(page, f"Ignored meadow-{by}. The rule is in ignore.yaml.")
    expect(tile(page, f"meadow-{by}")).to_be_visible()
    assert by not in rule.read_text()


def test_a_server_that_never_answers_says_so_and_can_be_claimed(
    page: Page, shared_service: Served, watch: Watch
) -> None:
    watch.meant.append("404")
    with socket.create_server(("127.0.0.1", PORTS.pop())) as server:
        port = server.getsockname()[1]
        opened(page)
        row = observed(page).filter(has_text=str(port))
        expect(row).to_contain_text("has not answered yet")

        row.get_by_role("button", name="Claim").click()
        dialog = page.get_by_role("dialog", name="Claim")
        dialog.get_by_label("Name of its file").fill("silent")
        dialog.get_by_label("Name on the page").fill("Silent")
        dialog.get_by_role("button", name="Claim").click()

        expect(tile(page, "Silent")).to_contain_text(f":{port}")
        expect(row).to_have_count(0)
    shared_service.file("silent").unlink()
    expect(tile(page, "Silent")).to_have_count(0)


@pytest.mark.slow
def test_what_nobody_claimed_is_no_alarm_of_the_tab(page: Page, shared_service: Served) -> None:
    class Broken(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(500)

    with ThreadingHTTPServer(("127.0.0.1", PORTS.pop()), Broken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened(page)
        found = page.get_by_role("listitem").filter(has_text=f":{server.server_port}")
        expect(found).to_contain_text("Degraded")
        expect(page).not_to_have_title(re.compile("degraded"))
        server.shutdown()


def test_what_the_network_reaches_says_so(
    page: Page, shared_service: Served, tmp_path: Path
) -> None:
    port = PORTS.pop()
    listen = f"import socket, sys; s = socket.create_server(('0.0.0.0', {port})); sys.stdin.read()"
    # In a directory of its own: Python that listens here might be another test's server, moved.
    with subprocess.Popen([sys.executable, "-c", listen], stdin=subprocess.PIPE, cwd=tmp_path):
        opened(page)
        row = page.get_by_role("listitem").filter(has_text=str(port))
        expect(row.get_by_text("Open to the LAN")).to_be_visible()


def test_a_service_is_started_and_stopped_by_keyboard_and_keeps_the_focus(
    page: Page, shared_service: Served
) -> None:
    late = web_server(free_port()).replace("exec", "sleep 1.5; exec")
    shared_service.declare("press", f"name: Press\nhealth: {{interval: 1s}}\n{late}")
    opened(page, f"{shared_service.dashboard_url}/")
    start = page.get_by_role("button", name="Start Press", exact=True)
    start.focus()
    page.keyboard.press("Enter")
    expect(tile(page, "Press")).to_contain_text("Up")
    expect(page.get_by_role("button", name="Stop Press")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.get_by_role("button", name="More for Press").press("Enter")
    page.keyboard.press("s")
    start = page.get_by_role("menuitem", name=re.compile("^Start"))
    expect(start).to_be_focused()
    expect(start).to_contain_text("It is running already.")
    page.keyboard.press("Escape")

    until(lambda: len(_checks(shared_service, ok=True)) > 1, what="two answers")
    failed = {check["state"] for check in _checks(shared_service, ok=False)}
    assert "unknown" in failed <= {"stopped", "unknown"}
    page.get_by_role("button", name="Stop Press").press("Enter")

    expect(tile(page, "Press")).to_contain_text("Stopped")
    expect(tile(page, "Press").locator(".spark path")).to_be_visible()
    expect(tile(page, "Press").locator(".spark line")).to_have_count(0)  # nothing failed
    assert shared_service.app("press")["service"]["status"] == "stopped"


def _checks(served: Served, *, ok: bool) -> list[dict[str, Any]]:
    return [check for check in served.app("press")["recent"] if check["ok"] is ok]


@pytest.mark.slow
def test_a_stop_is_asked_about_only_when_the_app_should_always_run(
    page: Page, shared_service: Served
) -> None:
    shared_service.declare("mill", f"name: Mill\nexpected: always\n{web_server(free_port())}")
    until(lambda: shared_service.app("mill"), what="the app")
    shared_service.act("mill", "start")
    opened(page)
    page.get_by_role("button", name="Stop Mill").click()
    page.get_by_role("button", name="Keep it running").click()
    assert shared_service.app("mill")["service"]["status"] == "running"

    page.get_by_role("button", name="Stop Mill").click()
    page.get_by_role("dialog", name="Stop Mill").get_by_role("button", name="Stop").click()

    expect(tile(page, "Mill")).to_contain_text("Stopped")
    assert shared_service.app("mill")["service"]["status"] == "stopped"
    shared_service.file("mill").unlink()


def test_a_start_that_fails_opens_its_log_and_says_why(page: Page, shared_service: Served) -> None:
    shared_service.declare(
        "kiln", "name: Kiln\nservice: {command: 'echo no clay here; exit 3', cwd: /tmp}\n"
    )
    opened(page)
    page.get_by_role("button", name="Start Kiln", exact=True).click()

    expect(page.get_by_text("Kiln: Did not start")).to_be_visible()
    drawer = page.get_by_role("complementary", name="Kiln")
    expect(drawer.get_by_role("tab", name="Logs")).to_have_attribute("aria-selected", "true")
    expect(drawer).to_contain_text("no clay here")
    drawer.get_by_role("button", name="Close", exact=True).click()
    expect(drawer).to_be_hidden()


def test_an_error_in_a_file_is_told_with_its_line_until_it_is_mended(
    page: Page, shared_service: Served
) -> None:
    shared_service.declare("vault", "name: Vault\npaused: true\n")
    opened(page)
    expect(tile(page, "Vault")).to_be_visible()
    shared_service.declare("vault", "name: Vault\nport: 1\nport: 2\n")
    told = page.get_by_role("region", name="Problems with files")
    expect(told).to_contain_text("apps/vault.yaml, line 3")
    expect(told).to_contain_text("The last good version is in use.")
    expect(tile(page, "Vault")).to_be_visible()
    shared_service.declare("cellar", "port: 1\nport: 2\n")
    never = told.get_by_role("listitem").filter(has_text="apps/cellar.yaml, line 2")
    expect(never).to_be_visible()
    expect(never).not_to_contain_text("last good version")
    shared_service.file("cellar").unlink()

    shared_service.declare("vault", "name: Vault mended\npaused: true\n")

    expect(told).to_be_hidden()
    expect(tile(page, "Vault mended")).to_contain_text("Unknown: paused in its file")


@pytest.mark.slow
def test_counts_choose_what_is_shown(page: Page, shared_service: Served) -> None:
    shared_service.declare("stone", "name: Stone\npaused: true\n")
    shared_service.declare("river", f"name: River\nport: {free_port()}\n")
    opened(page)
    expect(tile(page, "River")).to_contain_text("Stopped")
    page.get_by_role("button", name=re.compile("unknown$")).click()

    expect(tile(page, "River")).to_have_count(0)
    expect(tile(page, "Stone")).to_be_visible()
    page.get_by_role("button", name=re.compile("unknown$")).click()
    expect(tile(page, "River")).to_be_visible()


@pytest.mark.slow
def test_a_bookmark_has_its_letter_until_its_icon_is_there(
    page: Page, shared_service: Served
) -> None:
    dev = dev_server(shared_service, "almanac")
    Image.new("RGB", (64, 64), "teal").save(dev.cwd / "favicon.ico")
    opened(page)
    url = f"http://127.0.0.1:{dev.port}/"
    links = [{"name": "Almanac", "url": url}, {"name": "Letters", "url": "mailto:a@example.org"}]
    body: dict[str, Any] = {"name": "Books", "links": links}
    shared_service.api.put("/api/bookmarks/books", json=body).raise_for_status()

    almanac = page.get_by_role("link", name="Almanac", exact=True)
    expect(almanac).to_have_attribute("href", url)
    expect(almanac.locator("img")).to_be_visible()
    expect(page.get_by_role("link", name="Letters")).to_contain_text("L")
    expect(page.get_by_role("link", name="Letters").locator("img")).to_have_count(0)


@pytest.mark.slow
def test_a_page_left_open_over_a_reboot_says_so_and_gives_back_what_it_took(
    browser: Browser, tmp_path: Path
) -> None:
    settings = {**SCANNED, "lost": {"grace": "1s"}}
    with Served(tmp_path, dashboard=settings) as served:
        devs = {name: dev_server(served, name) for name in ("lantern", "compass", "anchor")}
        served.declare("clock", "name: Clock\npaused: true\n")
        until(lambda: all(_titled(served, *one) for one in devs.items()), what="titles")
        served.api.post("/api/scan", json={}).raise_for_status()
        context = browser.new_context(base_url=served.dashboard_url)
        page = context.new_page()
        page.clock.install()
        opened(page, "/")
        shapes = tile(page, "Clock").locator(".state > use")
        expect(shapes).to_be_visible()

        _reboot(served, page, *devs.values())

        expect(page.get_by_text(LOST)).to_be_hidden()
        expect(shapes).to_be_visible()
        _give_back(page, served)
        context.close()
        until(lambda: served.app("lantern").get("service"), what="the service")
        served.until_state("lantern", "up")
        assert served.act("lantern", "stop")["status"] == "stopped"


def _give_back(page: Page, served: Served) -> None:
    """Each of the three ways to answer the notice."""
    expect(page.get_by_text("3 apps were running before the restart")).to_be_visible()
    page.get_by_role("button", name="Start once: lantern").click()
    expect(page.get_by_text("lantern runs again.")).to_be_visible()
    expect(page.get_by_text("2 apps were running before the restart")).to_be_visible()
    page.get_by_role("button", name="Keep as service: compass").click()
    expect(page.get_by_text("1 app was running before the restart")).to_be_visible()
    assert "autostart: true" in served.file("compass").read_text()
    page.get_by_role("button", name="Dismiss anchor").click()
    expect(page.get_by_text("before the restart")).to_have_count(0)
    assert served.api.get("/api/lost").json() == {"lost": None}


def _titled(served: Served, name: str, dev: Dev) -> bool:
    identity = served.observed(dev.port).get("identity", {})
    return bool(identity.get("title") == name)


def _reboot(served: Served, page: Page, *devs: Dev) -> None:
    """Everything ends, ten seconds later the page is stale, and another boot begins."""
    shapes = tile(page, "Clock").locator(".state > use")
    served.stop()
    for dev in devs:
        dev.kill()
    assert page.get_by_text(LOST).count() == 0
    expect(shapes).to_be_visible()
    page.clock.fast_forward(10_000)
    expect(page.get_by_text(LOST)).to_be_visible()
    expect(shapes).to_be_hidden()
    served.env["SVC_TEST_BOOT_ID"] = "another"
    served.start()


@pytest.mark.slow
def test_a_full_page_fits_and_has_no_axe_violation(
    look: BrowserContext, shared_service: Served, axe: str
) -> None:
    shared_service.declare("broad", f"name: {'Broad ' * 12}\n{web_server(free_port())}")
    shared_service.declare("wrong", "port: [\n")
    until(lambda: shared_service.app("broad"), what="the app")
    page = opened(look.new_page())
    expect(page.get_by_role("region", name="Problems with files")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Start Broad"))).to_be_visible()

    sound(page, axe)
    page.get_by_role("button", name=re.compile("^More for Broad")).press("Enter")
    sound(page, axe)
    page.get_by_role("button", name="More of this page").press("Enter")
    page.get_by_role("menuitem", name="Removed items").press("Enter")
    expect(page.get_by_role("dialog", name="Removed items")).to_contain_text("They lie in")
    sound(page, axe)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.get_by_role("dialog").get_by_label("Port or address")).to_be_visible()
    sound(page, axe)
    shared_service.file("wrong").unlink()


def sound(page: Page, axe: str) -> None:
    """Nothing goes over the edge, and axe finds nothing."""
    assert page.evaluate("document.documentElement.scrollWidth > innerWidth") is False
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found] == []
