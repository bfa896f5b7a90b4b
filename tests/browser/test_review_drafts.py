"""Drafts on the page of a commit, and submitting them with a verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.commits import LINES, Commit, changed, made, text
from tests.browser.conftest import Watch
from tests.service import Service


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    return made(shared_service, tmp_path)


def write(page: Page, commit: Commit, words: str) -> None:
    page.goto(f"{commit.address}?whole")
    expect(page.locator("tr.ln.add")).to_be_visible()
    page.locator("tr.ln.add td.n").last.click()
    page.keyboard.press("c")
    page.keyboard.type(words)


def test_drafts_are_kept_edited_and_sent_with_a_verdict(page: Page, commit: Commit) -> None:
    thread = commit.thread("Said before", path="a.py", line=3)
    write(page, commit, "Why anew?")
    page.get_by_role("button", name="Save as a draft").last.click()
    draft = page.locator(".thread.drafted")
    expect(draft).to_contain_text("Why anew?")
    expect(page.get_by_role("button", name="Submit review, 1 draft")).to_be_visible()
    assert [one["id"] for one in commit.threads()] == [thread]

    answer = page.locator(f"#thread-{thread}").get_by_label("Reply")
    answer.fill("A reply, not sent")
    answer.press("Control+Shift+Enter")
    expect(draft).to_have_count(2)
    page.reload()
    expect(draft).to_have_count(2)
    first = draft.filter(has_text="Why anew?")
    first.get_by_role("button", name="Edit").click()
    page.get_by_label("Edit your draft").fill("Why *anew*?")
    draft.locator(".send").click()
    expect(draft.locator("em")).to_have_text("anew")

    page.get_by_role("button", name="Submit review").click()
    box = page.get_by_role("dialog", name="Submit review")
    expect(box).to_contain_text("2 drafts will be sent")
    box.get_by_label("About the whole commit").fill("Nearly there.")
    box.get_by_label("Ask for changes").check()
    box.get_by_role("button", name="Submit").click()

    expect(page.locator("#verdicts")).to_contain_text("asks for changes")
    expect(draft).to_have_count(0)
    expect(page.locator(".thread:not(.drafted)")).to_have_count(3)
    commit.until_comments(["Said before", "A reply, not sent", "Why *anew*?", "Nearly there."])


def test_a_deleted_draft_comes_back_by_undo_and_is_not_sent_otherwise(
    page: Page, commit: Commit
) -> None:
    commit.post("/threads", {"body": "Not yet", "path": "a.py", "line": 12, "draft": True})
    page.goto(f"{commit.address}?whole")
    draft = page.locator(".thread.drafted")
    draft.get_by_role("button", name="Delete").click()
    expect(draft).to_have_count(0)
    expect(page.get_by_role("button", name="Submit review", exact=True)).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(draft).to_contain_text("Not yet")
    assert len(commit.get("/drafts")["drafts"]) == 1

    draft.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Submit review", exact=True).click()
    box = page.get_by_role("dialog", name="Submit review")
    box.get_by_label("Approve").check()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#verdicts")).to_contain_text("approved")
    assert commit.get("/drafts")["drafts"] == []
    assert commit.threads() == []


def test_a_verdict_says_that_the_commit_changed_since_and_is_taken_back(
    page: Page, commit: Commit
) -> None:
    commit.post("/verdict", {"verdict": "approve"})
    page.goto(commit.address)
    expect(page.locator("#verdicts")).to_contain_text("approved")
    lines = changed(LINES)
    lines[29] = "line 30, new"
    page.goto("about:blank")  # an open page would ask for what is not there any more
    commit.amend({"a.py": text(lines)})
    page.goto(commit.address)
    expect(page.locator("#verdicts")).to_contain_text("approved, changed since")
    page.get_by_role("button", name="PR details").click()
    record = page.get_by_role("dialog", name="PR details")
    expect(record.locator(".facts")).to_contain_text("approved, changed since")
    page.keyboard.press("Escape")
    expect(page.locator("#compared")).to_contain_text("Since my last look")
    page.goto(f"/review/p/{commit.slug}")
    expect(page.locator(".project-row")).to_contain_text("approved, changed since")
    page.goto(commit.address)
    page.get_by_role("button", name="Submit review").click()
    page.get_by_role("button", name="Withdraw my verdict").click()
    expect(page.locator("#verdicts")).to_be_empty()


@pytest.mark.slow
def test_what_was_not_sent_is_there_on_the_commit_with_other_words(
    page: Page, commit: Commit, watch: Watch
) -> None:
    watch.meant.append("404")
    page.goto(commit.address)
    expect(page.get_by_role("button", name="No threads: list")).to_be_enabled()
    row = page.locator("tr.ln", has_text="line 12").last
    row.hover()
    row.get_by_role("button", name="Comment on line 12").click()
    page.get_by_label("New comment on line 12 of a.py").fill("Not sent yet")
    page.get_by_label("New comment on line 12 of a.py").blur()

    commit.amend({}, subject="The same in other words")

    notice = page.locator("#notices")
    expect(notice).to_contain_text(f"It is now {commit.sha[:7]}")
    page.goto(commit.address)
    expect(page.get_by_label("New comment on line 12 of a.py")).to_have_value("Not sent yet")


@pytest.mark.slow
def test_a_review_and_a_record_that_were_not_sent_are_there_after_an_amend(
    page: Page, commit: Commit, watch: Watch
) -> None:
    watch.meant.append("404")
    page.goto(commit.address)
    verdict = page.get_by_role("dialog", name="Submit review").get_by_label(
        "About the whole commit"
    )
    title = page.get_by_role("dialog", name="PR details").get_by_label("Title", exact=True)
    page.get_by_role("button", name="Submit review").click()
    verdict.fill("Nearly there")
    verdict.blur()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="PR details").click()
    title.fill("A better title")
    title.blur()
    page.keyboard.press("Escape")

    for subject in ("The same in other words", "And in others again"):
        commit.amend({}, subject=subject)
        page.goto(commit.address)
        page.get_by_role("button", name="Submit review").click()
        expect(verdict).to_have_value("Nearly there")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="PR details").click()
        expect(title).to_have_value("A better title")
        page.keyboard.press("Escape")


@pytest.mark.slow
def test_a_record_that_another_window_changed_is_shown_beside_what_is_typed_and_lost_by_neither(
    page: Page, commit: Commit, watch: Watch
) -> None:
    watch.meant.append("409")
    before = commit.get("/pr")
    asked: list[str] = []

    def late(route: Route) -> None:
        """The page hears of nothing before it saves."""
        asked.append(route.request.method)
        if "PUT" not in asked:
            route.fulfill(json=before)
        else:
            route.continue_()

    page.route("**/pr", late)
    record = page.get_by_role("dialog", name="PR details")
    title = record.get_by_label("Title", exact=True)
    told = record.get_by_text("Changed elsewhere to “Theirs”.")
    page.goto(commit.address)
    page.get_by_role("button", name="PR details").click()
    title.fill("Mine")
    commit.put("/pr", {"title": "Theirs"})
    record.get_by_role("button", name="Save").click()

    expect(record.get_by_text("was changed meanwhile, perhaps in another window")).to_be_visible()
    expect(told).to_be_visible()
    expect(title).to_have_value("Mine")
    assert commit.get("/pr")["title"] == "Theirs"
    page.reload()
    page.get_by_role("button", name="PR details").click()
    expect(told).to_be_visible()
    expect(title).to_have_value("Mine")
    record.get_by_role("button", name="Take theirs").click()
    expect(title).to_have_value("Theirs")
    expect(told).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    expect(title).to_have_value("Mine")
    record.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert commit.get("/pr")["title"] == "Mine"


@pytest.mark.slow
def test_a_comment_that_changed_after_one_began_to_edit_it_is_told_after_a_reload_too(
    page: Page, commit: Commit
) -> None:
    thread = commit.thread("As it was", path="a.py", line=3)
    page.goto(commit.address)
    page.get_by_role("button", name="Edit your comment").click()
    box = page.get_by_label("Edit your comment").and_(page.get_by_role("textbox"))
    box.fill("Mine")
    page.goto("about:blank")
    text = commit.file.read_text()
    commit.file.write_text(text.replace("As it was", "As another window has it"))
    page.goto(f"{commit.address}#thread-{thread}")

    expect(page.get_by_text("Changed meanwhile to: “As another window has it”")).to_be_visible()
    expect(box).to_have_value("Mine")


@pytest.mark.slow
def test_drafts_fit_and_read_in_both_looks(look: BrowserContext, commit: Commit, axe: str) -> None:
    commit.post("/threads", {"body": "Not *yet*", "path": "a.py", "line": 12, "draft": True})
    commit.post("/verdict", {"verdict": "changes"})
    commit.post("/threads", {"body": "Nor this", "path": "a.py", "line": 12, "draft": True})
    page = look.new_page()
    page.goto(commit.address)
    expect(page.locator(".thread.drafted")).to_have_count(1)
    page.get_by_role("button", name="Submit review").click()
    expect(page.get_by_role("dialog", name="Submit review")).to_be_visible()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.evaluate(axe)
    assert page.evaluate("axe.run('dialog')")["violations"] == []
    page.keyboard.press("Escape")
    assert page.evaluate("axe.run('main')")["violations"] == []
