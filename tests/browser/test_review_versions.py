"""Two versions of a commit on its page, text found in the whole diff, a stack as one diff."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.commits import LINES, Commit, changed, made, text
from tests.service import Service


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    return made(shared_service, tmp_path)


def amended(commit: Commit) -> str:
    """Seen in its first version, then line 30 is changed too and the base brings a heading."""
    first = commit.sha
    commit.put("/viewed", {"path": "a.py", "viewed": True})
    lines = changed(LINES)
    lines[29] = "line 30, new"
    commit.amend({"a.py": text(lines)})
    commit.rebase(["a heading"])
    return first


def test_what_changed_since_the_last_look_opens_first(page: Page, commit: Commit) -> None:
    first = amended(commit)
    page.goto(commit.address)

    bar = page.locator("#compared")
    expect(bar).to_contain_text("Since my last look")
    expect(bar).to_contain_text("Rebased")
    expect(bar.get_by_label("Compare")).to_have_value(first)
    rows = page.locator("tr.ln.add:not(.from-base)")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("line 30, new")
    expect(page.locator("tr.ln.from-base")).to_contain_text("a heading")
    expect(page.locator("tr.ln.from-base .sr").first).to_have_text("from the new base")

    to_whole = bar.get_by_role("link", name="Whole commit").element_handle()
    page.locator("tr.ln.add:not(.from-base) td.n").last.click()
    page.keyboard.press("c")
    page.keyboard.type("Why this one?")
    with page.expect_response(lambda answer: "/since/" in answer.url):
        page.keyboard.press("Control+Enter")
    expect(page.locator(".thread")).to_contain_text("Why this one?")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert to_whole.evaluate("(link) => link.isConnected"), "what is read again leaves it there"
    (said,) = commit.threads()
    assert (said["side"], said["line"], said["placement"]) == ("RIGHT", 31, "exact")

    bar.get_by_role("link", name="Whole commit").click()
    expect(page).to_have_url(re.compile(r"\?whole"))
    expect(page.locator("tr.ln.add")).to_have_count(2)
    expect(page.locator(".from-base")).to_have_count(0)
    bar.get_by_role("link", name="Since my last look").click()
    expect(rows).to_have_count(1)


@pytest.mark.slow
def test_any_two_versions_are_picked(page: Page, commit: Commit) -> None:
    first = amended(commit)
    page.goto(f"{commit.address}?whole")
    bar = page.locator("#compared")
    bar.get_by_label("with").select_option(first)

    expect(page).to_have_url(re.compile(f"since=PARENT&to={first}"))
    expect(page.locator("tr.ln.add")).to_have_count(1)
    expect(page.locator("tr.ln.add")).to_contain_text("line 12, new")
    page.locator("tr.ln.add td.n").last.click()
    page.keyboard.press("c")
    expect(page.get_by_text("This is an older version")).to_be_visible()
    bar.get_by_label("Compare").select_option(commit.sha)
    expect(page.locator("tr.ln.del").filter(has_text="line 30, new")).to_have_count(1)


@pytest.mark.slow
def test_text_is_found_in_files_that_are_not_loaded(page: Page, commit: Commit) -> None:
    many: dict[str, str | bytes | None] = {f"f{n:02}.txt": "x\n" * 30 for n in range(20)}
    many["z.txt"] = "a needle\nand a needle\n"
    commit.amend(many)
    page.goto(commit.address)
    expect(page.locator("tr.ln").first).to_be_visible()
    page.keyboard.press("f")
    field = page.get_by_role("searchbox", name="Find in the whole diff")
    expect(field).to_be_focused()
    field.fill("needle")
    expect(page.locator(".finder")).to_contain_text("2 lines")
    field.press("Enter")
    expect(page.locator(".finder")).to_contain_text("1 of 2")
    expect(page.locator("tr.ln.on")).to_contain_text("a needle")
    expect(page.locator("tr.ln.on")).to_be_in_viewport()
    expect(field).to_be_focused()
    field.press("Shift+Enter")
    expect(page.locator("tr.ln.on")).to_contain_text("and a needle")
    field.press("Escape")
    expect(page.get_by_role("button", name="Find in the diff")).to_be_focused()


def test_a_stack_is_read_as_one_diff(look: BrowserContext, commit: Commit, axe: str) -> None:
    commit.sha = commit.repo.commit({"b.py": "b, new\n"}, "Say b anew")
    commit._until_listed()
    page = look.new_page()
    page.goto(f"/review/p/{commit.slug}")
    page.get_by_role("link", name="as one diff").click()

    expect(page.locator("#facts")).to_contain_text("2 commits as one diff")
    expect(page.locator("section.file")).to_have_count(2)
    expect(page.locator("tr.ln.add")).to_have_count(2)
    page.keyboard.press("f")
    page.get_by_role("searchbox", name="Find in the whole diff").fill("b, new")
    expect(page.locator(".finder")).to_contain_text("1 lines")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.evaluate(axe)
    assert page.evaluate("axe.run('main')")["violations"] == []
