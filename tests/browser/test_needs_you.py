"""A chat that asks is found from every page and answered: once, for the chat, or with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.promises.rings import few
from tests.service import Service, until

SLEEPS = "#!runbook\n```Bash\nsleep 600\n```\n"
ASKS = "#!runbook\n```Bash\necho one thing\n```\n```Bash\necho one other\n```\n"
PLANS = '#!runbook\n```Glob\n{"pattern": "*"}\n```\nFirst this, then that.\n'
CHATS = "/api/projects/calm/chats"


class Desk:
    """Nine chats that run and, once it is told to, a tenth that asks."""

    def __init__(self, service: Service) -> None:
        self.service = service
        for name, mode in (("Calm", "default"), ("Busy", "bypassPermissions")):
            self.send("POST", "/api/projects", name=name)
            self.send("PATCH", f"/api/projects/{name.lower()}", permissionMode=mode)
        for n in range(9):
            self.send("POST", "/api/projects/busy/chats", name=f"Busy {n}", prompt=SLEEPS)

    def send(self, method: str, path: str, **body: object) -> dict[str, Any]:
        answer = self.service.http.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def ask(self, name: str, prompt: str = ASKS) -> str:
        """A chat whose turn asks; its id."""
        made: str = self.send("POST", CHATS, name=name, prompt=prompt)["chat"]["sessionId"]
        until(lambda: self.chat(made)["asked"], what="a question", seconds=60)
        return made

    def chat(self, chat: str) -> dict[str, Any]:
        found: dict[str, Any] = self.service.http.get(f"{CHATS}/{chat}").json()["chat"]
        return found

    def last(self, chat: str) -> str:
        """What the last message of the chat says, once its turn is over."""
        until(lambda: not self.chat(chat)["running"], what="the end", seconds=60)
        messages = self.service.http.get(f"{CHATS}/{chat}/messages").json()["messages"]
        return str(messages[-1]["content"])


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("needs")
    with Service(folder, env={"SVC_MAX_RUNNING_TURNS": "12"}) as running:
        yield running


@pytest.fixture(scope="module")
def desk(shared_service: Service) -> Desk:
    return Desk(shared_service)


@pytest.fixture
def asking(desk: Desk) -> Iterator[str]:
    """A chat that asks, which is over after the test."""
    chat = desk.ask("Sort the receipts")
    yield chat
    desk.send("POST", f"{CHATS}/{chat}/stop")


def question(page: Page) -> Locator:
    return page.get_by_role("group", name="Bash asks to run")


@pytest.mark.parametrize(("theme", "width"), few([("light", 1440), ("dark", 390)], 1))
def test_a_person_finds_the_one_of_ten_chats_that_asks_from_any_page(
    browser: Browser, desk: Desk, theme: Any, width: int
) -> None:
    context = browser.new_context(
        base_url=desk.service.url,
        viewport={"width": width, "height": 800},
        color_scheme=theme,
        reduced_motion="reduce",
    )
    home, project, runs = (context.new_page() for _ in range(3))
    home.goto("/")
    project.goto("/projects/calm")
    runs.goto("/runs")
    for page in (home, project, runs):
        expect(page.locator("main h1, main h2").first).to_be_visible()

    chat = desk.ask(f"Sort at {width}")

    for page in (home, project, runs):
        expect(page).to_have_title(re.compile(r"^\(1\) "), timeout=3000)
        expect(page.locator('.part[data-part="main"]')).to_contain_text("1 chat needs you")
    needs = home.get_by_role("region", name="Needs you")
    expect(needs).to_contain_text("Bash echo one thing")
    expect(needs).to_contain_text("denied in")
    expect(needs.get_by_role("button", name="Allow Bash")).to_be_visible()
    row = project.get_by_role("listitem").filter(has_text=f"Sort at {width}")
    expect(row).to_contain_text("asks: Bash echo one thing")
    assert not home.evaluate("document.documentElement.scrollWidth > innerWidth")

    runs.keyboard.press("g")
    runs.keyboard.press("n")
    runs.wait_for_url(re.compile(chat), wait_until="commit")
    expect(question(runs)).to_be_visible()
    expect(question(runs)).to_contain_text(re.compile(r"denied in \d+ m"))
    assert not runs.evaluate("document.documentElement.scrollWidth > innerWidth")

    needs.get_by_role("button", name="Deny Bash").click()
    expect(needs).to_be_hidden()
    for page in (home, project):
        expect(page).not_to_have_title(re.compile(r"^\("))
    context.close()


FAR_BELOW_A_POLL_MS = 5000
TIMES = """new MutationObserver(() => {
  if (document.title.startsWith("(1) ")) window.heard ??= Date.now();
}).observe(document.querySelector("title"), { childList: true });"""


@pytest.mark.slow
def test_pages_of_review_and_apps_hear_at_once_and_have_the_key(
    browser: Browser, desk: Desk
) -> None:
    urls = [f"{desk.service.url}/runs", f"{desk.service.url}/review/"]
    urls += [f"{desk.service.url}/dashboard/"]
    urls += [f"{desk.service.review_url}/", f"{desk.service.dashboard_url}/"]
    context = browser.new_context()
    pages = [context.new_page() for _ in urls]
    for page, url in zip(pages, urls, strict=True):
        with page.expect_response(re.compile("/api/badges$")):
            page.goto(url)
        page.evaluate(TIMES)

    chat = desk.ask("Sort from afar")

    for page in pages:
        expect(page).to_have_title(re.compile(r"^\(1\) "), timeout=FAR_BELOW_A_POLL_MS)
        expect(page.locator('.part[data-part="main"]')).to_contain_text("1 chat needs you")
    since = desk.chat(chat)["asked"]["since"]
    late = [page.evaluate("(since) => heard - Date.parse(since)", since) for page in pages]
    assert max(late) < FAR_BELOW_A_POLL_MS, late
    for page in pages[1:]:
        page.keyboard.press("g")
        page.keyboard.press("n")
        page.wait_for_url(
            re.compile(f":{desk.service.ports['main']}/.*{chat}$"), wait_until="commit"
        )
        expect(question(page)).to_be_visible()

    desk.send("POST", f"{CHATS}/{chat}/stop")
    expect(pages[0]).not_to_have_title(re.compile(r"^\("))
    context.close()


@pytest.mark.slow
def test_the_palette_offers_it_first(page: Page, desk: Desk, asking: str) -> None:
    page.goto("/runs")
    page.keyboard.press("Control+k")

    page.get_by_role("combobox", name="Search or jump to").fill("needs you")
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile(asking), wait_until="commit")


def test_what_is_allowed_in_a_chat_runs_unasked_until_it_is_taken_back(
    page: Page, desk: Desk, asking: str
) -> None:
    page.goto(f"/projects/calm/chats/{asking}")
    question(page).get_by_role("button", name=re.compile("Allow echo one thing … in this")).click()
    expect(page.get_by_text("You allowed Bash")).to_be_visible()
    # The second command begins otherwise, so it is asked for.
    expect(question(page)).to_contain_text("echo one other")
    page.keyboard.press("a")
    assert desk.last(asking).endswith("ok")

    desk.send("POST", f"{CHATS}/{asking}/messages", prompt=ASKS)
    expect(question(page)).to_contain_text("echo one other")
    page.keyboard.press("c")
    assert desk.last(asking).endswith("ok")
    facts = page.get_by_role("complementary", name="About this chat")
    facts.get_by_role("button", name="Ask for echo one thing … again").click()

    expect(facts).not_to_contain_text("echo one thing")
    assert desk.chat(asking)["allow"] == ["Bash(echo one other)"]


def test_a_denial_tells_the_agent_why(page: Page, desk: Desk, asking: str) -> None:
    page.goto(f"/projects/calm/chats/{asking}")
    why = question(page).get_by_role("textbox", name=re.compile("^Why not"))
    why.fill("use the ledger instead")
    page.reload()
    expect(why).to_have_value("use the ledger instead")
    why.press("Enter")

    expect(page.get_by_text("You denied Bash: use the ledger instead")).to_be_visible()
    lines = desk.service.http.get(f"{CHATS}/{asking}/messages").json()["messages"]
    results = [line["toolCall"]["output"] for line in lines if line["role"] == "tool"]
    assert "use the ledger instead" in str(results)


def test_a_page_that_shows_a_question_keeps_it_waiting(page: Page, desk: Desk, asking: str) -> None:
    before = desk.chat(asking)["asked"]["until"]
    with page.expect_response(re.compile(r"/keep$")):
        page.goto(f"/projects/calm/chats/{asking}")

    after = desk.chat(asking)["asked"]["until"]
    assert after > before
    expect(question(page).locator("[data-until]")).to_have_attribute("data-until", after)


@pytest.mark.slow
def test_a_plan_is_approved_where_it_ends_and_goes_on_in_the_chosen_mode(
    page: Page, desk: Desk
) -> None:
    desk.send("PATCH", "/api/projects/calm", permissionMode="acceptEdits")
    page.goto("/projects/calm/chats")
    mode = page.get_by_role("combobox", name="What agents may do unasked in this chat")
    expect(mode.locator("option[value=bypassPermissions]")).to_be_disabled()
    mode.select_option("plan")
    page.get_by_role("textbox", name="Message").fill(PLANS)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/chats/[0-9a-f-]{36}$"), wait_until="commit")
    chat = page.url.rpartition("/")[2]
    expect(mode).to_have_value("plan")

    plan = page.locator(".planned")
    expect(plan).to_contain_text("nothing was changed")
    plan.get_by_role("combobox").select_option("default")
    expect(plan.get_by_role("button", name="Go on with this plan")).to_be_visible()
    page.keyboard.press("Escape")  # out of the box
    page.keyboard.press("y")

    expect(page.get_by_text("The plan is approved. Go on with it.")).to_be_visible()
    expect(plan).to_have_count(0)
    expect(mode).to_have_value("default")
    until(lambda: not desk.chat(chat)["running"], what="the end")
    path = desk.service.projects / "calm" / ".chats" / f"{chat}.jsonl"
    assert re.findall(r'"mode":"(\w+)"', path.read_text()) == ["plan", "default"]


@pytest.mark.slow
def test_a_trigger_that_may_wait_is_answered_from_the_home_page(page: Page, desk: Desk) -> None:
    desk.send("PATCH", "/api/projects/calm", permissionMode="default")
    nightly = {"trigger": {"type": "schedule", "cron": "0 3 * * *"}, "enabled": True}
    run = {"prompt": "#!runbook\n```Bash\necho at night\n```\n", "onAsk": "wait"}
    desk.send("PUT", "/api/projects/calm/triggers/nightly", **nightly, run=run)
    made = desk.send("POST", "/api/projects/calm/triggers/nightly/run")
    path = f"/api/runs/{made['runId']}"

    page.goto("/")
    needs = page.get_by_role("region", name="Needs you")
    expect(needs).to_contain_text("trigger nightly")
    expect(needs).to_contain_text(re.compile(r"denied in 2[34] h"))
    told = desk.service.http.get(path).json()["run"]
    assert (told["status"], told["reason"]) == ("running", "waits for a person: Bash echo at night")
    needs.get_by_role("button", name="Allow Bash in nightly").click()

    expect(needs.get_by_text("trigger nightly")).to_have_count(0)
    until(lambda: desk.service.http.get(path).json()["run"]["status"] == "completed", what="it")
