"""Threads on a commit's page: written, answered, settled; nothing moves when others write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Locator, Page, Route, expect

from tests.browser.commits import LONG, Commit, made, png
from tests.browser.conftest import Held, Watch
from tests.promises.rings import few
from tests.service import Service, until


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    """The second of two commits; its file is a.py."""
    return made(shared_service, tmp_path)


@pytest.fixture
def shown(page: Page, commit: Commit) -> Page:
    page.goto(commit.address)
    expect(row(page, "line 12, new")).to_be_visible()
    expect(page.locator("#threadlist")).to_be_visible()
    return page


def row(page: Page, text: str) -> Locator:
    return page.locator("tr.ln").filter(has=page.locator("td.code", has_text=text)).first


def thread(page: Page, text: str) -> Locator:
    return page.locator(".thread").filter(has_text=text)


def box(page: Page | Locator, label: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("textbox", name=label)


def test_a_line_is_commented_answered_settled_and_opened_again(shown: Page, commit: Commit) -> None:
    row(shown, "line 12, new").hover()
    shown.get_by_role("button", name="Comment on line 12").click()
    box(shown, "New comment on line 12").fill("Why **new**?")
    shown.get_by_role("button", name="Preview").click()
    preview = shown.get_by_role("group", name="Preview").locator(".said").inner_html()
    shown.get_by_role("button", name="Comment Ctrl").click()

    card = thread(shown, "Why new?")
    expect(card.get_by_role("button", name="Resolve")).to_be_visible()
    assert card.locator(".said").inner_html() == preview
    expect(card).to_contain_text("Open")
    box(card, "Reply").fill("Because.")
    card.get_by_role("button", name="Reply").click()
    expect(card.locator(".comment")).to_have_count(2)
    card.get_by_role("button", name="Resolve").click()
    expect(card).to_contain_text("Resolved")
    expect(card.locator(".said").first).to_be_hidden()
    expect(shown.locator("#threadlist")).to_have_text("All resolved")
    until(lambda: commit.threads()[0]["resolved"], what="resolved")  # the page says it before
    card.get_by_role("button", name="Reopen").click()
    expect(card.locator(".said")).to_have_text(["Why new?", "Because."])

    until(lambda: not commit.threads()[0]["resolved"], what="reopened")
    (stored,) = commit.threads()
    assert (stored["line"], stored["side"], stored["resolved"]) == (12, "RIGHT", False)
    assert [one["body"] for one in stored["comments"]] == ["Why **new**?", "Because."]


FRAMES = """() => new Promise((done) => {
  let left = 90; // more than going to a line takes
  const next = () => (left-- ? requestAnimationFrame(next) : done());
  next();
})"""


@pytest.mark.slow
def test_an_address_gives_a_thread_the_focus_for_good_in_a_file_that_was_folded_away(
    page: Page, commit: Commit
) -> None:
    tid = commit.thread("Look here", path="a.py", line=12)
    commit.put("/viewed", {"path": "a.py", "viewed": True})

    page.goto(f"{commit.address}#thread-{tid}")

    expect(thread(page, "Look here")).to_be_focused()
    page.evaluate(FRAMES)
    expect(thread(page, "Look here")).to_be_focused()


def test_a_comment_that_another_window_changed_is_shown_before_it_is_replaced(
    shown: Page, commit: Commit, watch: Watch
) -> None:
    watch.meant.append("409")
    tid = commit.thread("Mine")
    (comment,) = commit.threads()[0]["comments"]
    card = shown.locator(f"#thread-{tid}")
    card.get_by_role("button", name="Edit your comment").click()
    box(card, "Edit your comment").fill("Mine, here")
    held = Held(shown, "**/review?html=1")  # what the event has it ask for
    at = f"{commit.api}/threads/{tid}/comments/{comment['id']}"
    with shown.expect_request("**/review?html=1"):
        commit.service.http.patch(at, json={"body": "Mine, there"}).raise_for_status()
    with shown.expect_response(lambda answer: answer.status == 409):
        card.get_by_role("button", name=re.compile("^Save")).click()
    held.release()

    expect(card.get_by_text("Changed meanwhile to: “Mine, there”.")).to_be_visible()
    expect(box(card, "Edit your comment")).to_have_value("Mine, here")
    commit.until_comments(["Mine, there"])
    card.get_by_role("button", name=re.compile("^Save")).click()
    commit.until_comments(["Mine, here"])


@pytest.mark.slow
def test_everything_about_a_thread_is_done_by_keys(shown: Page, commit: Commit) -> None:
    commit.thread("First", path="a.py", line=3)
    commit.thread("On it all")
    expect(thread(shown, "On it all")).to_be_visible()
    row(shown, "line 12, new").locator("td.n").last.click()
    shown.keyboard.press("c")
    shown.keyboard.type("By keys")
    shown.keyboard.press("Control+Enter")
    expect(thread(shown, "By keys")).to_be_visible()
    expect(row(shown, "line 12, new")).to_be_focused()

    shown.keyboard.press("N")
    expect(thread(shown, "On it all")).to_be_focused()
    shown.keyboard.press("N")
    expect(thread(shown, "First")).to_be_focused()
    shown.keyboard.press("N")
    shown.keyboard.press("P")
    shown.keyboard.press("r")
    shown.keyboard.type("Half an answer")
    shown.keyboard.press("Escape")
    expect(thread(shown, "First")).to_be_focused()
    expect(box(thread(shown, "First"), "Reply")).to_have_value("Half an answer")
    shown.keyboard.press("r")
    shown.keyboard.type(", whole now")
    shown.keyboard.press("Control+Enter")
    expect(thread(shown, "First").locator(".said").last).to_have_text("Half an answer, whole now")
    shown.keyboard.press("Escape")
    shown.keyboard.press("e")
    expect(thread(shown, "line 3")).to_contain_text("Resolved")
    shown.keyboard.press("e")
    expect(thread(shown, "First")).to_contain_text("Open")
    shown.keyboard.press("h")
    expect(thread(shown, "First")).to_be_hidden()
    expect(thread(shown, "On it all")).to_be_visible()
    shown.keyboard.press("h")
    expect(thread(shown, "First")).to_be_visible()
    shown.keyboard.press("o")
    expect(shown.get_by_text("No thread of this commit is outdated.")).to_be_visible()
    shown.keyboard.press("?")
    expect(shown.get_by_role("dialog", name="Keys and help")).to_contain_text("Next thread")


@pytest.mark.slow
def test_no_press_of_resolve_is_lost_while_the_service_is_slow(shown: Page, commit: Commit) -> None:
    tid = commit.thread("Asked", path="a.py", line=3)
    card = shown.locator(f"#thread-{tid}")
    expect(card).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    shown.route(f"**/threads/{tid}", hold, times=1)
    card.focus()
    shown.keyboard.press("e")
    expect(card).to_contain_text("Resolved")
    commit.reply(tid, "Said meanwhile", author="agent")
    expect(card.locator(".comment")).to_have_count(2)
    expect(card).to_contain_text("Resolved")
    shown.keyboard.press("e")
    expect(card).to_contain_text("Open")
    with shown.expect_response(lambda one: "false" in (one.request.post_data or "")):
        held[0].continue_()

    expect(card).to_contain_text("Open")
    assert commit.threads()[0]["resolved"] is False


@pytest.mark.slow
def test_a_press_of_resolve_counts_although_an_answer_arrives_meanwhile(
    shown: Page, commit: Commit
) -> None:
    tid = commit.thread("Asked", path="a.py", line=12)
    card = shown.locator(f"#thread-{tid}")
    card.get_by_role("button", name="Resolve").locator(".icon").hover()
    shown.mouse.down()
    commit.reply(tid, "An answer from elsewhere", author="agent")
    expect(card.locator(".comment")).to_have_count(2)
    shown.mouse.up()

    expect(card).to_contain_text("Resolved")


@pytest.mark.slow
def test_the_send_button_is_the_primary_one_also_while_it_sends(shown: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    shown.route("**/threads", hold, times=1)
    row(shown, "line 12, new").hover()
    shown.get_by_role("button", name="Comment on line 12").click()
    box(shown, "New comment on line 12").fill("Why?")
    send = shown.get_by_role("button", name="Comment Ctrl")
    shown.mouse.move(0, 0)
    ink = "getComputedStyle(document.documentElement).getPropertyValue('--ink')"
    said = f"[document.body.style.color = {ink}, getComputedStyle(document.body).color]"
    dark = shown.evaluate(said)[1]
    expect(send).to_have_css("background-color", dark)

    with shown.expect_request("**/threads"):  # waits as Playwright does, which hears of it then
        send.press("Enter")
    expect(send).to_be_enabled()
    expect(send).to_have_css("background-color", dark)
    held[0].continue_()

    expect(thread(shown, "Why?")).to_be_visible()


def test_ranges_files_and_the_commit_are_commented(shown: Page, commit: Commit) -> None:
    row(shown, "line 10").locator("td.n").last.click()
    row(shown, "line 12, new").locator("td.n").last.click(modifiers=["Shift"])
    shown.keyboard.press("c")
    box(shown, re.compile("New comment on lines 10.12")).fill("These three")
    shown.keyboard.press("Control+Enter")
    expect(thread(shown, "These three")).to_contain_text(re.compile("lines 10.12"))
    row(shown, "line 12 of the file").locator("td.n").first.click()
    shown.keyboard.press("c")
    box(shown, "New comment on line 12").fill("The old one")
    shown.keyboard.press("Control+Enter")
    expect(thread(shown, "The old one")).to_contain_text("line 12 of the old text")
    shown.get_by_role("button", name="Comment on the file a.py").click()
    box(shown, "New comment on a.py").fill("The file")
    shown.keyboard.press("Control+Enter")
    expect(thread(shown, "The file")).to_contain_text("The whole file")
    shown.locator("#threadlist").click()
    shown.get_by_role("menuitem", name="Comment on the commit").click()
    box(shown, "New comment on the whole commit").fill("All of it")
    shown.keyboard.press("Control+Enter")
    expect(thread(shown, "All of it")).to_contain_text("The whole commit")

    found = {one["comments"][0]["body"]: one for one in commit.threads()}
    assert (found["These three"]["start_line"], found["These three"]["line"]) == (10, 12)
    assert (found["The old one"]["side"], found["The old one"]["line"]) == ("LEFT", 12)
    assert (found["The file"]["path"], found["The file"]["line"]) == ("a.py", None)
    assert found["All of it"]["path"] is None


def test_images_are_kept_and_what_is_none_is_refused_with_its_reason(
    shown: Page, commit: Commit, tmp_path: Path, watch: Watch
) -> None:
    watch.meant.append("415")
    shown.get_by_role("button", name="Comment on the file a.py").click()
    write = box(shown, "New comment on a.py")
    write.fill("Look:")
    sheet = FilePayload(name="shot.png", mimeType="image/png", buffer=png(8, 8))
    with shown.expect_file_chooser() as chooser:
        shown.get_by_role("button", name="Image").click()
    chooser.value.set_files(sheet)
    expect(write).to_have_value(re.compile(r"^Look:\n!\[shot]\(/api/projects/.*\.png\)\n$"))
    write.evaluate(
        """(at, bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "drop.png", { type: "image/png" }));
            at.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
            const more = new DataTransfer();
            more.items.add(new File(["no image"], "fake.png", { type: "image/png" }));
            at.dispatchEvent(new ClipboardEvent("paste", { clipboardData: more, bubbles: true }));
        }""",
        list(png(4, 4)),
    )
    expect(
        shown.get_by_text("fake.png was not added: Contents are not a PNG image.")
    ).to_be_visible()
    expect(write).to_have_value(re.compile(r"!\[drop]"))
    big = FilePayload(name="big.png", mimeType="image/png", buffer=bytes(5_300_000))
    with shown.expect_file_chooser() as chooser:
        shown.get_by_role("button", name="Image").click()
    chooser.value.set_files(big)
    expect(shown.get_by_text("an image is at most 5 MB")).to_be_visible()
    shown.keyboard.press("Control+Enter")

    expect(thread(shown, "Look:").locator("img")).to_have_count(2)
    loaded = "() => [...document.querySelectorAll('.said img')].every((one) => one.naturalWidth)"
    shown.wait_for_function(loaded)


@pytest.mark.slow
def test_own_comments_are_edited_and_deleted_and_those_of_others_are_not(
    shown: Page, commit: Commit
) -> None:
    tid = commit.thread("Mine", path="a.py", line=12)
    commit.reply(tid, "Theirs", author="agent")
    card = shown.locator(f"#thread-{tid}")
    expect(card.get_by_role("article", name="agent: Theirs")).to_contain_text("(agent)")
    expect(card.get_by_role("button", name="Edit your comment")).to_have_count(1)
    card.get_by_role("button", name="Edit your comment").click()
    box(card, "Edit your comment").fill("Mine, edited")
    card.get_by_role("button", name="Save").click()
    expect(card.locator(".said").first).to_have_text("Mine, edited")
    expect(card).to_contain_text("edited")
    card.get_by_role("button", name="Delete your comment").click()
    expect(card.locator(".comment")).to_have_count(1)
    assert [one["body"] for one in commit.threads()[0]["comments"]] == ["Mine, edited", "Theirs"]
    shown.get_by_role("button", name="Undo").click()
    expect(card.locator(".comment")).to_have_count(2)
    card.get_by_role("button", name="Delete your comment").click()
    expect(card.locator(".comment")).to_have_count(1)
    shown.goto("about:blank")

    commit.until_comments(["Theirs"])


@pytest.mark.parametrize("others", few([["Theirs"], []], 1))
def test_a_comment_that_is_deleted_elsewhere_stays_while_it_is_edited(
    shown: Page, commit: Commit, watch: Watch, others: list[str]
) -> None:
    watch.meant.append("404")
    tid = commit.thread("Mine", path="a.py", line=12)
    for words in others:
        commit.reply(tid, words)
    card = shown.locator(f"#thread-{tid}")
    expect(card.get_by_role("article")).to_have_count(1 + len(others))
    card.get_by_role("button", name="Edit your comment").first.click()
    edit = box(card, "Edit your comment")
    edit.press("End")

    mine = commit.threads()[0]["comments"][0]["id"]
    commit.service.http.delete(f"{commit.api}/threads/{tid}/comments/{mine}").raise_for_status()
    expect(card.get_by_text("deleted", exact=False)).to_be_visible()
    shown.keyboard.type(", never in doubt")

    expect(edit).to_have_value("Mine, never in doubt")
    edit.press("Control+Enter")
    expect(card.get_by_role("alert")).to_contain_text("Your text is kept.")
    expect(edit).to_have_value("Mine, never in doubt")


def test_unsent_text_is_there_again_after_a_reload_and_after_a_rebase(
    shown: Page, commit: Commit, watch: Watch
) -> None:
    watch.meant.append("404")  # the old commit is asked for once more
    tid = commit.thread("Asked", path="a.py", line=3)
    row(shown, "line 12, new").locator("td.n").last.click()
    shown.keyboard.press("c")
    shown.keyboard.type("Not sent yet")
    box(shown.locator(f"#thread-{tid}"), "Reply").fill("Half a reply")
    shown.reload()
    expect(box(shown, "New comment on line 12")).to_have_value("Not sent yet")
    expect(box(shown.locator(f"#thread-{tid}"), "Reply")).to_have_value("Half a reply")

    commit.rebase(above=["above 1", "above 2"])
    shown.goto(commit.address)

    fresh = box(shown, "New comment on line 14")
    expect(fresh).to_have_value("Not sent yet")
    expect(box(shown.locator(f"#thread-{tid}"), "Reply")).to_have_value("Half a reply")
    fresh.press("Control+Enter")
    expect(thread(shown, "Not sent yet")).to_be_visible()
    found = {one["comments"][0]["body"]: one["line"] for one in commit.threads()}
    assert found == {"Asked": 5, "Not sent yet": 14}
    shown.reload()
    expect(thread(shown, "Not sent yet")).to_be_visible()
    expect(box(shown, re.compile("New comment"))).to_have_count(0)


@pytest.mark.slow
def test_unsent_text_follows_a_commit_that_has_no_review(
    shown: Page, commit: Commit, watch: Watch
) -> None:
    watch.meant.append("404")
    row(shown, "line 12, new").locator("td.n").last.click()
    shown.keyboard.press("c")
    shown.keyboard.type("Not sent yet")
    box(shown, "New comment on line 12").blur()
    commit.rebase(above=["above"])
    shown.goto(commit.address)

    expect(box(shown, "New comment on line 13")).to_have_value("Not sent yet")


@pytest.mark.slow
def test_what_arrives_leaves_text_caret_and_scroll_as_they_are(shown: Page, commit: Commit) -> None:
    shown.get_by_role("button", name="All 25").click()
    tid = commit.thread("Asked", path="a.py", line=12)
    write = box(shown.locator(f"#thread-{tid}"), "Reply")
    write.fill("Half a reply")
    write.press("Home")
    write.press("ArrowRight")
    top = write.bounding_box()["y"]  # type: ignore[index]
    commit.thread(f"Above. {LONG}", path="a.py", line=10)
    commit.reply(tid, "An answer from elsewhere", author="agent")
    expect(shown.locator(f"#thread-{tid} .comment")).to_have_count(2)
    expect(thread(shown, "Above.")).to_be_visible()

    expect(write).to_be_focused()
    expect(write).to_have_value("Half a reply")
    assert write.evaluate("(node) => node.selectionStart") == 1
    assert abs(write.bounding_box()["y"] - top) < 2  # type: ignore[index]
    split = shown.get_by_role("button", name="Split", exact=True)
    split.dispatch_event("click")  # which leaves the focus where it is
    expect(shown.locator(".sheet.split")).to_be_visible()
    expect(write).to_have_value("Half a reply")
    expect(write).to_be_focused()
    assert write.evaluate("(node) => node.selectionStart") == 1


@pytest.fixture
def broken(commit: Commit) -> Path:
    path = commit.file
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def test_a_refused_or_lost_comment_stays_in_its_box_until_it_can_be_sent(
    shown: Page, commit: Commit, broken: Path, watch: Watch
) -> None:
    watch.meant += ["409", "ERR_INTERNET_DISCONNECTED"]
    broken.write_text("threads: [\n")
    expect(shown.get_by_text("The review file is not valid YAML, line")).to_be_visible()
    row(shown, "line 12, new").locator("td.n").last.click()
    shown.keyboard.press("c")
    shown.keyboard.type("Keep me")
    shown.keyboard.press("Control+Enter")
    expect(shown.get_by_text("Fix the file by hand; nothing was changed.")).to_be_visible()
    expect(box(shown, "New comment on line 12")).to_have_value("Keep me")
    broken.unlink()
    shown.context.set_offline(True)
    shown.get_by_role("button", name="Retry").click()
    expect(shown.locator(".say .trouble")).to_contain_text("The service does not answer.")
    expect(box(shown, "New comment on line 12")).to_have_value("Keep me")
    shown.context.set_offline(False)
    shown.get_by_role("button", name="Retry").click()

    expect(thread(shown, "Keep me")).to_be_visible()
    assert len(commit.threads()) == 1


@pytest.mark.slow
def test_threads_are_copied_as_markdown(
    shown: Page, commit: Commit, context: BrowserContext
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    commit.thread("One", path="a.py", line=12)
    commit.thread("Two")
    expect(thread(shown, "Two")).to_be_visible()

    def copied() -> str:
        return str(shown.evaluate("navigator.clipboard.readText()"))

    thread(shown, "One").get_by_role("button", name="Copy").click()
    expect(shown.get_by_text("Thread copied.")).to_be_visible()
    assert "## a.py:12\n" in copied()
    assert "> Two" not in copied()
    shown.locator("#threadlist").click()
    shown.get_by_role("menuitem", name="Copy all open threads").click()
    expect(shown.get_by_text("2 open threads: copied as Markdown.")).to_be_visible()
    assert "> Two" in copied()
    shown.locator("#threadlist").click()
    shown.get_by_role("menuitem", name="Copy the threads of a.py").click()
    expect(shown.get_by_text("The threads of a.py: copied as Markdown.")).to_be_visible()
    assert "> Two" not in copied()


@pytest.mark.slow
@pytest.mark.parametrize("answered", [True, False])
def test_the_list_of_threads_opens_once_they_are_read_or_cannot_be(
    page: Page, commit: Commit, watch: Watch, *, answered: bool
) -> None:
    watch.meant.append("500")
    commit.thread("One", path="a.py", line=12)
    held: list[Route] = []

    def answer(route: Route) -> None:
        if answered:
            route.continue_()
        else:
            route.fulfill(status=500, json={"error": "Not now.", "code": "internal"})

    def hold(route: Route) -> None:
        held.append(route)
        if len(held) > 1:  # asked for again
            answer(route)

    asks = re.compile(r"/commits/[^/]+/drafts(\?|$)")  # the threads come with the commit
    page.route(asks, hold)
    with page.expect_request(asks):
        page.goto(commit.address)
    expect(page.locator("tr.ln").first).to_be_visible()
    expect(page.locator("#threadlist")).to_be_disabled()
    answer(held[0])
    page.locator("#threadlist").click()
    offered = page.get_by_role("menuitem", name="Ask an agent about all open threads")
    expect(offered).to_be_enabled(enabled=answered)
