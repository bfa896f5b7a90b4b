"""From a thread to an agent and back, as a person goes through it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.commits import LINES, Commit, changed, made, text
from tests.service import Service, until
from tests.stubs.openai import Stub, use
from tests.stubs.openai import text as says

REPLY, PROPOSE = "mcp__svc_review__reply", "mcp__svc_review__propose_resolved"


@pytest.fixture
def shared_service(model_service: Service) -> Service:
    return model_service


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    """A commit under review, in whose repository the project `desk` works."""
    commit = made(shared_service, tmp_path)
    body = {"name": "Desk", "path": str(commit.repo.path)}
    shared_service.http.post("/api/projects", json=body).raise_for_status()
    mode = {"permissionMode": "acceptEdits", "model": "local:plum"}
    shared_service.http.patch("/api/projects/desk", json=mode).raise_for_status()
    return commit


def thread(page: Page, words: str) -> Locator:
    return page.locator(".thread").filter(has_text=words)


def mends(stub: Stub, commit: Commit, tid: str) -> None:
    """A model that changes the line, answers and proposes."""
    lines = changed(LINES)
    lines[11] = "line 12, in cents"
    path = str(commit.repo.path / "a.py")
    stub.say(use("Write", {"file_path": path, "content": text(lines)}))
    stub.say(use(REPLY, {"thread": tid, "body": "It says cents now."}))
    stub.say(use(PROPOSE, {"thread": tid}))
    stub.say(says("Done."))


@pytest.mark.slow
def test_a_message_that_was_changed_and_not_sent_is_there_again_as_long_as_it_is_the_same(
    page: Page, commit: Commit
) -> None:
    tid = commit.thread("Say cents.", path="a.py", side="RIGHT", line=12)
    page.goto(f"{commit.address}#thread-{tid}")
    expect(thread(page, "Say cents.")).to_be_focused()
    page.keyboard.press("a")
    message = page.get_by_role("dialog").get_by_role("textbox", name="Message")
    message.press("Control+Home")
    page.keyboard.type("Be brief. ")
    page.keyboard.press("Escape")
    page.reload()
    expect(thread(page, "Say cents.")).to_be_focused()
    page.keyboard.press("a")
    expect(message).to_have_value(re.compile("^Be brief. "))

    page.keyboard.press("Escape")
    commit.reply(tid, "Or euros?")
    expect(thread(page, "Say cents.")).to_contain_text("Or euros?")
    page.keyboard.press("a")
    expect(message).to_have_value(re.compile("Or euros?"))
    expect(message).not_to_have_value(re.compile("Be brief"))
    page.keyboard.type("Now. ")
    page.keyboard.press("Escape")
    page.reload()
    expect(thread(page, "Say cents.")).to_be_focused()
    page.keyboard.press("a")
    expect(message).to_have_value(re.compile("^Now. "))
    before = page.get_by_text("Typed before what is asked about changed: Be brief.")
    expect(before).to_be_visible()
    page.get_by_role("button", name="Put it here").click()
    expect(message).to_have_value(re.compile("^Be brief. "))
    expect(page.get_by_text("what is asked about changed: Now.")).to_be_visible()


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_thread_is_asked_about_answered_looked_at_and_resolved(
    page: Page, commit: Commit, stub: Stub
) -> None:
    tid = commit.thread("Say cents.", path="a.py", side="RIGHT", line=12)
    mends(stub, commit, tid)
    page.goto(f"{commit.address}#thread-{tid}")
    card = thread(page, "Say cents.")
    expect(card).to_be_focused()

    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="Ask an agent about 1 thread")
    message = dialog.get_by_role("textbox", name="Message")
    expect(message).to_have_value(re.compile(rf"### `{tid}` · a\.py:12"))
    expect(dialog.get_by_role("combobox", name="Where")).to_contain_text("New chat in Desk")
    message.press("Control+Home")
    page.keyboard.type("Please be brief. ")
    dialog.get_by_role("button", name="Send").click()

    expect(page.locator("#toasts")).to_contain_text("Sent.")
    expect(card).to_contain_text("Answered", timeout=60_000)
    assert stub.asked[0].messages[-1][1].startswith("Please be brief. ")
    assert "> Say cents." in stub.asked[0].messages[-1][1]
    expect(card.locator(".comment")).to_have_count(2)
    expect(card).to_contain_text("agent:builtin thinks it is done")
    since = card.locator(".mended")
    expect(since).to_contain_text("in the work tree, not committed yet")
    expect(since.locator(".del")).to_have_text("-line 12, new\n")
    expect(since.locator(".add")).to_have_text("+line 12, in cents\n")

    page.keyboard.press("Escape")
    page.keyboard.press("A")
    expect(page.locator(".answered-list button.row")).to_have_count(1)
    expect(card).to_be_focused()
    page.keyboard.press("e")
    expect(card).to_contain_text("Resolved")
    expect(page.locator(".answered-list")).to_be_hidden()
    until(lambda: commit.threads()[0]["resolved"], what="resolved")
    chat = card.page.context.request.get(f"{commit.service.url}/api/projects/desk/chats").json()
    assert [one["name"] for one in chat["chats"]] == ["Review: Say line 12 anew"]


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_from_the_project_its_stacks_are_asked_about_and_the_same_chat_goes_on(
    page: Page, commit: Commit, stub: Stub
) -> None:
    stub.say(says("I looked."))
    stub.say(says("And again."))
    commit.thread("First.", path="a.py", side="RIGHT", line=12)
    commit.thread("Second.")
    page.goto(f"/review/p/{commit.slug}")

    page.get_by_role("button", name=re.compile("^Ask an agent about Commits")).click()
    dialog = page.get_by_role("dialog", name="Ask an agent about 2 threads")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_be_hidden()
    rows = page.locator("#threads li.asked")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Ask an agent about all open threads").click()
    where = page.get_by_role("combobox", name="Where")
    chosen: Any = where.evaluate("node => node.selectedOptions[0].textContent")
    assert chosen == "Continue: Review: Say line 12 anew"
    page.get_by_role("button", name="Send").click()

    expect(page.get_by_role("dialog")).to_be_hidden()
    chats = commit.service.http.get("/api/projects/desk/chats").json()["chats"]
    assert len(chats) == 1
