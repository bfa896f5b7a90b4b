"""A real Chromium on the real service; without one every test here is skipped and says why.

A page that logs an error, throws, or asks another host for anything fails its test.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    Route,
    WebError,
    expect,
    sync_playwright,
)

from tests.promises.rings import few
from tests.service import Service
from tests.stubs import openai
from tests.stubs.openai import Stub

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
# The same browser without its own windows, a package of Debian: a third less work for each page.
SMALL = shutil.which("chromium-headless-shell") or CHROMIUM
MISSING = "no Chromium on this machine; install it with: apt-get install -y chromium"
NO_AXE = "axe-core is not installed; install it with: pip install axe-playwright-python"
# Of every node that passes, too, it would tell: a megabyte for a page of diffs. What ends in a
# function is called by Playwright, and axe would run twice.
VIOLATIONS = """;{
  const { run } = axe;
  const told = ({ violations }) => ({ violations });
  axe.run = () => run({ resultTypes: ["violations"] }).then(told);
} 0;"""
WAIT_MS = 40_000  # counts only for what never comes
# The modules of the page at hand, by name: the very ones that it runs.
MODULES = """(await import(document.querySelector("script[type=module]").src)).modules"""
Theme = Literal["light", "dark"]
expect.set_options(timeout=WAIT_MS)
# The narrow one first: it is the one in which things do not fit.
LOOKS: tuple[tuple[Theme, int], ...] = (("dark", 360), ("light", 1440))
LOOK_IDS = [f"{theme}, {width} px" for theme, width in LOOKS]


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Ends with the folder: its driver keeps an event loop running, which asyncio tests refuse."""
    if CHROMIUM is None:
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        yield playwright


def launched(playwright: Playwright, path: str | None) -> Browser:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=path, args=arguments)


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with launched(playwright, SMALL) as browser:
        yield browser


class Watch:
    """What went wrong in the pages of a context, besides what a test says is meant."""

    def __init__(self, context: BrowserContext, host: str) -> None:
        self.wrong: list[str] = []
        self.meant: list[str] = []
        self.host = host
        self.context = context
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)

    def end(self) -> None:
        self.context.remove_listener("console", self._console)
        self.context.remove_listener("weberror", self._error)
        self.context.remove_listener("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.wrong.append(f"{message.text} {message.location}")

    def _error(self, error: WebError) -> None:
        self.wrong.append(str(error.error))

    def _request(self, request: Request) -> None:
        url = request.url
        if url.startswith("http") and urlsplit(url).hostname != self.host:
            self.wrong.append(f"asked another host: {url}")

    def left(self) -> list[str]:
        return [text for text in self.wrong if not any(word in text for word in self.meant)]


class Held:
    """Requests of a page that are answered once the test says so."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.page, self.pattern = page, pattern
        self.routes: list[Route] = []
        page.route(pattern, self._hold)

    def _hold(self, route: Route) -> None:
        self.routes.append(route)

    def release(self) -> None:
        assert self.routes
        for route in self.routes:
            route.continue_()
        self.page.unroute(self.pattern)


class Shared(Service):
    """One service for every test here that can live with what the others made."""

    def leave_no_question(self) -> None:
        """Every page has them in its title, and one that shows them says so every minute."""
        for ask in self.http.get("/api/asks").json()["asks"]:
            chat = f"/api/projects/{ask['project']}/chats/{ask['sessionId']}"
            self.http.post(f"{chat}/stop").raise_for_status()


class Windows:
    """One context for each look, kept from test to test: loading a page into a new one takes four
    times as long. Between tests it forgets all but its cache.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.service: Service | None = None
        self.known: dict[str, BrowserContext] = {}
        self.storage: dict[BrowserContext, CDPSession] = {}

    def of(self, service: Service, **look: Any) -> BrowserContext:
        if service is not self.service:
            self.close()
            self.service = service
        if (context := self.known.get(repr(look))) is None:
            context = self.known[repr(look)] = self.browser.new_context(
                base_url=service.url, **look
            )
            self.storage[context] = context.new_cdp_session(context.new_page())
        return context

    def forget(self, context: BrowserContext) -> None:
        assert self.service is not None
        for page in context.pages[1:]:
            page.close()
        if isinstance(self.service, Shared):
            self.service.leave_no_question()
        context.clear_cookies()
        context.clear_permissions()
        for url in (self.service.url, self.service.review_url, self.service.dashboard_url):
            where = {"origin": url, "storageTypes": "local_storage"}
            self.storage[context].send("Storage.clearDataForOrigin", where)

    def close(self) -> None:
        for context in self.known.values():
            context.close()
        self.known, self.storage = {}, {}


@pytest.fixture
def watch(context: BrowserContext) -> Iterator[Watch]:
    """Lets a test name the errors it provokes: `watch.meant.append("412")`."""
    watch: Watch = context.watch  # type: ignore[attr-defined]
    yield watch
    assert watch.left() == []


@pytest.fixture(scope="package")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Shared(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A model called plum, which says what a test tells it to."""
    with openai.serve() as stub:
        stub.models = ["plum"]
        yield stub


@pytest.fixture
def model_service(tmp_path: Path, stub: Stub) -> Iterator[Service]:
    """A service of the test's own that asks this model; with a key, so that a busy machine is not
    taken for one without a model."""
    env = {"SVC_LOCAL_MODEL_URL": stub.url, "OPENAI_API_KEY": "dummy"}
    with Service(tmp_path / "service", env=env) as service:
        yield service


@pytest.fixture(scope="package")
def windows(browser: Browser) -> Iterator[Windows]:
    with closing(Windows(browser)) as windows:
        yield windows


@pytest.fixture
def context(windows: Windows, shared_service: Service) -> Iterator[BrowserContext]:
    """A person who was never here, but for the files of the pages, which the browser has."""
    context = windows.of(shared_service, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    watch = context.watch = Watch(context, "127.0.0.1")  # type: ignore[attr-defined]
    yield context
    watch.end()
    windows.forget(context)


@pytest.fixture
def page(context: BrowserContext, watch: Watch) -> Page:
    return context.new_page()


@pytest.fixture(scope="module")
def axe() -> str:
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip(NO_AXE)
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8") + VIOLATIONS


@pytest.fixture(params=few(LOOKS, 1), ids=few(LOOK_IDS, 1))
def look(
    request: pytest.FixtureRequest, windows: Windows, shared_service: Service
) -> Iterator[BrowserContext]:
    theme, width = request.param
    context = windows.of(
        shared_service,
        viewport={"width": width, "height": 800},
        color_scheme=theme,
        reduced_motion="reduce",
    )
    watch = Watch(context, "127.0.0.1")
    yield context
    watch.end()
    windows.forget(context)
    assert [text for text in watch.wrong if "404" not in text] == []
