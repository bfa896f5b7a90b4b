"""Notifications of the browser: asked for by a press alone, one for each event, leading to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from tests.browser.conftest import CHROMIUM, MODULES, WAIT_MS, Watch, Windows, launched
from tests.promises.rings import few
from tests.service import Service, until
from tests.workspace.chats.world import FAILS

# What the page shows, in place of the system's own: the rest of the browser is as it is.
SHOWN = """(() => {
  window.shown = [];
  window.opened = [];
  const ask = Notification.requestPermission.bind(Notification);
  window.asks = 0;
  class Stub {
    static get permission() { return Notification.real.permission; }
    static requestPermission() { window.asks += 1; return ask(); }
    constructor(title, options) { Object.assign(this, options, { title }); shown.push(this); }
    close() { this.closed = true; this.onclose?.(); }
  }
  Stub.real = Notification;
  window.Notification = Stub;
  window.open = (url) => opened.push(String(url));
})()"""
HIDE = """Object.defineProperty(document, "hidden", { value: true, configurable: true });
document.dispatchEvent(new Event("visibilitychange"));"""
PROJECT = "/api/projects/told"


class Told:
    """A project whose trigger fails, in a service whose pages listen."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.count = 0
        service.http.post("/api/projects", json={"name": "Told"})

    def fail(self) -> str:
        """The title that pages are to show."""
        self.count += 1
        name = f"check-{self.count}"
        trigger = {"trigger": {"type": "schedule", "interval": "1d"}, "run": {"prompt": FAILS}}
        http = self.service.http
        http.put(f"{PROJECT}/triggers/{name}", json=trigger).raise_for_status()
        run = http.post(f"{PROJECT}/triggers/{name}/run").json()["runId"]
        until(
            lambda: http.get(f"/api/runs/{run}").json()["run"]["status"] == "failed",
            seconds=30,
            what="the run failed",
        )
        return f"Trigger {name} of told failed"


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """The whole one: the one without windows of its own asks nobody for notifications."""
    with launched(playwright, CHROMIUM) as browser:
        yield browser


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Iterator[Windows]:
    with closing(Windows(browser)) as windows:
        yield windows


@pytest.fixture(scope="module")
def told(shared_service: Service) -> Told:
    return Told(shared_service)


@pytest.fixture
def asked(context: BrowserContext, watch: Watch) -> BrowserContext:
    """A browser whose person says yes when they are asked."""
    context.grant_permissions(["notifications"])
    return context


def opened(context: BrowserContext, url: str, *, hidden: bool = False) -> Page:
    page = context.new_page()
    page.add_init_script(SHOWN)
    page.goto(url)
    expect(
        page.locator("#live svg[aria-label^='Live']").or_(page.locator("#bell")).first
    ).to_be_visible()
    if hidden:
        page.evaluate(HIDE)
    return page


def press(page: Page) -> None:
    page.locator("#bell").click()
    page.get_by_role("menuitem", name="Notify me in this browser").click()
    expect(page.get_by_text("Notifications are on in this browser.")).to_be_visible()


def witness(page: Page) -> None:
    """Keep what the page is told, after its own script was told."""
    page.evaluate(f"""async () => {{
      window.told = [];
      const {{ follow }} = {MODULES}["js/kit/stream.js"];
      follow("/api/events", {{ notification: ({{ title }}) => told.push(title) }});
    }}""")


def titles(*pages: Page) -> list[str]:
    found = [page.evaluate("shown.map(({ title }) => title)") for page in pages]
    return [title for one in found for title in one if title != "Notifications are on"]


def wait_for(title: str, *pages: Page) -> None:
    until(lambda: title in titles(*pages), seconds=WAIT_MS / 1000, what=title)


def test_nothing_is_asked_or_shown_until_a_person_presses(asked: BrowserContext, told: Told):
    page = opened(asked, "/")
    told.fail()
    page.reload()

    assert page.evaluate("asks") == 0
    assert titles(page) == []
    press(page)
    assert page.evaluate("asks") == 1


def test_one_event_is_one_notification_in_many_pages_and_leads_to_the_run(
    asked: BrowserContext, told: Told
):
    places = few(["/", "/review/", "/dashboard/", "/runs", "/projects/told"] * 2, 3)
    pages = [opened(asked, place, hidden=True) for place in places]
    press(pages[0])
    for page in pages[1:]:
        page.reload()
        page.evaluate(HIDE)

    first, second = told.fail(), told.fail()

    for title in (first, second):
        wait_for(title, *pages)
    assert sorted(titles(*pages)) == [first, second]
    for page in pages:
        page.evaluate("shown.forEach((one) => one.onclick?.())")
    led: list[str] = [url for page in pages for url in page.evaluate("opened")]
    assert len(led) == 2
    assert all("/projects/told/runs?status=failed&trigger=check-" in url for url in led)


@pytest.mark.slow
def test_pages_of_all_three_ports_show_one_together(
    asked: BrowserContext, told: Told, shared_service: Service
):
    urls = [shared_service.dashboard_url, shared_service.review_url, shared_service.url]
    for url in urls:
        asked.grant_permissions(["notifications"], origin=url)
    pages = [opened(asked, f"{url}/") for url in urls]
    for page in pages:
        if page.evaluate("Notification.permission") == "granted":
            page.locator("#bell").click()
            item = page.get_by_role("menuitem", name="Notify me in this browser")
            if item.count():
                item.click()
            else:
                page.keyboard.press("Escape")
        page.evaluate(HIDE)

    title = told.fail()
    wait_for(title, *pages)
    last = told.fail()
    wait_for(last, *pages)

    assert sorted(titles(*pages)) == [title, last]


@pytest.mark.slow
def test_what_is_asked_is_taken_back_when_it_was_answered_elsewhere(
    asked: BrowserContext, told: Told, shared_service: Service
):
    http, url = shared_service.http, shared_service.review_url
    asked.grant_permissions(["notifications"], origin=url)
    pages = [opened(asked, place, hidden=True) for place in (f"{url}/", "/", "/runs")]
    press(pages[0])
    for page in pages[1:]:
        page.reload()
        page.evaluate(HIDE)
    chats = f"{PROJECT}/chats"
    sent = {"name": "Sort it", "prompt": "#!runbook\n```Bash\necho asked\n```\n"}
    chat = http.post(chats, json=sent).json()["chat"]["sessionId"]
    wait_for("Sort it asks: Bash", *pages)
    (page,) = (page for page in pages if titles(page))
    assert not page.evaluate("shown.some(({ closed }) => closed)")

    call = http.get(f"{chats}/{chat}").json()["chat"]["asked"]["call"]
    http.post(f"{chats}/{chat}/permissions/{call}", json={"allow": False}).raise_for_status()

    until(lambda: page.evaluate("shown.at(-1).closed"), what="it was taken back")


@pytest.mark.slow
def test_the_port_of_apps_shows_one_alone(
    asked: BrowserContext, told: Told, shared_service: Service
):
    url = shared_service.dashboard_url
    asked.grant_permissions(["notifications"], origin=url)
    page = opened(asked, f"{url}/")
    press(page)
    page.evaluate(HIDE)

    title = told.fail()

    wait_for(title, page)
    page.evaluate("shown.at(-1).onclick()")
    (led,) = page.evaluate("opened")
    assert led.startswith(f"http://localhost:{shared_service.ports['main']}/projects/told/runs?")


def test_what_a_visible_page_shows_is_not_shown_again(asked: BrowserContext, told: Told):
    hidden = opened(asked, "/", hidden=True)
    press(hidden)
    visible = opened(asked, "/projects/told/runs")

    told.fail()
    until(lambda: "svc_notified=" in hidden.evaluate("document.cookie"), what="it was decided")
    visible.goto("/")
    last = told.fail()

    wait_for(last, hidden, visible)
    assert titles(hidden, visible) == [last]


@pytest.mark.slow
def test_off_is_off_in_every_page(asked: BrowserContext, told: Told):
    page, other = opened(asked, "/", hidden=True), opened(asked, "/runs", hidden=True)
    press(page)
    page.locator("#bell").click()
    page.get_by_role("menuitem", name="Stop notifications in this browser").click()

    for one in (page, other):
        witness(one)
    missed = told.fail()
    for one in (page, other):
        until(lambda: missed in one.evaluate("told"), what="told while off")  # noqa: B023
    press(other)
    last = told.fail()

    wait_for(last, page, other)
    assert titles(page, other) == [last]


def test_a_refusal_of_the_browser_is_said_with_the_way_out(
    context: BrowserContext, watch: Watch, told: Told
):
    page = opened(context, "/")
    page.locator("#bell").click()
    page.get_by_role("menuitem", name="Notify me in this browser").click()

    expect(page.get_by_text("The browser refuses notifications of this address.")).to_be_visible()


def test_settings_say_what_to_write_where_no_channel_is(page: Page):
    page.goto("/settings")

    expect(page.get_by_role("heading", name="Notifications")).to_be_visible()
    expect(page.get_by_text("No one is notified while no page is open")).to_be_visible()
    expect(page.get_by_role("region", name="Example of notify")).to_contain_text("apprise: env:")


def test_a_chat_is_looked_at_while_its_page_can_be_seen(page: Page, told: Told):
    chat = told.service.http.post(f"{PROJECT}/chats", json={}).json()["chat"]["sessionId"]
    folder = told.service.data / "run" / "looking"

    def lookers() -> list[str]:
        return [path.name for path in folder.glob(f"{chat}.*")]

    page.goto(f"/projects/told/chats/{chat}")
    until(lambda: len(lookers()) == 1, what="the page says so")
    page.evaluate(HIDE)
    until(lambda: not lookers(), what="and that it is hidden")
    page.reload()
    until(lambda: len(lookers()) == 1, what="a page that comes back")
    page.goto("/")
    until(lambda: not lookers(), what="a page that goes")
