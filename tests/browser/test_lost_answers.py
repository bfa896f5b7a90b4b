"""An answer that never comes: what was sent is not sent twice, and what was written is not lost."""

from __future__ import annotations

import contextlib
import re

import pytest
from playwright.sync_api import BrowserContext, Error, Page, Route, expect

from tests.browser.conftest import Held, Watch
from tests.service import Service, until

SLEEPS = "#!runbook\n```Bash\nsleep 60\n```\n"


@pytest.fixture
def chat(shared_service: Service) -> str:
    shared_service.http.post("/api/projects", json={"name": "Lost"})
    made = shared_service.http.post("/api/projects/lost/chats", json={"prompt": SLEEPS})
    return f"lost/chats/{made.json()['chat']['sessionId']}"


def lose(page: Page, pattern: str) -> None:
    """The next answer to a POST is lost: the service did what was asked."""

    lost: list[Route] = []

    def once(route: Route) -> None:
        if route.request.method != "POST" or lost:
            route.fallback()
            return
        lost.append(route)
        assert route.fetch().status < 300
        route.abort()

    page.route(pattern, once)


def queued(service: Service, chat: str) -> list[str]:
    rows = service.http.get(f"/api/projects/{chat}").json()["queue"]
    return [row["prompt"] for row in rows][1:]


def test_a_message_whose_answer_is_lost_is_sent_again_as_the_same_after_a_reload(
    page: Page, shared_service: Service, chat: str, watch: Watch
) -> None:
    watch.meant.append("ERR_FAILED")
    page.goto(f"/projects/{chat}")
    box = page.get_by_role("textbox", name="Message")
    lose(page, "**/messages")

    box.fill("#!runbook\nOnce")
    page.get_by_role("button", name=re.compile("^Queue")).click()
    expect(page.get_by_text("The service does not answer")).to_be_visible()
    page.reload()
    expect(box).to_have_value("#!runbook\nOnce")
    page.get_by_role("button", name=re.compile("^Queue")).click()

    expect(page.get_by_text("It had arrived before: it is not sent twice.")).to_be_visible()
    expect(box).to_have_value("")
    assert queued(shared_service, chat) == ["#!runbook\nOnce"]
    box.fill("#!runbook\nOnce")
    page.get_by_role("button", name=re.compile("^Queue")).click()
    expect(box).to_have_value("")
    assert len(queued(shared_service, chat)) == 2
    shared_service.http.post(f"/api/projects/{chat}/stop").raise_for_status()


def test_a_request_without_an_end_lets_go_of_send_and_keeps_the_text(
    page: Page, shared_service: Service, chat: str
) -> None:
    page.clock.install()
    page.goto(f"/projects/{chat}")
    box = page.get_by_role("textbox", name="Message")
    send = page.get_by_role("button", name=re.compile("^Queue"))
    box.fill("#!runbook\nLate")
    held = Held(page, "**/messages")
    with page.expect_request("**/messages"):
        send.click()
    expect(send).to_have_attribute("aria-busy", "true")
    page.clock.fast_forward(61_000)

    expect(page.get_by_text("No answer came within a minute. Your text is kept")).to_be_visible()
    expect(box).to_have_value("#!runbook\nLate")
    page.unroute(held.pattern)
    send.click()
    expect(box).to_have_value("")
    assert queued(shared_service, chat) == ["#!runbook\nLate"]
    shared_service.http.post(f"/api/projects/{chat}/stop").raise_for_status()


def test_one_request_that_fails_is_no_lost_connection_for_longer_than_that(
    page: Page, chat: str, watch: Watch
) -> None:
    watch.meant.append("ERR_FAILED")
    page.clock.install()
    page.goto(f"/projects/{chat}")
    expect(page.get_by_role("img", name="Live: changes arrive by themselves")).to_be_visible()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.route("**/messages", lambda route: route.abort())
    page.get_by_role("textbox", name="Message").fill("#!runbook\nLost")
    page.get_by_role("button", name=re.compile("^Queue")).click()
    lost = page.get_by_text("Connection lost")

    def told() -> bool:
        page.clock.run_for(10)  # the request may take a moment to fail
        return lost.is_visible()

    until(told, what="the connection told as lost")
    page.clock.run_for(2000)
    expect(lost).to_be_hidden(timeout=5000)
    expect(page.get_by_role("img", name="Live: changes arrive by themselves")).to_be_visible()


@pytest.mark.slow
def test_a_chat_whose_answer_is_lost_is_started_once(
    page: Page, shared_service: Service, chat: str, watch: Watch
) -> None:
    watch.meant.append("ERR_FAILED")
    shared_service.http.post(f"/api/projects/{chat}/stop").raise_for_status()
    before = shared_service.http.get("/api/projects/lost/chats").json()["chats"]
    page.goto("/projects/lost/chats")
    lose(page, "**/chats")

    page.get_by_role("textbox", name="Message").fill("#!runbook\nStart once")
    page.get_by_role("button", name=re.compile("^Start chat")).click()
    expect(page.get_by_text("The service does not answer")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Start chat")).click()

    page.wait_for_url(re.compile(r"/chats/[0-9a-f-]{36}$"))
    after = shared_service.http.get("/api/projects/lost/chats").json()["chats"]
    assert len(after) == len(before) + 1


@pytest.mark.slow
def test_what_a_closed_window_had_typed_is_offered_where_another_typed_too(
    page: Page, context: BrowserContext, chat: str
) -> None:
    other = context.new_page()
    for window, text in ((other, "#!runbook\nTheirs"), (page, "#!runbook\nMine")):
        window.goto(f"/projects/{chat}")
        window.get_by_role("textbox", name="Message").fill(text)
        window.get_by_role("textbox", name="Message").blur()  # it is kept at once
    other.goto("about:blank")
    other.close()
    page.reload()

    box = page.get_by_role("textbox", name="Message")
    expect(box).to_have_value("#!runbook\nMine")
    left = page.get_by_role("group", name="Text of a window that was closed")
    expect(left).to_contain_text("Theirs")
    left.get_by_role("button", name="Put it here").click()
    expect(box).to_have_value("#!runbook\nMine\n\n#!runbook\nTheirs")
    expect(left).to_have_count(0)


@pytest.mark.slow
def test_what_a_window_that_crashed_had_typed_is_offered_where_another_wrote_over_it(
    page: Page, context: BrowserContext, chat: str
) -> None:
    other = context.new_page()
    for window in (other, page):
        window.goto(f"/projects/{chat}")
        expect(window.get_by_role("textbox", name="Message")).to_have_value("")
    for window, text in ((other, "Theirs"), (page, "Mine")):
        window.get_by_role("textbox", name="Message").fill(text)
        window.get_by_role("textbox", name="Message").blur()
    left = page.get_by_role("group", name="Text of a window that was closed")
    page.reload()
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Mine")
    expect(left).to_have_count(0)  # it has it still
    with other.expect_event("crash"), contextlib.suppress(Error):
        other.goto("chrome://crash")
    other.close()
    page.reload()

    expect(left).to_contain_text("Theirs")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Mine")
