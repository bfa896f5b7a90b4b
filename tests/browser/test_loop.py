"""The whole loop: threads, an agent that works on them, a fold, a rebase, and what is left to say.

A real service, real git, and a model that is scripted; after each step every thread stands on its
line of its commit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.commits import LINES, Commit, made, text
from tests.review.repos import Repo
from tests.service import Service, until
from tests.stubs.openai import Stub, use
from tests.stubs.openai import text as says

REPLY, PROPOSE = "mcp__svc_review__reply", "mcp__svc_review__propose_resolved"
CENTS, MORE, WHY = "Say cents.", "Say what it is.", "Why this one?"
OPENING = {CENTS: "line 12, new", MORE: "line 20, new", WHY: "line 30, new"}
MENDED = OPENING | {CENTS: "line 12, in cents", MORE: "line 20, a price"}
STACK = ["Name the file", "Say line 12 anew", "Go on"]


@pytest.fixture
def shared_service(model_service: Service) -> Service:
    return model_service


def said(lines: dict[int, str], *, above: int = 0) -> str:
    """a.py with these lines instead of its own, and so many new ones before its sixth."""
    found = [lines.get(n, line) for n, line in enumerate(LINES, 1)]
    return text([*found[:5], *["between"] * above, *found[5:]])


LOWER = {8: "line 8, named"}
MIDDLE = LOWER | {12: "line 12, new", 20: "line 20, new", 30: "line 30, new"}


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    """The middle one of three commits, in whose repository the project `desk` works."""
    found = made(shared_service, tmp_path)
    repo = found.repo
    repo.reset("main")
    repo.commit({"a.py": said(LOWER)}, STACK[0])
    found.sha = repo.commit({"a.py": said(MIDDLE)}, STACK[1])
    repo.commit({"a.py": said(MIDDLE, above=1)}, STACK[2])
    found._until_listed()
    body = {"name": "Desk", "path": str(repo.path)}
    shared_service.http.post("/api/projects", json=body).raise_for_status()
    mode = {"permissionMode": "bypassPermissions", "model": "local:plum"}
    shared_service.http.patch("/api/projects/desk", json=mode).raise_for_status()
    return found


def thread(page: Page, words: str) -> Locator:
    return page.locator(".thread").filter(has_text=words)


def subjects(repo: Repo) -> list[str]:
    return repo.git("log", "--reverse", "--format=%s", "main..topic").split("\n")


def works(stub: Stub, commit: Commit, tids: dict[str, str]) -> None:
    """A model that mends two threads in one fixup, says so, and has a question about the third."""
    mended = said(MIDDLE | {12: MENDED[CENTS], 20: MENDED[MORE]}, above=1)
    command = (
        "git -c user.name=Plum -c user.email=plum@example.org "
        f"commit -qa --fixup={commit.sha} && git log -1 --format=%s"
    )
    stub.say(use("Write", {"file_path": str(commit.repo.path / "a.py"), "content": mended}))
    stub.say(use("Bash", {"command": command}))
    for words in (CENTS, MORE):
        stub.say(use(REPLY, {"thread": tids[words], "body": f"Done: {MENDED[words]}."}))
        stub.say(use(PROPOSE, {"thread": tids[words]}))
    stub.say(use(REPLY, {"thread": tids[WHY], "body": "Do you mean its name or its place?"}))
    stub.say(says("Two are mended, one is a question."))


def standing(commit: Commit) -> dict[str, tuple[str, bool]]:
    """What is said first in each thread of the commit -> the text of the line of that commit that
    it stands on, and whether it is outdated."""
    lines = commit.repo.git("show", f"{commit.sha}:a.py").split("\n")
    return {
        one["comments"][0]["body"]: (lines[one["line"] - 1], one["outdated"])
        for one in commit.threads()
    }


def drawn(page: Page, words: str) -> str:
    """The text of the line that a thread stands below on the page."""
    code: str = thread(page, words).evaluate(
        """card => {
            let row = card.closest("tr");
            while (row && !row.matches("tr.ln")) row = row.previousElementSibling;
            return [...row.querySelectorAll("td.code")].at(-1).textContent;
        }"""
    )
    return code.strip()


def legible(page: Page, words: str) -> None:
    """Where a thread stands and why is not squeezed between its state and its buttons."""
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 720})
        box = thread(page, words).locator("header .where").bounding_box()
        assert box is not None
        assert box["height"] < 2 * box["width"], (width, box)
        wide: int = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width


def asked_about(page: Page, commit: Commit) -> None:
    """All open threads of the commit are asked about; the message is shown first."""
    page.goto(commit.address)
    expect(page.locator("#threadlist")).to_contain_text("3 open threads")
    page.locator("#threadlist").click()
    page.get_by_role("menuitem", name="Ask an agent about all open threads").click()
    dialog = page.get_by_role("dialog", name="Ask an agent about 3 threads")
    message = dialog.get_by_role("textbox", name="Message")
    for words, line in OPENING.items():
        expect(message).to_have_value(re.compile(rf"{line}[^#]*> {re.escape(words)}"))
    dialog.get_by_role("button", name="Send").click()
    expect(page.locator("#toasts")).to_contain_text("Sent.")


def states(commit: Commit) -> dict[str, str]:
    return {one["comments"][0]["body"]: one["state"] for one in commit.threads()}


@pytest.mark.timeout(240)
def test_threads_are_asked_about_mended_folded_rebased_and_settled(
    page: Page, commit: Commit, stub: Stub
) -> None:
    repo = commit.repo
    lines = {CENTS: 12, MORE: 20, WHY: 30}
    tids = {words: commit.thread(words, path="a.py", line=n) for words, n in lines.items()}
    assert standing(commit) == {words: (line, False) for words, line in OPENING.items()}
    works(stub, commit, tids)

    asked_about(page, commit)
    for words in tids:
        expect(thread(page, words)).to_contain_text("Answered", timeout=60_000)
    assert subjects(repo) == [*STACK, "fixup! Say line 12 anew"]
    assert repo.git("status", "--short") == ""
    assert standing(commit) == {words: (line, False) for words, line in OPENING.items()}
    for words in (CENTS, MORE):
        since = thread(page, words).locator(".mended")
        expect(since).to_contain_text("above")
        expect(since.locator(".add").first).to_contain_text("+line")
        expect(thread(page, words)).to_contain_text("agent:builtin thinks it is done")
    expect(thread(page, WHY)).to_contain_text("Do you mean its name or its place?")

    before = repo.sha("topic")
    page.goto(f"/review/p/{commit.slug}")
    page.get_by_role("button", name="Fold 1 fixup").click()
    expect(page.locator(".toast")).to_have_text("1 fixup folded.")
    expect(page.get_by_role("button", name="Undo the fold")).to_be_visible()
    assert subjects(repo) == STACK
    commit.sha = repo.sha("topic~1")
    mended = {CENTS: (MENDED[CENTS], True), MORE: (MENDED[MORE], True), WHY: (OPENING[WHY], False)}
    assert standing(commit) == mended
    folds = repo.git("for-each-ref", "--format=%(objectname)", "refs/svc/before/topic")
    assert folds == before

    repo.checkout("main")
    repo.commit({"a.py": text(["first", "second", *LINES])}, "Mainline moves")
    repo.checkout("topic")
    commit.sha = repo.rebase("main")[1]
    commit._until_listed()
    assert standing(commit) == mended
    expect(page.get_by_role("button", name="Undo the fold")).to_be_hidden()

    _settled(page, commit, stub, tids)
    assert standing(commit) == mended
    _kept(commit, before)


def _settled(page: Page, commit: Commit, stub: Stub, tids: dict[str, str]) -> None:
    """Two are resolved, one is asked about again, all by keys."""
    stub.say(use(REPLY, {"thread": tids[WHY], "body": "It is its name, I see."}))
    stub.say(says("Said."))
    asked = len(stub.asked)
    page.goto(commit.address)
    expect(page.locator("#threadlist")).to_contain_text("3 open threads")
    expect(page.locator("#compared")).to_contain_text("Since my last look")
    legible(page, CENTS)
    for words in (CENTS, MORE):
        page.keyboard.press("A")
        card = thread(page, words)
        expect(card).to_be_focused()
        assert drawn(page, words) == MENDED[words]
        page.keyboard.press("e")
        expect(card).to_contain_text("Resolved")
    page.keyboard.press("A")
    card = thread(page, WHY)
    expect(card).to_be_focused()
    assert drawn(page, WHY) == MENDED[WHY]
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="Ask an agent about 1 thread")
    message = dialog.get_by_role("textbox", name="Message")
    expect(message).to_have_value(re.compile(r"a\.py:32[^#]* 32  line 30, new"))
    expect(message).to_have_value(re.compile(r"Do you mean its name or its place\?"))
    where = dialog.get_by_role("combobox", name="Where")
    chosen: Any = where.evaluate("node => node.selectedOptions[0].textContent")
    assert chosen.startswith("Continue: ")
    message.press("Control+Home")
    page.keyboard.type("Its name. ")
    dialog.get_by_role("button", name="Send").click()
    expect(card).to_contain_text("It is its name, I see.", timeout=60_000)
    assert stub.asked[asked].messages[-1][1].startswith("Its name. ")
    assert states(commit) == {CENTS: "resolved", MORE: "resolved", WHY: "answered"}
    until(commit.file.exists, what="a file of the rebased commit")


def _kept(commit: Commit, before: str) -> None:
    """To undo the fold is refused with what to do; the tip of before it is still kept."""
    repo, http = commit.repo, commit.service.http
    (ref,) = repo.git("for-each-ref", "--format=%(refname)", "refs/svc/before/topic").split("\n")
    assert repo.sha(ref) == before
    undo = f"/review/api/projects/{commit.slug}/repos/app/fold/undo"
    refused = http.post(undo, json={"id": ref.rpartition("/")[2]})
    assert (refused.status_code, refused.json()["code"]) == (409, "changed")
    assert ref in refused.json()["error"]
    assert repo.git("show", f"{before}:a.py").split("\n")[12] == MENDED[CENTS]
