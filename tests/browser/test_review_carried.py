"""What a rebase makes of threads, as a commit's page shows it; its PR record; how it all looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.commits import LINES, Commit, changed, made, text
from tests.browser.conftest import Watch
from tests.browser.toasts import undo
from tests.service import Service


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    return made(shared_service, tmp_path)


def rewritten(commit: Commit) -> None:
    """Threads on a.py and b.py; then line 12 is written anew, line 20 moved, b.py deleted."""
    commit.thread("On twelve", path="a.py", line=12)
    commit.thread("On twenty", path="a.py", line=20)
    commit.thread("On b", path="b.py", line=1)
    commit.put("/viewed", {"path": "a.py", "viewed": True})
    lines = changed(LINES)
    lines[11:12] = ["line 12, newer", "and one more"]
    commit.amend({"a.py": text(lines), "b.py": None})


def test_carried_threads_say_where_they_stand_and_what_changed(page: Page, commit: Commit) -> None:
    old = commit.sha
    rewritten(commit)
    page.goto(commit.address)

    outdated = page.locator(".thread.outdated").filter(has_text="On twelve")
    expect(outdated).to_contain_text("Outdated")
    expect(outdated).to_contain_text("The line was rewritten")
    expect(outdated.locator(".was")).to_have_text(f"Written about line 12 of {old[:7]}line 12, new")
    assert page.locator("tr:has(.thread.outdated)").evaluate(
        "(row) => row.previousElementSibling.textContent.includes('line 12, newer')"
    )
    moved = page.locator(".thread").filter(has_text="On twenty")
    expect(moved).to_contain_text("line 21, moved from line 20")
    lost = page.locator("#general .thread").filter(has_text="On b")
    expect(lost).to_contain_text("b.py is no longer in this commit")
    expect(lost.locator(".was")).to_contain_text("Written about line 1")

    banner = page.locator("#carried .banner")
    expect(banner).to_contain_text(f"Carried over from {old[:7]} by author and date. 3 threads")
    expect(banner).to_contain_text("1 mark fell off; 2 threads are outdated.")
    page.get_by_role("button", name="What changed").focus()
    page.keyboard.press("Enter")
    between = page.get_by_role("dialog", name="What changed")
    expect(between.locator("tr.del")).to_contain_text(["removed since: line 12, new"])
    expect(between.locator("tr.add").first).to_contain_text("added since: line 12, newer")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="What changed")).to_be_focused()

    since = page.get_by_role("button", name="Changed since you viewed a.py")
    since.focus()
    page.keyboard.press("Enter")
    between = page.get_by_role("dialog", name="Changed since you viewed")
    expect(between.get_by_role("heading")).to_have_text(f"Since you viewed a.py in {old[:7]}")
    expect(between.locator("tr.add").first).to_contain_text("added since: line 12, newer")
    expect(between).not_to_contain_text("b.py")
    page.keyboard.press("Escape")
    expect(since).to_be_focused()

    page.keyboard.press("o")
    listed = page.locator(".outdated-list button.row")
    expect(listed).to_have_count(2)
    expect(listed.first).to_be_focused()
    listed.filter(has_text="On twelve").press("Enter")
    expect(outdated).to_be_focused()
    page.goto("about:blank")
    page.goto(f"{commit.address}#{moved_id(commit)}")
    expect(moved).to_be_focused()


def moved_id(commit: Commit) -> str:
    found = [one for one in commit.threads() if one["comments"][0]["body"] == "On twenty"]
    return f"thread-{found[0]['id']}"


@pytest.mark.slow
def test_the_pr_record_says_its_sources_and_errors_at_their_field(
    page: Page, commit: Commit, watch: Watch
) -> None:
    watch.meant.append("400")
    page.goto(commit.address)
    page.get_by_role("button", name="PR details").click()
    panel = page.get_by_role("dialog", name="PR details")
    title = panel.get_by_label("Title")
    expect(title).to_have_value("Say line 12 anew")
    expect(panel.get_by_text("From the commit.")).to_have_count(2)
    title.fill(" ")
    panel.get_by_label("Branch").fill("bad..name")
    panel.get_by_role("button", name="Save").click()
    expect(panel.get_by_text('"title" must not be blank')).to_be_visible()
    expect(title).to_be_focused()
    title.fill("A better title")
    panel.get_by_role("button", name="Save").click()
    expect(panel.get_by_text('"branch" is not a valid branch name: bad..name')).to_be_visible()
    panel.get_by_label("Branch").fill("topic")
    panel.get_by_label("Pull request").fill("https://code.example/x/pull/318")
    panel.get_by_text("Ready", exact=True).click()
    title.press("Control+Enter")
    expect(panel.get_by_text("Written here.")).to_be_visible()
    expect(page.locator("#title")).to_have_text("A better title")

    stored = commit.get("/pr")
    assert (stored["title_source"], stored["branch"], stored["status"]) == (
        "override",
        "topic",
        "ready",
    )
    assert stored["github"]["number"] == 318
    panel.get_by_label("Description").fill("Half a description")
    commit.put("/pr", {"title": "From elsewhere"})
    expect(title).to_have_value("From elsewhere")
    expect(panel.get_by_label("Description")).to_have_value("Half a description")
    panel.get_by_role("button", name="Use the commit").click()
    expect(title).to_have_value("Say line 12 anew")
    expect(panel.get_by_label("Description")).to_have_value("Half a description")
    page.keyboard.press("Escape")
    undo(page, "Given back.")
    expect(page.locator("#title")).to_have_text("From elsewhere")
    page.reload()
    page.get_by_role("button", name="PR details").click()
    expect(panel.get_by_label("Description")).to_have_value("Half a description")


@pytest.mark.slow
def test_threads_fit_read_and_are_reached_in_both_looks(
    look: BrowserContext, commit: Commit, axe: str
) -> None:
    rewritten(commit)
    answered = commit.threads()[1]["id"]
    body = "See `this`:\n\n```python\nprint('a long line of code that has to scroll sideways')\n```"
    commit.reply(
        answered,
        f"# Heading\n{body}\n- [x] done\n\n| a | b |\n|---|--:|\n| 1 | 2 |",
        author="agent",
    )
    page = look.new_page()
    page.goto(commit.address)
    expect(page.locator(".thread")).to_have_count(3)

    def check(where: str) -> None:
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), where
        page.evaluate(axe)
        found = page.evaluate("(where) => axe.run(where)", where)["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], where

    page.keyboard.press("o")
    page.keyboard.press("N")
    page.keyboard.press("r")
    page.keyboard.type("An answer")
    page.get_by_role("button", name="Preview").first.click()
    expect(page.get_by_role("group", name="Preview").first).to_have_text("An answer")
    check(".diffs")
    send = page.get_by_role("button", name="Reply").first.bounding_box()
    narrow = page.evaluate("innerWidth < 720")
    assert send is not None
    assert not narrow or send["height"] >= 44
    page.get_by_role("button", name="What changed").click()
    expect(page.locator("table.between")).to_be_visible()
    check("dialog[open]")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="PR details").click()
    expect(page.get_by_label("Title")).to_be_visible()
    check("dialog[open]")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Split").click()
    page.locator("#threadlist").press("Enter")
    check("body")
    page.get_by_role("button", name="More ways to show it").press("Enter")
    check("body")
