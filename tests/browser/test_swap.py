"""Going from chat to chat changes the content and keeps the frame: nothing is loaded anew, nothing
is lost, nothing is left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Locator, Page, expect

from tests.browser.conftest import Held, Watch
from tests.browser.test_chat_long import turn
from tests.config.test_metrics import scraped
from tests.service import Service, until
from workspace.chats import transcript

TURNS = 12
WITHOUT = "Object.defineProperty(window, 'navigation', { value: undefined })"
ROUNDS = 10  # of three swaps each, after which nothing may be left of them
NUMBERS = count()
NAMES = ("Amber", "Birch", "Cedar")


class Talks:
    """A project with three long chats."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.slug = f"swap-{next(NUMBERS)}"
        made = service.http.post("/api/projects", json={"name": self.slug})
        assert made.status_code == 201, made.text
        self.api = f"/api/projects/{self.slug}/chats"
        self.ids = {name: self.chat(name) for name in NAMES}

    def chat(self, name: str) -> str:
        made = self.service.http.post(self.api, json={"name": name}).json()
        session: str = made["chat"]["sessionId"]
        path = self.service.projects / self.slug / ".chats" / f"{session}.jsonl"
        with transcript.Writer(str(path)) as writer:
            for n in range(TURNS):
                turn(writer, n, f"{name} says {n}." + "\n\nmore" * 8)
        return session

    def address(self, name: str) -> str:
        return f"/projects/{self.slug}/chats/{self.ids[name]}"

    def say(self, name: str, text: str, n: int = TURNS) -> None:
        path = self.service.projects / self.slug / ".chats" / f"{self.ids[name]}.jsonl"
        with transcript.Writer(str(path)) as writer:
            turn(writer, n, text)


@pytest.fixture
def talks(shared_service: Service) -> Talks:
    return Talks(shared_service)


@pytest.fixture
def chat(page: Page, talks: Talks) -> Page:
    """Amber, in a document that is marked."""
    page.goto(talks.address("Amber"))
    shows(page, "Amber")
    mark(page)
    return page


def mark(page: Page) -> None:
    page.evaluate("document.documentElement.dataset.marked = 'yes'")


def loaded(page: Page) -> bool:
    """Whether the document is another one than was marked."""
    return bool(page.evaluate("document.documentElement.dataset.marked") != "yes")


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Chats of").locator("a.pick", has_text=name)


def shows(page: Page, name: str, words: str | None = None) -> None:
    last = words or f"{name} says {TURNS - 1}."
    expect(page.locator("#lines").get_by_text(last, exact=True)).to_be_in_viewport()
    expect(page).to_have_title(f"{name} · Workspace")
    expect(page.locator("#here")).to_have_text(name)
    expect(row(page, name)).to_have_attribute("aria-current", "page")
    expect(page.locator("a.pick[aria-current]")).to_have_count(1)


def scrolled(page: Page) -> int:
    return int(page.evaluate("document.querySelector('.script').scrollTop"))


def test_a_chat_opens_in_place_of_another_with_the_focus_and_the_list_as_they_were(
    chat: Page, talks: Talks
) -> None:
    chat.get_by_role("searchbox", name="Search chats").fill("c")  # Birch and Cedar
    expect(row(chat, "Amber")).to_have_count(0)
    row(chat, "Birch").focus()

    chat.keyboard.press("Enter")

    shows(chat, "Birch")
    assert chat.url.endswith(talks.address("Birch"))
    expect(row(chat, "Birch")).to_be_focused()
    expect(chat.get_by_role("searchbox", name="Search chats")).to_have_value("c")
    expect(chat.locator("h1")).to_have_text("Birch")
    expect(chat.get_by_role("status").filter(has_text="Birch · Workspace")).to_have_count(1)
    chat.keyboard.press("k")  # the row above or below: the list is walked on from there
    chat.keyboard.press("j")
    assert not loaded(chat)
    chat.reload()
    shows(chat, "Birch")
    assert loaded(chat)


def test_back_and_forward_show_each_chat_as_it_was_left(chat: Page) -> None:
    chat.get_by_role("region", name="Transcript").focus()
    chat.keyboard.press("Home")
    first = chat.locator("#lines").get_by_text("Question 0?")
    expect(first).to_have_count(1)
    chat.keyboard.press("Home")
    expect(first).to_be_in_viewport()
    row(chat, "Birch").click()
    shows(chat, "Birch")
    assert scrolled(chat) == 0
    row(chat, "Cedar").click()
    shows(chat, "Cedar")

    chat.go_back()
    shows(chat, "Birch")
    chat.go_back()

    expect(chat).to_have_title("Amber · Workspace")
    expect(first).to_be_in_viewport()
    chat.go_forward()
    shows(chat, "Birch")
    row(chat, "Amber").click()
    shows(chat, "Amber")
    assert scrolled(chat) == 0  # a new visit begins at the end
    assert not loaded(chat)


@pytest.mark.slow
def test_what_happened_in_a_chat_meanwhile_is_there_when_one_comes_back(
    chat: Page, talks: Talks
) -> None:
    row(chat, "Cedar").click()
    shows(chat, "Cedar")
    talks.say("Amber", "Said meanwhile.")
    route = f"{talks.api}/{talks.ids['Cedar']}"
    talks.service.http.patch(route, json={"name": "Cedar wood"})
    expect(chat.locator("#here")).to_have_text("Cedar wood")

    row(chat, "Amber").click()

    shows(chat, "Amber", "Said meanwhile.")
    talks.say("Amber", "Said while one looks.", TURNS + 1)
    shows(chat, "Amber", "Said while one looks.")
    talks.say("Cedar", "Nobody sees it.", TURNS)
    talks.service.http.patch(route, json={"name": "Cedar"})
    expect(row(chat, "Cedar")).not_to_contain_text("wood")
    expect(chat).to_have_title("Amber · Workspace")
    expect(chat.get_by_text("Nobody sees it.")).to_have_count(0)


@pytest.mark.slow
def test_a_draft_stays_with_its_chat(chat: Page) -> None:
    box = chat.get_by_role("textbox", name="Message")
    box.fill("For Amber")
    row(chat, "Birch").click()
    expect(box).to_have_value("")
    box.fill("For Birch")
    chat.go_back()
    expect(box).to_have_value("For Amber")
    chat.go_forward()
    expect(box).to_have_value("For Birch")
    chat.get_by_role("link", name="New chat").click()
    expect(box).to_be_focused()
    expect(box).to_have_value("")

    assert not loaded(chat)
    chat.go_back()
    chat.reload()
    expect(box).to_have_value("For Birch")


@pytest.mark.slow
def test_a_new_chat_is_started_and_deleted_without_another_page(chat: Page, watch: Watch) -> None:
    watch.meant.append("404")  # what an event names may be gone when it is asked for
    chat.keyboard.press("n")
    expect(chat).to_have_title(re.compile(r"^Chats · swap-\d+ · Workspace$"))
    expect(chat.locator("a.pick[aria-current]")).to_have_count(0)
    box = chat.get_by_role("textbox", name="Message")
    expect(box).to_be_focused()
    box.fill('#!runbook\n```Glob\n{"pattern": "*"}\n```\n')
    chat.keyboard.press("Control+Enter")
    chat.wait_for_url(re.compile(r"/chats/[0-9a-f-]{36}$"))
    expect(chat.get_by_text("1 tool call", exact=True)).to_be_visible()
    expect(chat.get_by_role("button", name="Stop")).to_be_hidden()
    address = chat.url

    chat.get_by_role("button", name="More for this chat").click()
    chat.get_by_role("menuitem", name="Delete").click()
    expect(chat).to_have_title(re.compile(r"^Chats · swap-\d+ · Workspace$"))
    chat.get_by_role("button", name="Undo").click()

    expect(chat).to_have_url(address)
    expect(chat.get_by_text("1 tool call", exact=True)).to_be_visible()
    assert not loaded(chat)


@pytest.mark.slow
def test_a_chat_that_is_gone_is_what_the_service_says_of_it(
    chat: Page, talks: Talks, watch: Watch
) -> None:
    watch.meant.append("404")
    row(chat, "Birch").click()
    shows(chat, "Birch")
    row(chat, "Amber").click()
    shows(chat, "Amber")
    deleted = talks.service.http.request("DELETE", f"{talks.api}/{talks.ids['Birch']}", json={})
    assert deleted.status_code == 200
    expect(row(chat, "Birch")).to_have_count(0)

    chat.go_back()

    expect(chat.get_by_role("heading", name="Nothing here")).to_be_visible()
    assert chat.url.endswith(talks.address("Birch"))


def test_a_chat_that_another_window_deletes_and_restores_goes_on_in_this_one(
    chat: Page, talks: Talks, watch: Watch
) -> None:
    watch.meant.append("404")  # what an event names may be gone when it is asked for
    http, amber = talks.service.http, f"{talks.api}/{talks.ids['Amber']}"
    box = chat.get_by_role("textbox", name="Message")
    box.fill("Half a ")
    gone = chat.get_by_role("alert").filter(has_text="This chat is deleted.")

    http.request("DELETE", amber, json={}).raise_for_status()
    expect(gone).to_be_visible()
    chat.keyboard.type("message")
    http.post(f"{amber}/restore").raise_for_status()

    expect(gone).to_have_count(0)
    expect(box).to_have_value("Half a message")
    talks.say("Amber", "Amber goes on.")
    expect(chat.get_by_text("Amber goes on.")).to_be_visible()
    assert not loaded(chat)


@pytest.mark.slow
def test_a_chat_of_a_deleted_project_goes_on_when_the_project_is_back(
    chat: Page, talks: Talks, watch: Watch
) -> None:
    watch.meant.append("404")
    http, project = talks.service.http, f"/api/projects/{talks.slug}"
    gone = chat.get_by_role("alert").filter(has_text="This chat is deleted.")

    http.request("DELETE", project, json={}).raise_for_status()
    expect(gone).to_be_visible()
    with chat.context.new_page() as other:  # one more page makes all ask for their streams again
        other.goto("/")
        expect(other.get_by_role("img", name="Live")).to_be_visible()
        expect(chat.get_by_role("img", name="Live")).to_be_visible()
    http.post(f"{project}/restore").raise_for_status()

    expect(gone).to_have_count(0)
    talks.say("Amber", "Amber goes on.")
    expect(chat.get_by_text("Amber goes on.")).to_be_visible()
    assert not loaded(chat)


@pytest.mark.slow
def test_the_restore_button_of_an_open_chat_brings_it_back_in_place(
    chat: Page, talks: Talks, watch: Watch
) -> None:
    watch.meant.append("404")
    amber = f"{talks.api}/{talks.ids['Amber']}"
    talks.service.http.request("DELETE", amber, json={}).raise_for_status()
    gone = chat.get_by_role("alert").filter(has_text="This chat is deleted.")
    expect(gone).to_be_visible()

    gone.get_by_role("button", name="Restore").click()

    expect(gone).to_have_count(0)
    assert talks.service.http.get(amber).status_code == 200
    assert not loaded(chat)


@pytest.mark.slow
def test_other_windows_other_pages_and_other_browsers_load_as_ever(
    chat: Page, talks: Talks, context: BrowserContext, watch: Watch
) -> None:
    with context.expect_page() as opened:
        row(chat, "Birch").click(modifiers=["Control"])
    shows(opened.value, "Birch")
    expect(chat).to_have_title("Amber · Workspace")
    chat.locator(f'.crumbs a[href="/projects/{talks.slug}"]').click()
    expect(chat.locator("#page h1")).to_be_visible()
    assert loaded(chat)

    plain = context.new_page()
    plain.add_init_script(WITHOUT)
    plain.goto(talks.address("Amber"))
    shows(plain, "Amber")
    mark(plain)
    row(plain, "Birch").click()
    shows(plain, "Birch")
    assert loaded(plain)


@pytest.mark.slow
def test_after_a_loss_of_the_connection_the_next_page_is_loaded(
    chat: Page, context: BrowserContext, watch: Watch
) -> None:
    watch.meant.append("ERR_FAILED")
    chat.route("**/api/badges", lambda route: route.abort())
    with chat.expect_event("requestfailed"):
        chat.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    chat.unroute_all()

    row(chat, "Birch").click()

    shows(chat, "Birch")
    assert loaded(chat)


@pytest.mark.slow
def test_on_a_phone_the_sheet_of_chats_makes_room_for_the_one_that_is_chosen(
    chat: Page, talks: Talks
) -> None:
    chat.set_viewport_size({"width": 390, "height": 800})
    for name in ("Birch", "Amber"):
        chat.get_by_role("button", name="Chats", exact=True).click()
        chat.get_by_role("dialog", name="Chats").locator("a.pick", has_text=name).click()
        expect(chat.get_by_role("dialog")).to_have_count(0)
        shown = chat.locator("#lines").get_by_text(f"{name} says {TURNS - 1}.", exact=True)
        expect(shown).to_be_in_viewport()
    chat.get_by_role("button", name="About", exact=True).click()
    expect(chat.get_by_role("dialog", name="About this chat")).to_contain_text("Started by")
    chat.go_back()
    expect(chat).to_have_title("Birch · Workspace")
    expect(chat.get_by_role("dialog")).to_have_count(0)
    chat.get_by_role("button", name="About", exact=True).click()
    about = chat.get_by_role("dialog", name="About this chat")
    expect(about).to_contain_text(talks.ids["Birch"])
    assert not loaded(chat)


@pytest.mark.slow
def test_a_dialogue_that_closes_takes_no_focus_from_what_a_key_opened_meanwhile(chat: Page) -> None:
    row(chat, "Amber").focus()
    chat.keyboard.press("?")
    expect(chat.get_by_role("dialog", name="Keys and help")).to_be_visible()

    chat.evaluate("""() => {
      const closed = new Promise((done) =>
        document.querySelector("dialog[open]").addEventListener("close", () => setTimeout(done)));
      document.querySelector("dialog[open]").close();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }));
      return closed;
    }""")

    expect(chat.get_by_role("textbox", name="Name of this chat")).to_be_focused()


@pytest.mark.slow
def test_keys_act_in_the_chat_that_is_shown_and_are_listed_once(chat: Page) -> None:
    for name in ("Birch", "Cedar", "Amber"):
        row(chat, name).click()
        shows(chat, name)
    chat.keyboard.press("?")
    keys = chat.get_by_role("dialog", name="Keys and help")
    expect(keys.get_by_text("Rename this chat", exact=True)).to_have_count(1)
    chat.keyboard.press("Escape")
    chat.keyboard.press("r")
    expect(chat.get_by_role("textbox", name="Name of this chat")).to_have_value("Amber")
    chat.keyboard.press("Escape")
    chat.keyboard.press("Control+k")
    chat.get_by_role("combobox", name="Search or jump to").fill("Rename this chat")
    expect(chat.get_by_role("option", name="Rename this chat")).to_have_count(1)
    assert not loaded(chat)


@pytest.mark.slow
def test_a_chat_is_named_anew_before_its_facts_are_there(chat: Page, talks: Talks) -> None:
    facts = Held(chat, f"**{talks.api}/{talks.ids['Birch']}")
    row(chat, "Birch").click()
    shows(chat, "Birch")
    chat.keyboard.press("r")
    name = chat.get_by_role("textbox", name="Name of this chat")
    expect(name).to_have_value("Birch")
    name.fill("Birch wood")
    facts.release()
    name.press("Enter")

    expect(chat.locator("#here")).to_have_text("Birch wood")


@pytest.fixture
def alone(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


class Counted:
    """What a page holds after its garbage is gone."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("Performance.enable")

    def now(self) -> dict[str, float]:
        for _ in range(3):
            self.session.send("HeapProfiler.collectGarbage")
        found = self.session.send("Performance.getMetrics")["metrics"]
        named = {one["name"]: one["value"] for one in found}
        return {name: named[name] for name in ("JSEventListeners", "Nodes", "JSHeapUsedSize")}


def nothing_left(before: dict[str, float], after: dict[str, float]) -> None:
    assert after["JSEventListeners"] <= before["JSEventListeners"] * 1.1
    assert after["Nodes"] <= before["Nodes"] * 1.1
    assert after["JSHeapUsedSize"] <= before["JSHeapUsedSize"] * 1.2


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_thirty_swaps_leave_nothing_behind(alone: BrowserContext, talks: Talks) -> None:
    page = alone.new_page()
    page.goto(f"{talks.service.url}{talks.address('Amber')}")
    counted = Counted(page)

    def around(times: int) -> dict[str, float]:
        for _ in range(times):
            for name in ("Birch", "Cedar", "Amber"):
                row(page, name).click()
                expect(page.locator("#here")).to_have_text(name)
        shows(page, "Amber")
        return counted.now()

    before = around(4)
    mark(page)

    after = around(ROUNDS)

    assert not loaded(page)
    nothing_left(before, after)
    until(
        lambda: scraped(talks.service)["svc_chat_streams"][()] == 1,
        what="the stream of the chat that is shown, and no other",
    )
