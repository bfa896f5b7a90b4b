"""Suggestions are applied, folded into their commit, and taken back, all on the pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.commits import LINES, Commit, changed, made, text
from tests.browser.conftest import Watch
from tests.browser.test_review_threads import row, thread
from tests.service import Service

SUGGESTION = "{words}\n```suggestion\n{line}\n```"


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    """The lower of two commits above main."""
    found = made(shared_service, tmp_path)
    found.repo.commit({"b.py": "b, new\n", "a.py": text(["top", *changed(LINES)])}, "Go on")
    return found


def subjects(commit: Commit) -> list[str]:
    return commit.repo.git("log", "--reverse", "--format=%s", "main..topic").split("\n")


def test_two_suggestions_are_applied_folded_and_undone(page: Page, commit: Commit) -> None:
    commit.thread(SUGGESTION.format(words="Better", line="line 12, better"), path="a.py", line=12)
    commit.thread(SUGGESTION.format(words="Shorter", line="13"), path="a.py", line=13)
    commit.thread("Stays here", path="a.py", line=30)
    page.goto(commit.address)
    expect(row(page, "line 12, new")).to_be_visible()
    expect(thread(page, "Better").locator(".suggestion")).to_contain_text("line 12, better")

    page.get_by_role("button", name="Apply 2 suggestions").click()

    expect(page.locator(".toast")).to_contain_text("2 suggestions applied: fixup")
    expect(page.locator(".thread.resolved")).to_have_count(2)
    expect(page.get_by_role("button", name="Apply 2 suggestions")).to_be_hidden()
    assert subjects(commit) == ["Say line 12 anew", "Go on", "fixup! Say line 12 anew"]
    before = commit.repo.sha("topic")

    page.goto(f"/review/p/{commit.slug}")
    page.get_by_role("button", name="Fold 1 fixup").click()

    expect(page.locator(".toast")).to_have_text("1 fixup folded.")
    expect(page.get_by_text("The fixups of topic were folded")).to_be_visible()
    expect(page.get_by_role("button", name="Fold 1 fixup")).to_be_hidden()
    assert subjects(commit) == ["Say line 12 anew", "Go on"]
    assert commit.repo.git("status", "--short") == ""
    commit.sha = commit.repo.sha("topic~1")
    stands = {
        one["comments"][0]["body"].split("\n")[0]: (one["line"], one["outdated"], one["resolved"])
        for one in commit.threads()
    }
    assert stands == {
        "Better": (12, True, True),
        "Shorter": (13, True, True),
        "Stays here": (30, False, False),
    }
    page.get_by_role("link", name="Say line 12 anew").first.click()
    expect(row(page, "line 12, better")).to_be_visible()
    expect(thread(page, "Stays here")).to_be_visible()

    page.goto(f"/review/p/{commit.slug}")
    page.get_by_role("button", name="Undo the fold").click()

    expect(page.locator(".toast")).to_have_text("The fold was undone.")
    expect(page.get_by_role("button", name="Fold 1 fixup")).to_be_visible()
    assert commit.repo.sha("topic") == before


@pytest.mark.slow
def test_a_press_on_the_undo_of_a_fold_counts_although_the_page_changes_meanwhile(
    page: Page, commit: Commit
) -> None:
    commit.repo.commit({"c.py": "c, new\n"}, "fixup! Say line 12 anew")
    before = commit.repo.sha("topic")
    page.goto(f"/review/p/{commit.slug}")
    page.get_by_role("button", name="Fold 1 fixup").click()
    page.get_by_role("button", name="Undo the fold").hover()
    page.mouse.down()
    commit.sha = commit.repo.sha("topic~1")
    commit.thread("Said meanwhile", path="a.py", line=12)
    expect(page.get_by_text("Said meanwhile")).to_be_visible()
    page.mouse.up()

    expect(page.get_by_text("The fold was undone.")).to_be_visible()
    assert commit.repo.sha("topic") == before


@pytest.mark.slow
def test_one_suggestion_is_applied_in_its_thread(page: Page, commit: Commit) -> None:
    commit.thread(SUGGESTION.format(words="Better", line="line 12, better"), path="a.py", line=12)
    page.goto(commit.address)

    thread(page, "Better").get_by_role("button", name="Apply").click()

    expect(thread(page, "Better")).to_contain_text("Resolved")
    assert subjects(commit)[-1] == "fixup! Say line 12 anew"


@pytest.mark.slow
def test_a_suggestion_begins_with_the_lines_as_they_are(page: Page, commit: Commit) -> None:
    page.goto(commit.address)
    row(page, "line 12, new").hover()
    page.get_by_role("button", name="Comment on line 12").click()
    page.get_by_role("textbox", name="New comment on line 12").fill("Rather:")

    page.get_by_role("button", name="Suggest").click()
    page.keyboard.type("line 12, typed")
    page.keyboard.press("Control+Enter")

    card = thread(page, "Rather:")
    expect(card.locator(".suggestion")).to_contain_text("line 12, typed")
    commit.until_comments(["Rather:\n\n```suggestion\nline 12, typed\n```"])
    card.get_by_role("button", name="Apply").click()
    expect(card).to_contain_text("Resolved")
    assert (commit.repo.path / "a.py").read_text().split("\n")[12] == "line 12, typed"


def test_why_a_fold_is_refused_stays_on_the_stack(page: Page, commit: Commit, watch: Watch) -> None:
    watch.meant.append("409")
    commit.repo.commit({"b.py": "b, newer\n"}, "fixup! Say line 12 anew")
    page.goto(f"/review/p/{commit.slug}")

    page.get_by_role("button", name="Fold 1 fixup").click()

    expect(page.get_by_role("alert")).to_contain_text("conflicts in b.py")
    expect(page.locator(".toast")).to_have_count(0)
    expect(page.get_by_role("button", name="Fold 1 fixup")).to_be_visible()
    assert subjects(commit)[-1] == "fixup! Say line 12 anew"
