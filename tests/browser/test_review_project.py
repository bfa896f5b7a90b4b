"""The page of one project under review: stacks, threads, notes in place, warnings, live."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Held, Watch
from tests.browser.stacks import Stacked, stacked
from tests.browser.test_early import SHIFTS
from tests.browser.toasts import undo
from tests.review.places import put
from tests.review.repos import Repo
from tests.service import Service, until

GONE = "0123456789abcdef0123456789abcdef01234567"
TURNING = re.compile(".{0,20}[\u202a-\u202e\u2066-\u2069]")
# A pace at which each repository is drawn in a frame of its own.
IN_PIECES = "let read = 0; performance.now = () => (read += 50);"
READ = """document.title + document.body.innerText + [...document.querySelectorAll("*")].map(
    (node) => (node.getAttribute("title") ?? "") + (node.getAttribute("aria-label") ?? ""))"""


@pytest.fixture
def pay(shared_service: Service, request: pytest.FixtureRequest) -> Stacked:
    """A project of the test's own."""
    name = re.sub(r"[^a-z]+", "-", request.node.name.removeprefix("test_"))
    return stacked(shared_service, name[:40].strip("-"))


def stack(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title, exact=True)


def row(page: Page, title: str) -> Locator:
    return page.locator("li", has=page.get_by_role("link", name=title, exact=True))


def test_stacks_show_what_a_reader_needs_and_lead_to_the_commits(page: Page, pay: Stacked) -> None:
    pay.send(
        "PUT", pay.c("money", "/pr"), github="https://github.com/a/b/pull/7", branch="refunds/money"
    )
    pay.send("PUT", pay.c("money", "/viewed"), path="pay.py", viewed=True)
    pay.thread("store", "Why?")
    page.goto(pay.page)

    titles = stack(page, "Refunds").locator("a.over")
    expect(titles).to_have_text(["Store refunds", "Extract Money"])
    money = row(page, "Extract Money")
    expect(money).to_contain_text(f"{pay.shas['money'][:7]} · refunds/money")
    expect(money).to_contain_text("Published #7")
    expect(money.get_by_role("link", name="#7")).to_have_attribute("href", re.compile("/pull/7$"))
    expect(money.get_by_role("img", name="1 of 2 files viewed")).to_be_visible()
    expect(row(page, "Store refunds")).to_contain_text("1 unresolved")
    expect(page.get_by_text(f"Follows on from {pay.shas['store'][:7]}")).to_be_visible()
    expect(page.get_by_text("3 open commits in 2 stacks")).to_contain_text("1 of 4 files viewed")
    expect(page.get_by_role("link", name="Name currencies")).to_be_hidden()
    page.get_by_text("Merged", exact=True).click()
    expect(row(page, "Name currencies")).to_contain_text("landed as")
    expect(page.get_by_role("img", name="4 commits in 2 stacks")).to_be_visible()
    svg = page.get_by_role("link", name="Download the picture as SVG")
    with page.expect_download() as download:
        svg.click()
    assert download.value.suggested_filename == f"{pay.slug}.svg"
    page.get_by_role("link", name=f"Continue at {pay.shas['money'][:7]}").click()
    page.wait_for_url(f"**{pay.commit_page('money')}")


def test_the_page_is_walked_by_keyboard(page: Page, pay: Stacked) -> None:
    pay.thread("store", "Line\n\nWhy", path="store.py", line=2)
    outdated = pay.thread("payout", "Old", path="payout.py", line=2)
    pay.repo.amend({"payout.py": "x\n"})
    pay.shas["payout"] = pay.repo.sha()
    page.goto(pay.page)
    expect(page.get_by_text("· outdated ·")).to_be_visible()

    page.keyboard.press("J")
    expect(page.get_by_role("link", name="Store refunds")).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_role("link", name="Extract Money")).to_be_focused()
    page.keyboard.press("K")
    expect(page.get_by_role("link", name="Store refunds")).to_be_focused()
    page.keyboard.press("N")
    expect(page.get_by_role("link", name="Line Why")).to_be_focused()
    page.keyboard.press("o")
    expect(page.get_by_role("link", name="Old", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{pay.commit_page('payout')}#thread-{outdated}")
    page.go_back()
    expect(page.get_by_role("link", name="Store refunds")).to_be_visible()
    page.keyboard.press("u")
    page.wait_for_url("**/review/")


def test_the_intro_is_written_in_place_with_preview_draft_and_undo(
    page: Page, pay: Stacked
) -> None:
    page.goto(pay.page)
    edit = page.get_by_role("button", name="Edit intro")
    edit.focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("textbox", name="Text of the intro")
    expect(box).to_be_focused()
    box.fill("What **matters**.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Go on editing intro")).to_be_focused()
    page.reload()
    expect(box).to_have_value("What **matters**.")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview strong")).to_have_text("matters")
    page.get_by_role("button", name="Write").click()
    page.keyboard.press("Control+Enter")

    expect(page.locator(".intro strong")).to_have_text("matters")
    expect(edit).to_be_focused()
    assert pay.get()["description"] == "What **matters**."
    undo(page, "Saved")
    expect(page.locator(".intro")).to_contain_text("Why this exists.")
    assert pay.get()["description"] == "Why this exists."


@pytest.mark.slow
def test_a_note_whose_stack_was_retitled_is_kept_and_can_be_saved_there(
    page: Page, pay: Stacked, watch: Watch
) -> None:
    watch.meant.append("409")
    page.goto(pay.page)
    page.get_by_role("button", name="Edit note of Refunds").click()
    box = page.get_by_role("textbox", name="Text of the note of Refunds")
    box.fill("Mine.")
    text = pay.file.read_text()
    put(pay.file, text.replace("title: Refunds\n", "title: Returns\n").encode())
    expect(stack(page, "Returns")).to_be_visible()
    expect(box).to_have_value("Mine.")

    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text('Stack 1 is now titled "Returns", not "Refunds"')).to_be_visible()
    expect(box).to_have_value("Mine.")
    assert "Mine." not in pay.file.read_text()
    page.get_by_role("button", name="Save it to Returns").click()
    expect(stack(page, "Returns")).to_contain_text("Mine.")
    assert "Mine." in pay.file.read_text()


def test_a_text_that_changes_while_someone_types_is_told_and_not_replaced(
    page: Page, pay: Stacked
) -> None:
    page.goto(pay.page)
    page.get_by_role("button", name="Edit intro").click()
    box = page.get_by_role("textbox", name="Text of the intro")
    box.fill("Mine.")

    pay.send("PUT", f"/review/api/projects/{pay.slug}/description", description="Theirs.")

    expect(page.get_by_text("The text in the file has changed since.")).to_be_visible()
    expect(box).to_have_value("Mine.")
    expect(page.get_by_text("It says: “Theirs.”")).to_be_visible()
    page.goto("about:blank")
    page.goto(pay.page)
    expect(page.get_by_text("It says: “Theirs.”")).to_be_visible()  # also after a reload
    expect(box).to_have_value("Mine.")
    page.get_by_role("button", name="Take theirs").click()
    expect(box).to_have_value("Theirs.")
    page.get_by_role("button", name="Undo").click()
    expect(box).to_have_value("Mine.")
    put = Held(page, "**/description")
    with page.expect_request("**/description"):
        page.get_by_role("button", name="Save", exact=True).click()
    expect(box).not_to_be_editable()  # what would be typed now would go with the form
    put.release()
    expect(box).to_have_count(0)


def test_changes_arrive_in_place_and_the_focus_stays(page: Page, pay: Stacked) -> None:
    page.goto(pay.page)
    link = page.get_by_role("link", name="Store refunds")
    link.focus()
    expect(page.get_by_text("No open thread.")).to_be_visible()

    pay.thread("store", "Is this **safe**?", path="store.py", line=3)
    expect(row(page, "Store refunds")).to_contain_text("1 unresolved")
    asked = page.get_by_role("region", name="Open threads").get_by_role("link")
    expect(asked).to_have_text("Is this safe?")
    expect(link).to_be_focused()
    pay.shas["more"] = pay.repo.commit({"more.py": "1\n"}, "Settle daily")
    pay.write(repos=_with(pay, "more"))
    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    expect(page.get_by_role("link", name="Settle daily")).to_be_hidden()
    expect(link).to_be_focused()
    page.get_by_role("heading", name="Refunds and payouts").click()
    page.locator("body").evaluate("() => document.activeElement.blur()")

    expect(page.get_by_role("link", name="Settle daily")).to_be_visible()


def _with(pay: Stacked, name: str) -> list[object]:
    """The repository with one more commit on top of its first stack."""
    commits = [pay.shas[one] for one in ("landed", "money", "store", name)]
    stacks = [{"title": "Refunds", "commits": commits}, {"title": "Payouts", "follow_on": True}]
    entry = {"name": "app", "path": str(pay.repo.path), "trunk": "main", "stacks": stacks}
    return [entry | {"range": f"{pay.shas['start']}..feature"}]


def test_what_stands_below_many_repositories_is_seen_once_they_are_there(
    page: Page, pay: Stacked
) -> None:
    base = {"path": str(pay.repo.path), "range": f"{pay.shas['landed']}..{pay.shas['money']}"}
    pay.write(repos=[{"name": f"part-{n}", **base} for n in range(8)])
    page.set_viewport_size({"width": 390, "height": 1600})
    page.add_init_script(IN_PIECES + SHIFTS)
    page.goto(pay.page)

    expect(page.get_by_role("region", name="Stacks of part-7")).to_be_visible()
    expect(page.get_by_role("complementary", name="About this project")).to_be_visible()
    assert page.evaluate("shifted") < 0.02


@pytest.mark.slow
def test_a_long_list_of_threads_begins_with_thirty_and_shows_the_rest_when_asked(
    page: Page, pay: Stacked
) -> None:
    for n in range(32):
        pay.thread("money", f"Number {n}")
    page.goto(pay.page)

    threads = page.get_by_role("region", name="Open threads")
    expect(threads.get_by_role("listitem")).to_have_count(30)
    expect(threads.locator(".badge")).to_have_text("32")
    expect(page.get_by_role("button", name="32 open threads")).to_be_visible()
    threads.get_by_role("button", name="Show 2 more threads").click()

    expect(threads.get_by_role("listitem")).to_have_count(32)
    expect(threads.get_by_role("link", name="Number 30")).to_be_focused()
    expect(threads.get_by_role("button", name="more")).to_be_hidden()


def test_open_threads_are_copied_as_markdown(page: Page, pay: Stacked) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pay.thread("store", "Is this safe?", path="store.py", line=3)
    done = pay.thread("store", "Done already")
    pay.send("PATCH", pay.c("store", f"/threads/{done}"), resolved=True)
    page.goto(pay.page)

    page.get_by_role("button", name="Copy as Markdown").click()

    expect(page.get_by_text("The open threads are copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "## store.py:3" in copied
    assert "> Is this safe?" in copied
    assert "Done already" not in copied


def test_warnings_come_first_and_each_has_its_way_out(page: Page, pay: Stacked) -> None:
    pay.send("PUT", pay.c("money", "/pr"), branch="refunds/money")
    pay.repo.git("branch", "-f", "refunds/money", pay.shas["store"])
    reviews = pay.file.parent / "reviews" / "app"
    put(reviews / f"{GONE}.yaml", b"threads: [{comments: [{author: jo, body: '*Round* how?'}]}]\n")
    put(reviews / f"{pay.shas['payout']}.yaml", b"threads: [\n")
    page.goto(pay.page)

    moved = page.locator(".banner", has_text="Branch refunds/money moved.")
    expect(moved).to_contain_text(f"the commit shown here is {pay.shas['money'][:7]}")
    expect(row(page, "Extract Money")).to_contain_text(f"moved to {pay.shas['store'][:7]}")
    moved.get_by_role("button", name="Record the new place").click()
    expect(moved).to_have_count(0)
    assert pay.send("GET", pay.c("store", "/pr"))["branch"] == "refunds/money"
    undo(page, "The new place is recorded")
    expect(moved).to_be_visible()
    until(lambda: pay.send("GET", pay.c("money", "/pr"))["branch"] == "refunds/money")

    broken = page.get_by_role("alert").filter(has_text="This file cannot be read.")
    expect(broken).to_contain_text(f"{pay.shas['payout']}.yaml, line 2, column 1: ")
    page.get_by_role("button", name="Read it").click()
    dialog = page.get_by_role("dialog", name="Reviews without a commit")
    expect(dialog.locator("em")).to_have_text("Round")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Read it")).to_be_focused()


@pytest.mark.slow
def test_what_a_gone_commit_became_is_said_by_one_press(page: Page, pay: Stacked) -> None:
    folder = pay.file.parent
    text = f'commit: {{sha: "{GONE}", subject: "Extract Money"}}\n'
    put(
        folder / "reviews" / "app" / f"{GONE}.yaml",
        f"{text}threads: [{{comments: [{{author: jo, body: Round how?}}]}}]\n".encode(),
    )
    put(folder / "prs" / "app" / f"{GONE}.yaml", f"{text}title: Money, extracted\n".encode())
    page.goto(pay.page)
    page.get_by_role("button", name="Read it").click()
    dialog = page.get_by_role("dialog", name="Reviews without a commit")
    dialog.get_by_role("button", name=f"It became {pay.shas['money'][:7]} Extract Money").click()

    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Read it")).to_have_count(0)
    expect(row(page, "Money, extracted")).to_be_visible()
    (thread,) = pay.send("GET", pay.c("money", "/review"))["threads"]
    assert thread["comments"][0]["body"] == "Round how?"


@pytest.mark.slow
def test_a_draft_on_a_commit_that_was_dropped_is_read_and_put_elsewhere(
    page: Page, pay: Stacked
) -> None:
    for body in ("Unsent and unwanted", "Unsent"):
        pay.send("POST", pay.c("payout", "/threads"), body=body, draft=True)
    pay.repo.reset(pay.shas["store"])
    page.goto(pay.page)

    warning = page.locator(".banner", has_text="One review has no commit any more.")
    expect(warning).to_contain_text("2 drafts of yours")
    page.get_by_role("button", name="Read it").click()
    dialog = page.get_by_role("dialog", name="Reviews without a commit")
    expect(dialog.get_by_text("Draft, not sent")).to_have_count(2)
    dialog.get_by_role("button", name="Delete it").first.click()
    expect(dialog.get_by_text("Unsent and unwanted")).to_have_count(0)
    short = pay.shas["payout"][:7]
    dialog.get_by_label(f"Commit that is to have the review of {short}").select_option(
        pay.shas["money"]
    )
    dialog.get_by_role("button", name="Put it there").click()

    expect(warning).to_have_count(0)
    (draft,) = pay.send("GET", pay.c("money", "/drafts"))["drafts"]
    assert draft["comments"][0]["body"] == "Unsent"


def test_drafts_are_read_and_deleted_while_their_repository_is_away(
    page: Page, pay: Stacked
) -> None:
    pay.send("POST", pay.c("money", "/threads"), body="Unsent", draft=True)
    pay.repo.path.rename(pay.repo.path.with_name(f"{pay.slug}-away"))
    page.goto(pay.page)

    expect(page.get_by_text("1 draft of app cannot be placed.")).to_be_visible()
    page.get_by_role("button", name="Read it").click()
    dialog = page.get_by_role("dialog", name="Threads of app")
    expect(dialog.get_by_text("Unsent", exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Delete it").click()

    expect(dialog.get_by_text("Unsent", exact=True)).to_have_count(0)
    (orphan,) = pay.get("/threads")["orphaned"] or [{"drafts": []}]
    assert orphan["drafts"] == []


def test_a_repository_is_added_and_one_that_is_gone_says_so(page: Page, pay: Stacked) -> None:
    page.goto(pay.page)
    page.get_by_role("button", name="Add a repository").click()
    form = page.get_by_role("form", name=f"Open a repository in {pay.slug}")
    form.get_by_label("Folder of the repository").fill(str(pay.repo.path))
    form.get_by_label("Commits").fill("feature")
    form.get_by_label("Name").fill("again")
    page.keyboard.press("Enter")
    added = page.get_by_role("region", name="Stacks of again")
    expect(added.get_by_role("link", name="Extract Money", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Add a repository")).to_be_focused()

    pay.repo.path.rename(pay.repo.path.with_name(f"{pay.slug}-away"))
    pay.write(title="Moved")

    told = f"app cannot be shown. No such directory: ~/code/{pay.slug}."
    expect(page.get_by_role("alert").first.locator("div")).to_have_text(told)


@pytest.mark.slow
def test_a_moved_repository_keeps_its_threads_and_is_given_its_new_path(
    page: Page, pay: Stacked, watch: Watch, axe: str
) -> None:
    watch.meant += ["400", "409"]
    pay.thread("store", "Is this safe?", path="store.py", line=3)
    new = pay.repo.path.rename(pay.repo.path.with_name(f"{pay.slug}-new"))
    other = Repo(pay.repo.path.with_name(f"{pay.slug}-other"))
    other.commit({"a": "1\n"}, "Something else")
    page.goto(pay.page)

    threads = page.get_by_role("region", name="Open threads")
    expect(threads).to_contain_text("1 open thread of app cannot be placed. No such directory: ")
    threads.get_by_role("button", name="Read it").click()
    expect(page.get_by_role("dialog", name="Threads of app")).to_contain_text("Is this safe?")
    page.keyboard.press("Escape")
    expect(page.get_by_role("alert")).to_contain_text("Its 1 thread is kept.")
    page.get_by_role("button", name="Give the new path of app").click()
    form = page.get_by_role("form", name="Where app is now")
    path = form.get_by_label("Folder of the repository")
    expect(path).to_have_value(f"~/code/{pay.slug}")
    expect(path).to_be_focused()
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_have_text(f"Not a git repository: ~/code/{pay.slug}")
    path.fill(str(other.path))
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("it may be another repository.")
    expect(form.get_by_role("alert")).not_to_contain_text("confirm")
    page.evaluate(axe)
    assert page.evaluate("axe.run('dialog')")["violations"] == []
    form.get_by_role("button", name="Use it anyway").click()
    expect(form).to_have_count(0)
    told = page.get_by_role("alert")
    expect(told.filter(has_text="app cannot be shown. Unknown revision: ")).to_be_visible()
    assert pay.get()["repos"][0]["path"] == str(other.path)

    page.get_by_role("button", name="Give the new path of app").click()
    path.fill(f"~/code/{pay.slug}-new")
    form.get_by_role("button", name="Use it", exact=True).click()
    expect(row(page, "Store refunds")).to_contain_text("1 unresolved")
    expect(threads.get_by_role("link", name="Is this safe?")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert pay.get()["repos"][0]["path"] == str(new)


@pytest.mark.slow
def test_a_commit_of_a_moved_repository_names_the_missing_directory(
    page: Page, pay: Stacked, watch: Watch
) -> None:
    watch.meant.append("404")
    pay.repo.path.rename(pay.repo.path.with_name(f"{pay.slug}-new"))

    page.goto(pay.commit_page("store"))

    told = page.get_by_role("alert")
    expect(told).to_contain_text(f"No such directory: {pay.repo.path}. Put it back")
    told.get_by_role("link", name="Open the project").click()
    expect(page.get_by_role("button", name="Give the new path of app")).to_be_visible()


def test_what_turns_the_order_of_text_is_seen_and_not_obeyed(page: Page, pay: Stacked) -> None:
    code = 'ok = 1\rbad()\nif "user\u202e \u2066# check\u2069 \u2066":\n'
    code += "long = 1 # \u202e" + "x" * 30_000 + "\n"
    pay.shas["more"] = pay.repo.commit({"evil\u202e.py": code}, "trojan \u202esubject")
    pay.write(repos=_with(pay, "more"), title="Pay\u202elist")
    until(lambda: pay.service.http.get(pay.c("more")).status_code == 200)
    pay.thread("more", "Why \u202eso?", path="evil\u202e.py", line=1)
    pay.send("PUT", pay.c("store", "/pr"), title="PR \u2067title")
    page.goto(pay.commit_page("more"))

    expect(page.get_by_role("heading", level=1)).to_have_text("trojan «U+202E»subject")
    expect(page.get_by_role("link", name="Pay«U+202E»list")).to_be_visible()
    expect(page.get_by_text("Why «U+202E»so?")).to_be_visible()
    signs = page.locator(".diff .odd")
    expect(signs).to_have_count(6)
    told = signs.evaluate_all("nodes => nodes.map(({ dataset }) => dataset.code)")
    assert told == ["CR", "U+202E", "U+2066", "U+2069", "U+2066", "U+202E"]
    assert TURNING.findall(page.evaluate(READ)) == []
    page.get_by_role("button", name="Show all 30,012 characters").click()
    expect(page.get_by_text("long = 1 # xxx")).to_be_visible()
    expect(signs.last).to_have_attribute("data-code", "U+202E")
    assert TURNING.findall(page.evaluate(READ)) == []

    page.goto(pay.page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Pay«U+202E»list")
    expect(page.get_by_role("link", name="PR «U+2067»title")).to_be_visible()
    expect(page.get_by_role("link", name="trojan «U+202E»subject")).to_be_visible()
    page.goto("/review/")
    expect(page.get_by_role("link", name="Pay«U+202E»list")).to_be_visible()
    assert TURNING.findall(page.evaluate(READ)) == []


@pytest.mark.slow
def test_a_commit_that_is_read_leads_on_and_its_message_reads_as_prose(
    page: Page, pay: Stacked
) -> None:
    pay.repo.git("checkout", "-q", "-b", "side", "feature~1")
    side = pay.repo.commit({"side.py": "s\n"}, "On the side")
    pay.repo.git("checkout", "-q", "feature")
    pay.repo.git("merge", "-q", "--no-ff", "-m", "Join the side", side)
    message = "Say more\n\nHard breaks of a\nmessage flow.\n\n- a list\n- stays\n\nChange-Id: I01"
    pay.repo.commit({"more.py": "x\n"}, message)
    pay.shas["join"], pay.shas["more"] = pay.repo.sha("HEAD~1"), pay.repo.sha()
    span = f"{pay.shas['start']}..feature"
    pay.write(repos=[{"name": "app", "path": str(pay.repo.path), "trunk": "main", "range": span}])
    until(lambda: pay.service.http.get(pay.c("more")).status_code == 200)

    page.goto(pay.commit_page("join"))
    expect(page.get_by_text("merge, shown against its first parent")).to_be_visible()
    expect(page.get_by_text("All files viewed.")).to_be_hidden()
    page.keyboard.press("v")
    onward = page.get_by_role("link", name="Next: Say more")
    expect(onward).to_be_visible()
    onward.click()

    words = page.locator("#message p")
    expect(words).to_have_count(2)
    expect(words.first).to_have_css("white-space", "normal")
    expect(words.last).to_have_css("white-space", "pre-line")
    page.keyboard.press("v")
    expect(page.get_by_role("link", name="This was the last commit")).to_be_visible()


@pytest.mark.slow
def test_the_page_says_what_its_png_has_no_font_for(page: Page, pay: Stacked) -> None:
    pay.shas["more"] = pay.repo.commit({"more.py": "x\n"}, "Private \U0010fffc use")
    pay.write(repos=_with(pay, "more"))
    page.goto(pay.page)

    expect(page.get_by_text("The PNG shows boxes for \U0010fffc: no font")).to_be_visible()


@pytest.mark.slow
def test_the_page_with_open_forms_fits_and_has_no_axe_violation(
    look: BrowserContext, shared_service: Service, axe: str
) -> None:
    if not (shared_service.projects / "looked-at").exists():
        made = stacked(shared_service, "looked-at")
        made.thread("store", "Is this safe?", path="store.py", line=3)
        made.send("PUT", made.c("money", "/pr"), branch="nowhere", status="ready")
        put(made.file.parent / "reviews" / "app" / f"{GONE}.yaml", b"threads: [\n")
    page = look.new_page()
    page.goto("/review/p/looked-at")
    page.get_by_role("button", name="Edit note of Refunds").click()
    page.get_by_role("button", name="Add a repository").click()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(axe)
    violations = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in violations] == []
