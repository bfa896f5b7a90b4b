"""A page is there quickly: it asks for little, does not move, and loses no key pressed before."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Held
from tests.browser.test_windows import LIVE
from tests.service import Service

NAME = "Quickstep"
ASKED = re.compile(rb"^[A-Z]+ (\S+) HTTP/1\.1\r$", re.MULTILINE)
SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(autouse=True, scope="module")
def project(shared_service: Service) -> None:
    for name in (NAME, "Another one"):
        shared_service.http.post("/api/projects", json={"name": name}).raise_for_status()


def without_scripts(page: Page, address: str) -> Held:
    held = Held(page, "**/page/js/**")
    page.goto(address, wait_until="commit")
    page.locator("#palette").wait_for()
    return held


def without_data(page: Page) -> Held:
    held = Held(page, "**/api/now")
    with page.expect_request("**/api/now"):
        page.goto("/")
    return held


@pytest.mark.slow
@pytest.mark.parametrize("lacking", ["scripts", "data"])
def test_what_is_typed_into_a_filter_that_is_not_there_yet_stands_in_it(
    page: Page, lacking: str
) -> None:
    held = without_scripts(page, "/") if lacking == "scripts" else without_data(page)
    page.keyboard.press("/")
    page.keyboard.type("quikc")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    page.keyboard.type("ck")
    held.release()

    search = page.get_by_role("searchbox", name="Filter by name or area")
    expect(search).to_have_value("quick")
    expect(search).to_be_focused()
    expect(page.locator(".home a.over")).to_have_text([NAME])


@pytest.mark.slow
def test_the_palette_takes_a_place_that_was_typed_before_any_script_ran(page: Page) -> None:
    held = without_scripts(page, "/runs")
    page.keyboard.press("Control+k")
    page.keyboard.type(NAME.lower())
    page.keyboard.press("Enter")
    held.release()

    page.wait_for_url(re.compile("/projects/quickstep$"))


@pytest.mark.slow
def test_keys_of_two_letters_and_a_message_are_kept_too(page: Page) -> None:
    held = without_scripts(page, "/projects/quickstep/chats")
    page.keyboard.type("Do it: (now)")
    held.release()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Do it: (now)")

    held = without_scripts(page, "/")
    page.keyboard.type("gr")
    held.release()
    page.wait_for_url("**/runs")


class Between:
    """Hands every connection of a browser on to the service, and notes what is asked for and how
    many bytes come back."""

    def __init__(self, service: Service) -> None:
        self.port = urlsplit(service.url).port
        self.asked: list[str] = []
        self.came = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self._apart(self._accept)

    def _apart(self, run: Callable[..., None], *given: Any) -> None:
        threading.Thread(target=run, args=given, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                browser, _ = self.listener.accept()
                service = socket.create_connection(("127.0.0.1", self.port))
                self._apart(self._forth, browser, service)
                self._apart(self._back, service, browser)

    def _forth(self, browser: socket.socket, service: socket.socket) -> None:
        with contextlib.suppress(OSError), service:
            while data := browser.recv(1 << 16):
                self.asked += [path.decode() for path in ASKED.findall(data)]
                service.sendall(data)
            service.shutdown(socket.SHUT_RDWR)

    def _back(self, service: socket.socket, browser: socket.socket) -> None:
        with contextlib.suppress(OSError), browser:
            while data := service.recv(1 << 16):
                self.came += len(data)
                browser.sendall(data)
            browser.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def between(shared_service: Service) -> Iterator[Between]:
    between = Between(shared_service)
    yield between
    between.listener.close()


def test_home_asks_for_four_things_once_it_was_visited(browser: Browser, between: Between) -> None:
    context = browser.new_context(base_url=between.url)  # nothing is in its cache
    visits = []
    for _ in range(3):
        page = context.new_page()
        page.add_init_script(SHIFTS)
        page.clock.install()
        page.goto("/")
        expect(page.locator(".home-row", has_text=NAME)).to_be_visible()
        expect(page.get_by_role("img", name=LIVE)).to_be_visible()
        page.clock.run_for(2000)  # whatever the page would ask for a little later
        assert page.evaluate("shifted") < 0.02
        page.close()
        # that a question is seen is said as long as it is, and no part of opening the page
        visits.append([one for one in between.asked if not one.endswith("/keep")])
        between.asked = []
    context.close()

    _first, second, third = visits
    assert len(second) <= 15, second
    assert len(third) <= 4, third
