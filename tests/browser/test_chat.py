"""The chat page: stop, queue, fork, archive, rename; nothing in a chat can act as markup."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.service import Service, until

WAITS = "#!runbook\n```Bash\nsleep 60\n```\n"
HOSTILE = '#!runbook\n<img src=x onerror="document.title=1"> **bold** [x](javascript:alert(1))\n'
GLOB = '```Glob\n{"pattern": "*"}\n```\n'


@pytest.fixture
def slug(shared_service: Service) -> str:
    shared_service.http.post("/api/projects", json={"name": "Talk"})
    return "talk"


def start(page: Page, slug: str, prompt: str) -> None:
    page.goto(f"/projects/{slug}/chats")
    page.get_by_role("textbox", name="Message").fill(prompt)
    page.get_by_role("button", name=re.compile("^Start chat")).click()
    page.wait_for_url(re.compile(r"/chats/[0-9a-f-]{36}$"))


def more(page: Page, item: str) -> None:
    page.get_by_role("button", name="More for this chat").click()
    page.get_by_role("menuitem", name=re.compile(f"^{item}")).click()


def test_a_denied_command_fails_the_turn_and_it_can_be_run_again(page: Page, slug: str) -> None:
    start(page, slug, WAITS)
    page.get_by_role("group", name="Bash asks to run").get_by_role(
        "button", name=re.compile("^Deny")
    ).click()

    expect(page.get_by_text("You denied Bash")).to_be_visible()
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()


def test_stop_ends_the_turn_and_holds_what_waits(page: Page, slug: str) -> None:
    start(page, slug, WAITS)
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    page.get_by_role("textbox", name="Message").fill("#!runbook\n" + GLOB)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("list", name="Queue, 1 message")).to_contain_text("next")

    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_text("1 message held: the last turn was stopped")).to_be_visible()
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_hidden()
    page.get_by_role("button", name="Resume queue").click()
    expect(page.get_by_text("1 tool call", exact=True).last).to_be_visible()
    expect(page.get_by_text("1 message held")).to_be_hidden()


def test_a_waiting_message_is_taken_out_of_the_queue(page: Page, slug: str) -> None:
    start(page, slug, WAITS)
    expect(page.get_by_role("group", name="Bash asks to run")).to_be_visible()
    page.get_by_role("textbox", name="Message").fill("never runs")
    page.keyboard.press("Control+Enter")

    page.get_by_role("button", name="Take message 1 out of the queue").click()

    expect(page.get_by_role("list", name=re.compile("^Queue"))).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_fork_rename_and_archive_with_undo(page: Page, slug: str) -> None:
    start(page, slug, "#!runbook\n" + GLOB)
    expect(page.get_by_text("1 tool call", exact=True)).to_be_visible()
    more(page, "Rename")
    page.get_by_role("textbox", name=re.compile("^Name of this chat")).fill("Files here")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=re.compile("Files here"))).to_be_visible()

    more(page, "Fork")
    expect(page.locator("#here")).to_have_text("Fork of Files here")
    expect(page.get_by_text("1 tool call", exact=True)).to_be_visible()

    more(page, "Archive")
    expect(page.locator("#archived")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#archived")).to_be_hidden()


def test_what_a_chat_says_is_text_and_never_markup(page: Page, slug: str) -> None:
    start(page, slug, HOSTILE + GLOB)

    expect(page.get_by_text("1 tool call", exact=True)).to_be_visible()
    expect(page.locator("#lines img, #lines a[href^=javascript]")).to_have_count(0)
    expect(page.get_by_text("<img src=x").last).to_be_visible()


def test_typed_text_survives_a_reload(page: Page, slug: str) -> None:
    page.goto(f"/projects/{slug}/chats")
    page.get_by_role("textbox", name="Message").fill("half a thought")
    page.reload()

    expect(page.get_by_role("textbox", name="Message")).to_have_value("half a thought")


def test_a_chat_with_plain_text_says_that_no_engine_is_set_up(page: Page, slug: str) -> None:
    start(page, slug, "What is in this project?")

    expect(page.get_by_text("No engine can run this message")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


def test_a_long_chat_starts_at_its_end_and_unfolds_upwards(
    page: Page, slug: str, shared_service: Service
) -> None:
    long = "#!runbook\n" + "".join(f"Line {n}.\n{GLOB}" for n in range(70))
    made = shared_service.http.post(f"/api/projects/{slug}/chats", json={"prompt": long}).json()
    chat = f"/projects/{slug}/chats/{made['chat']['sessionId']}"
    until(lambda: shared_service.http.get(f"/api{chat}").json()["chat"]["lastTurn"], what="the end")

    page.goto(chat)
    expect(page.get_by_text("Line 69.", exact=True)).to_be_in_viewport()
    expect(page.get_by_text("Line 0.", exact=True)).to_have_count(0)
    page.get_by_role("region", name="Transcript").focus()
    page.keyboard.press("Home")

    expect(page.get_by_text("Line 0.", exact=True)).to_have_count(1)
    expect(page.get_by_text("Runbook", exact=True).first).to_be_attached()
    expect(page.get_by_role("button", name="Show earlier messages")).to_be_hidden()
    for n in (1, 35, 69):
        expect(page.get_by_text(f"Line {n}.", exact=True)).to_have_count(1)


def test_a_cut_connection_misses_nothing_and_repeats_nothing(
    page: Page, slug: str, shared_service: Service, watch: Watch
) -> None:
    watch.meant += ["ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED"]
    start(page, slug, f"#!runbook\nBefore the cut.\n{GLOB}")
    expect(page.get_by_text("Before the cut.", exact=True)).to_be_visible()
    chat = page.url.split("/projects/")[1]

    page.context.set_offline(True)
    prompt = f"#!runbook\nWhile it was cut.\n{GLOB}"
    shared_service.http.post(f"/api/projects/{chat}/messages", json={"prompt": prompt})
    page.context.set_offline(False)

    expect(page.get_by_text("While it was cut.", exact=True)).to_be_visible()
    expect(page.get_by_text("Before the cut.", exact=True)).to_have_count(1)
    expect(page.get_by_text("1 tool call", exact=True)).to_have_count(2)
