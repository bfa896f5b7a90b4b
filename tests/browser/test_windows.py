"""Any number of windows, visible or hidden: all share one connection, and none of them stops."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.config.test_metrics import scraped
from tests.service import Service, until
from workspace.chats import live as live_text
from workspace.chats import transcript

LIVE = "Live: changes arrive by themselves"
CHATS = "/api/projects/demo/chats"
ASK = """fetch("/api/health", { cache: "no-store", signal: AbortSignal.timeout(15000) })
  .then((answer) => answer.status, String)"""
HIDE = """Object.defineProperty(document, "hidden", { value: true, configurable: true });
Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
document.dispatchEvent(new Event("visibilitychange"));"""
ALONE = "delete window.SharedWorker"
SOON_MS = 3000


class Desk:
    """A service with something to see in every part, whose turns wait in their queues."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.send("POST", "/api/demo")
        self.send("POST", "/review/api/examples")
        listed = service.http.get("/review/api/projects").json()["projects"]
        self.review = listed[0]["slug"]
        self.chats = [self.chat(f"Chat {n}") for n in range(4)]
        chats = [f"/projects/demo/chats/{chat}" for chat in self.chats]
        review = f"/review/p/{self.review}"
        self.twelve = ["/", *chats, review, "/dashboard/", "/projects/demo", "/", review,
                       "/dashboard/", "/"]  # fmt: skip

    def send(self, method: str, path: str, **body: object) -> dict[str, dict[str, str]]:
        answer = self.service.http.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        found: dict[str, dict[str, str]] = answer.json()
        return found

    def chat(self, name: str) -> str:
        return self.send("POST", CHATS, name=name)["chat"]["sessionId"]

    def change(self, word: str) -> None:
        """Say the word in what each window shows."""
        self.send("POST", "/api/projects", name=f"{word} project")
        self.send("PUT", f"/review/api/projects/{self.review}/description", description=word)
        self.send("PUT", f"/dashboard/api/apps/{word.lower()}", name=word, port=4173)
        self.chat(f"{word} chat")
        for chat in self.chats:
            self.send("POST", f"{CHATS}/{chat}/messages", prompt=f"{word} message")

    def streams(self) -> dict[str, float]:
        """How many streams the server has open, by kind."""
        found = scraped(self.service)
        parts = {of: count for (of,), count in found["svc_streams"].items()}
        chats, shared = found["svc_chat_streams"][()], found["svc_shared_streams"][()]
        return parts | {"chats": chats, "connections": shared}


@pytest.fixture
def person(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with Service(tmp_path_factory.mktemp("windows"), scheduler=False) as running:
        yield Desk(running)


def opened(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(url)
    return page


def live(page: Page) -> None:
    expect(page.get_by_role("img", name=LIVE)).to_be_visible()


def shows(pages: list[Page], word: str) -> None:
    for page in pages:
        expect(page.locator("#main").get_by_text(word).first).to_be_visible()


@pytest.mark.slow
def test_twelve_visible_windows_share_one_connection_and_go_on_through_a_restart(
    desk: Desk, person: BrowserContext
) -> None:
    pages = [opened(person, f"{desk.service.url}{path}") for path in desk.twelve]
    for page in pages:
        live(page)
    wanted = {"main": 1, "review": 1, "dashboard": 1, "chats": 4, "connections": 1}
    until(lambda: desk.streams() == wanted, what="one stream each, over one connection")

    assert [page.evaluate("document.visibilityState") for page in pages] == ["visible"] * 12
    assert [page.evaluate(ASK) for page in pages] == [200] * 12
    desk.change("Before")
    shows(pages, "Before")

    desk.service.stop()
    for page in pages:
        expect(page.get_by_role("img", name="Not connected")).to_be_visible()
    desk.service.start()
    for page in pages:
        live(page)
    desk.change("After")
    shows(pages, "After")
    assert [page.evaluate(ASK) for page in pages] == [200] * 12
    until(lambda: desk.streams() == wanted, what="one stream each, over one connection")

    for page in pages[1:]:
        page.close()
    until(lambda: desk.streams() == wanted | {"review": 0, "dashboard": 0, "chats": 0})


@pytest.mark.slow
def test_text_that_is_being_written_is_shown_once_when_another_window_opens(
    desk: Desk, person: BrowserContext
) -> None:
    chat = desk.chat("Written")
    page = opened(person, f"{desk.service.url}/projects/demo/chats/{chat}")
    answer = page.get_by_role("article", name="Answer")
    path = desk.service.projects / "demo" / ".chats" / f"{chat}.jsonl"
    with transcript.Writer(str(path)) as writer:
        writer.append("turn_start", "t1", engine="claude")
        text = live_text.Appender(str(path.with_suffix(".live")), "t1")
        text.add("b1", "text", "One and")
        text.flush()
        expect(answer.get_by_text("One and", exact=True)).to_be_visible()

        other = opened(person, f"{desk.service.url}/projects/demo/chats/{desk.chats[2]}")
        live(other)
        until(lambda: desk.streams()["chats"] == 2, what="the connection carries both")
        text.add("b1", "text", " two")
        text.flush()
        expect(answer.get_by_text("One and two", exact=True)).to_be_visible()
        text.close()


@pytest.mark.slow
def test_pages_outlive_the_worker_that_they_share(
    desk: Desk, person: BrowserContext, browser: Browser
) -> None:
    page = opened(person, f"{desk.service.url}/projects/demo/chats/{desk.chats[1]}")
    live(page)
    devtools = browser.new_browser_cdp_session()
    targets = devtools.send("Target.getTargets", {"filter": [{"type": "shared_worker"}]})
    for worker in targets["targetInfos"]:
        devtools.send("Target.closeTarget", {"targetId": worker["targetId"]})
    assert targets["targetInfos"]

    until(lambda: desk.streams()["connections"] == 1, what="another worker follows")
    desk.change("Heir")
    shows([page], "Heir message")


@pytest.mark.slow
def test_windows_on_the_ports_of_the_parts_share_one_connection_for_each_port(
    desk: Desk, person: BrowserContext
) -> None:
    review, apps = desk.service.review_url, desk.service.dashboard_url
    pages = [opened(person, url) for url in [f"{review}/p/{desk.review}", f"{apps}/"] * 7]
    for page in pages:
        live(page)

    wanted = {"main": 0, "review": 1, "dashboard": 1, "chats": 0, "connections": 2}
    until(lambda: desk.streams() == wanted, what="one connection for each port")
    assert [page.evaluate(ASK) for page in pages] == [200] * 14
    desk.change("Ports")
    shows(pages, "Ports")


def test_the_title_and_the_icon_of_a_hidden_tab_are_right_within_three_seconds(
    desk: Desk, person: BrowserContext
) -> None:
    apps = opened(person, f"{desk.service.url}/dashboard/")
    chat = opened(person, f"{desk.service.url}/projects/demo/chats/{desk.chats[0]}")
    for page in (apps, chat):
        live(page)
        page.evaluate(HIDE)
    icon = apps.locator("link[rel=icon]").get_attribute("href")

    desk.send("PUT", "/dashboard/api/apps/fallen", name="Fallen", port=1, expected="always")
    desk.send("PATCH", f"{CHATS}/{desk.chats[0]}", name="Renamed while nobody looked")

    expect(apps).to_have_title(re.compile("1 down"), timeout=SOON_MS)
    assert apps.locator("link[rel=icon]").get_attribute("href") != icon
    expect(chat).to_have_title(re.compile("Renamed while nobody looked"), timeout=SOON_MS)


@pytest.mark.slow
def test_where_no_worker_can_be_shared_more_windows_than_connections_go_on_answering(
    desk: Desk, person: BrowserContext
) -> None:
    person.add_init_script(ALONE)
    pages = [opened(person, f"{desk.service.url}/") for _ in range(8)]

    until(lambda: desk.streams()["connections"] == 4, what="four have a stream of their own")
    assert [page.evaluate(ASK) for page in pages] == [200] * 8
    for page in pages[:4]:
        page.evaluate(HIDE)
    desk.change("Alone")
    shows(pages[4:], "Alone project")
