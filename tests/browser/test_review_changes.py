"""What is not committed: seen, some of it committed, one file discarded and given back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser import commits
from tests.browser.commits import Commit
from tests.browser.conftest import Held, Watch
from tests.browser.toasts import undo
from tests.service import Service


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    made = commits.made(shared_service, tmp_path)
    made.repo.config("user.name", "Ada")
    made.repo.config("user.email", "ada@example.org")
    made.repo.write({"b.py": "b, new\n", "notes/plan.md": "# Plan\n", "c.py": "c\n"})
    return made


def file(page: Page, path: str) -> Locator:
    return page.get_by_role("region", name=path, exact=True)


def test_two_of_three_files_are_committed_and_the_third_is_discarded_and_comes_back(
    page: Page, commit: Commit
) -> None:
    root = commit.repo.path
    page.goto(f"/review/p/{commit.slug}")
    row = page.get_by_role("link", name="Not committed")
    expect(row).to_contain_text("3 files")
    row.click()

    expect(page.get_by_role("heading", name="Not committed")).to_be_visible()
    expect(page.locator("#facts")).to_contain_text("topic3 files")
    tree = page.get_by_role("navigation", name="Files that are not committed")
    expect(tree.locator("a.leaf")).to_have_text([*["Mb.py2 lines changed"], "Ac.py1 lines changed",
                                                 "Aplan.md1 lines changed"])  # fmt: skip
    expect(file(page, "b.py").locator("tr.ln.add, tr.ln", has_text="b, new").first).to_be_visible()

    file(page, "b.py").get_by_role("checkbox").uncheck()
    press = page.get_by_role("button", name="Commit 2 of 3 files")
    press.click()
    expect(page.locator(".toast")).to_contain_text("Say in a line")
    message = page.get_by_label("Message of the commit")
    message.fill("Plan it")
    message.press("Control+Enter")

    expect(page.locator(".toast", has_text="Plan it")).to_contain_text("Committed")
    expect(file(page, "c.py")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Commits of this project")).to_contain_text(
        "Plan it"
    )
    assert commit.repo.git("show", "--name-only", "--format=%s") == "Plan it\n\nc.py\nnotes/plan.md"
    expect(message).to_have_value("")

    file(page, "b.py").get_by_role("button", name="Discard the changes of b.py").click()
    expect(page.get_by_text("Nothing differs from HEAD.")).to_be_visible()
    assert (root / "b.py").read_text() == "b\n"
    undo(page, "Discarded b.py")
    expect(file(page, "b.py")).to_contain_text("b, new")
    assert (root / "b.py").read_text() == "b, new\n"
    assert commit.repo.git("status", "--porcelain") == " M b.py"

    file(page, "b.py").get_by_role("button", name="More for b.py").click()
    page.get_by_role("menuitem", name="Discard the changes").click()
    expect(page.get_by_text("Nothing differs from HEAD.")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Discarded").click()
    page.get_by_role("menuitem", name="Give back b.py").first.click()
    expect(file(page, "b.py")).to_contain_text("b, new")

    commit.repo.write({"later.py": "later\n"})
    expect(file(page, "later.py")).to_be_visible()


@pytest.mark.slow
def test_the_page_stands_at_every_width_and_passes_axe(
    look: BrowserContext, commit: Commit, axe: str
) -> None:
    page = look.new_page()
    page.goto(f"/review/p/{commit.slug}/app/WORKTREE")
    expect(file(page, "notes/plan.md")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []


@pytest.mark.slow
def test_a_project_of_the_workspace_has_its_changes_at_its_side(
    page: Page, shared_service: Service, commit: Commit
) -> None:
    answer = shared_service.http.post(
        "/api/projects", json={"name": f"Own {commit.slug}", "path": str(commit.repo.path)}
    )
    slug = answer.raise_for_status().json()["project"]["slug"]

    page.goto(f"/projects/{slug}")

    row = page.locator(".row", has_text="Changes")
    expect(row).to_contain_text("3 files")
    row.get_by_role("link", name="Changes").click()
    expect(page.get_by_role("heading", name="Not committed")).to_be_visible()


@pytest.mark.slow
def test_a_comment_that_is_being_written_goes_with_its_line(page: Page, commit: Commit) -> None:
    lines = [f"line {n} of the file" for n in range(1, 41)]
    text = "".join(f"{line}\n" for line in lines)
    commit.repo.write({"a.py": text.replace("line 5 of the file", "line five")})
    page.goto(f"/review/p/{commit.slug}/app/WORKTREE")
    expect(page.get_by_role("button", name="No threads: list")).to_be_enabled()
    row = file(page, "a.py").locator("tr.ln", has_text="line five")
    row.hover()
    row.get_by_role("button", name="Comment on line 5").click()
    page.get_by_label("New comment on line 5 of a.py").fill("About five")

    commit.repo.write({"a.py": "above\n" + text.replace("line 5 of the file", "line five")})
    box = page.get_by_label("New comment on line 6 of a.py")
    expect(box).to_have_value("About five")

    commit.repo.write({"a.py": "above\n" + text.replace("line 5 of the file", "line 5, anew")})
    form = page.locator("form.say", has=box)
    expect(form.get_by_role("alert")).to_contain_text("“line five” is gone")

    commit.repo.write({"a.py": "above\n" + text.replace("line 5 of the file", "line five")})
    expect(form.get_by_role("alert")).to_be_hidden()
    expect(box).to_have_value("About five")

    commit.repo.write({"a.py": "two\nabove\n" + text.replace("line 5 of the file", "line five")})
    box = page.get_by_label("New comment on line 7 of a.py")
    box.press("Control+Enter")
    expect(page.locator(".thread", has_text="About five")).to_contain_text("line 7")


FIVE = commits.text(
    ["line five" if line == "line 5 of the file" else line for line in commits.LINES]
)


def write_about(page: Page, commit: Commit, words: str) -> Locator:
    """The box of a comment on `line five`, line 5 of a.py, with these words."""
    commit.repo.write({"a.py": FIVE})
    page.goto(f"/review/p/{commit.slug}/app/WORKTREE")
    expect(page.get_by_role("button", name="No threads: list")).to_be_enabled()
    row = file(page, "a.py").locator("tr.ln", has_text="line five")
    row.hover()
    row.get_by_role("button", name="Comment on line 5").click()
    page.get_by_label("New comment on line 5 of a.py").fill(words)
    return page.locator("form.say", has=page.get_by_label("New comment on line"))


def threads(commit: Commit) -> list[tuple[int, str]]:
    """The line of each thread on a.py that is not committed, and what stands there."""
    url = f"/review/api/projects/{commit.slug}/repos/app/commits/WORKTREE/review"
    found = commit.service.http.get(url).raise_for_status().json()["threads"]
    return [(one["line"], one["anchor_text"]) for one in found]


def test_a_comment_sent_while_its_file_changes_is_sent_to_the_line_that_was_seen(
    page: Page, watch: Watch, commit: Commit
) -> None:
    watch.meant.append("409")
    form = write_about(page, commit, "About five")
    held = Held(page, "**/WORKTREE/file?*")

    with page.expect_request("**/WORKTREE/file?*"):
        commit.repo.write({"a.py": f"above\n{FIVE}"})
        form.get_by_role("textbox").press("Control+Enter")
    expect(form).to_have_attribute("aria-busy", "")
    held.release()

    expect(page.locator(".thread", has_text="About five")).to_contain_text("line 6")
    assert threads(commit) == [(6, "line five")]


def test_a_comment_whose_line_is_gone_is_not_sent_until_the_line_is_back(
    page: Page, watch: Watch, commit: Commit
) -> None:
    watch.meant.append("409")
    form = write_about(page, commit, "About five")

    commit.repo.write({"a.py": FIVE.replace("line five", "line 5, rewritten")})
    form.get_by_role("textbox").press("Control+Enter")

    expect(form.get_by_role("alert")).to_contain_text("“line five” is gone")
    expect(form.get_by_role("textbox")).to_have_value("About five")
    with page.expect_response(lambda answer: answer.request.method == "POST") as refused:
        form.get_by_role("textbox").press("Control+Enter")
    assert refused.value.status == 409
    expect(form.get_by_role("button", name="Retry")).to_be_visible()
    assert threads(commit) == []

    commit.repo.write({"a.py": f"above\n{FIVE}"})
    form.get_by_role("button", name="Retry").click()
    expect(page.locator(".thread", has_text="About five")).to_contain_text("line 6")
    assert threads(commit) == [(6, "line five")]


@pytest.mark.slow
def test_a_comment_on_a_file_that_was_committed_elsewhere_is_not_sent(
    page: Page, watch: Watch, commit: Commit
) -> None:
    watch.meant.append("409")
    form = write_about(page, commit, "About five")
    held = Held(page, "**/WORKTREE?contents=none")

    commit.repo.git("commit", "-qam", "Say five in letters")
    with page.expect_request("**/WORKTREE?contents=none"):
        form.get_by_role("textbox").press("Control+Enter")
    expect(form).to_have_attribute("aria-busy", "")
    held.release()

    expect(form.get_by_role("alert")).to_contain_text("a.py is now as HEAD has it")
    expect(form.get_by_role("textbox")).to_have_value("About five")
    assert threads(commit) == []


def test_a_comment_that_is_being_written_stays_when_its_file_is_committed_elsewhere(
    page: Page, commit: Commit
) -> None:
    form = write_about(page, commit, "I think ")

    commit.repo.git("commit", "-qam", "Say five in letters")
    expect(form.get_by_role("alert")).to_contain_text("a.py is now as HEAD has it")
    expect(file(page, "a.py")).to_have_count(0)
    page.keyboard.type("never, in my view")

    box = form.get_by_role("textbox")
    expect(box).to_have_value("I think never, in my view")
    box.press("Control+Enter")
    expect(form.get_by_role("button", name="Retry")).to_be_visible()
    assert threads(commit) == []

    commit.repo.write({"a.py": f"above\n{FIVE}"})
    expect(file(page, "a.py").locator(form)).to_be_visible()
    box.press("Control+Enter")
    expect(page.locator(".thread", has_text="in my view")).to_contain_text("line 6")


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["", "I think "])
def test_a_reply_that_is_being_written_stays_when_a_commit_takes_its_thread_over(
    page: Page, commit: Commit, typed: str
) -> None:
    commit.repo.write({"a.py": FIVE})
    url = f"/review/api/projects/{commit.slug}/repos/app/commits/WORKTREE/threads"
    place = {"path": "a.py", "side": "RIGHT", "line": 5}
    commit.service.http.post(url, json={"body": "Five?", **place}).raise_for_status()
    page.goto(f"/review/p/{commit.slug}/app/WORKTREE")
    card = page.locator(".thread", has_text="Five?")
    reply = card.get_by_label("Reply")
    reply.click()
    page.keyboard.type(typed)

    commit.repo.git("commit", "-qam", "Say five in letters")
    expect(card).to_contain_text("Taken over by a commit")
    expect(file(page, "a.py")).to_have_count(0)
    page.keyboard.type("never, in my view")

    expect(reply).to_have_value(f"{typed}never, in my view")
    reply.press("Control+Enter")
    expect(reply).to_have_value("")
    sha = commit.repo.sha("HEAD")
    found = commit.service.http.get(url.replace("WORKTREE/threads", f"{sha}/review")).json()
    (thread,) = found["threads"]
    assert [one["body"] for one in thread["comments"]] == ["Five?", f"{typed}never, in my view"]


@pytest.mark.slow
def test_a_message_that_is_being_written_stays_when_all_is_committed_elsewhere(
    page: Page, commit: Commit
) -> None:
    page.goto(f"/review/p/{commit.slug}/app/WORKTREE")
    message = page.get_by_label("Message of the commit")
    message.click()

    commit.repo.git("add", "-A")
    commit.repo.git("commit", "-qm", "Take all")
    expect(page.get_by_text("Nothing differs from HEAD.")).to_be_visible()
    page.keyboard.type("never, in my view")

    expect(message).to_have_value("never, in my view")
    message.fill("")
    message.blur()
    expect(message).to_be_hidden()


@pytest.mark.slow
def test_a_comment_on_lines_of_which_one_was_rewritten_is_not_sent(
    page: Page, watch: Watch, commit: Commit
) -> None:
    watch.meant.append("409")
    commit.repo.write({"a.py": FIVE})
    page.goto(f"/review/p/{commit.slug}/app/WORKTREE")
    expect(page.get_by_role("button", name="No threads: list")).to_be_enabled()
    file(page, "a.py").locator("tr.ln", has_text="line five").locator("td.n").last.click()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("c")
    box = page.get_by_label("New comment on lines 5")
    box.fill("About both")

    commit.repo.write({"a.py": f"above\n{FIVE}".replace("line five", "line 5, rewritten")})
    box.press("Control+Enter")

    alert = page.locator("form.say", has=box).get_by_role("alert")
    expect(alert).to_contain_text("line 6 of the file” is gone")
    assert threads(commit) == []


@pytest.mark.slow
def test_a_comment_on_an_uncommitted_line_stands_on_the_line_of_the_commit_made_of_it(
    page: Page, commit: Commit
) -> None:
    lines = [f"line {n} of the file, new" if n == 5 else f"line {n} of the file" for n in range(41)]
    commit.repo.write({"a.py": "".join(f"{line}\n" for line in lines[1:])})
    page.goto(f"/review/p/{commit.slug}/app/WORKTREE")
    expect(page.get_by_role("button", name="No threads: list")).to_be_enabled()

    row = file(page, "a.py").locator("tr.ln", has_text="line 5 of the file, new")
    expect(row.locator("mark")).to_be_visible()
    row.locator("td.n").last.click()
    page.keyboard.press("c")
    box = page.get_by_label("New comment on line 5 of a.py")
    box.fill("Is this new?")
    expect(page.get_by_role("button", name="Save as a draft")).to_have_count(0)
    box.press("Control+Enter")
    card = page.locator(".thread", has_text="Is this new?")
    expect(card).to_contain_text("line 5")
    expect(file(page, "a.py").locator(".thread")).to_have_count(1)
    expect(file(page, "a.py").get_by_text("1 open")).to_be_visible()
    seen = file(page, "a.py").get_by_role("button", name="Viewed a.py")
    seen.click()
    expect(seen).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(seen).to_have_attribute("aria-pressed", "true")

    page.goto(f"/review/p/{commit.slug}")
    listed = page.get_by_role("region", name="Open threads")
    expect(listed).to_contain_text("on what is not committed · a.py:5")
    listed.get_by_role("link", name="Is this new?").click()
    expect(card).to_be_focused()
    message = page.get_by_label("Message of the commit")
    message.fill("Say it anew")
    message.press("Control+Enter")
    expect(card).to_have_count(0)

    page.locator(".toast", has_text="Say it anew").get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="Say it anew")).to_be_visible()
    expect(file(page, "a.py").get_by_role("checkbox", name="Viewed a.py")).to_be_checked()
    file(page, "a.py").get_by_role("button", name="Unfold a.py").click()
    expect(file(page, "a.py").locator(".thread")).to_contain_text("Is this new?")
    expect(file(page, "a.py").locator(".thread")).to_contain_text("line 5")
