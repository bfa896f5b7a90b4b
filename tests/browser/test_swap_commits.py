"""Going from commit to commit of one project changes the content and keeps the frame: nothing of
the former commit is shown, lost or left behind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Held, Watch
from tests.browser.test_swap import WITHOUT, Counted, alone, loaded, mark, nothing_left
from tests.browser.toasts import undo
from tests.promises.rings import few
from tests.review.repos import Repo
from tests.service import Service, until

__all__ = ["alone"]

NAMES = ("Amber", "Birch", "Cedar")  # of the commits, from the bottom
LINES = 160
FILES = 9  # of each commit: one more than come with it, the long one
ROUNDS = 10  # of three swaps each, after which nothing may be left of them
NUMBERS = count()
TOP = "document.getElementById('main').scrollTop"
# Whether these words ever stood in the commit from now on.
NOTICE = """words => {
  const work = document.getElementById("work");
  window.noticed = false;
  new MutationObserver(() => (window.noticed ||= work.textContent.includes(words)))
    .observe(work, { childList: true, subtree: true });
}"""


def said(name: str, n: int) -> str:
    return f"{name.lower()}_{n:03} = {n}"


def files(name: str) -> dict[str, str]:
    text = "".join(f"{said(name, n)}\n" for n in range(1, LINES + 1))
    small = {f"{name.lower()}/f{n:02}.py": f"small = {n}\n" for n in range(1, FILES)}
    return {"main.py": text, **small}


@dataclass
class Trail:
    """A project of two repositories: `app` with a commit of each name, `lib` with Dune."""

    service: Service
    slug: str
    repo: Repo
    lib: Repo
    shas: dict[str, str]

    def address(self, name: str, hash_: str = "") -> str:
        repo = "lib" if name == "Dune" else "app"
        return f"/review/p/{self.slug}/{repo}/{self.shas[name]}{hash_}"

    def api(self, name: str, below: str = "") -> str:
        repo = "lib" if name == "Dune" else "app"
        commit = f"repos/{repo}/commits/{self.shas[name]}"
        return f"/review/api/projects/{self.slug}/{commit}{below}"

    def is_listed(self, name: str) -> bool:
        return self.service.http.get(self.api(name, "/pr")).status_code == 200

    def thread(self, name: str, body: str, **place: Any) -> str:
        answer = self.service.http.post(self.api(name, "/threads"), json={"body": body, **place})
        return str(answer.raise_for_status().json()["id"])

    def view(self, name: str, path: str) -> None:
        mark = {"path": path, "viewed": True}
        self.service.http.put(self.api(name, "/viewed"), json=mark).raise_for_status()

    def review(self, name: str) -> Any:
        return self.service.http.get(self.api(name, "/review")).raise_for_status().json()


def walked(service: Service, folder: Path, *, below: int = 0) -> Trail:
    """The project, with so many more commits below the named ones."""
    repo, lib = Repo(folder / "app"), Repo(folder / "lib")
    for one in (repo, lib):
        one.commit({"main.py": "begun = 0\n"}, "Base")
        one.branch("topic")
    for n in range(below):
        repo.commit({"main.py": f"begun = {n + 1}\n"}, f"Step {n + 1}")
    shas = {name: repo.commit(files(name), name) for name in NAMES}
    shas["Dune"] = lib.commit(files("Dune"), "Dune")
    slug = f"trail-{next(NUMBERS)}"
    repos = [
        {"name": one.path.name, "path": str(one.path), "range": "main..topic"}
        for one in (repo, lib)
    ]
    home = service.projects / slug
    home.mkdir()
    (home / "project.yaml").write_text(yaml.safe_dump({"title": "Woods", "repos": repos}))
    trail = Trail(service, slug, repo, lib, shas)
    for name in shas:
        until(partial(trail.is_listed, name), what=name)
    return trail


@pytest.fixture
def trail(shared_service: Service, tmp_path: Path) -> Trail:
    return walked(shared_service, tmp_path)


@pytest.fixture
def commit(page: Page, trail: Trail) -> Page:
    """Amber, in a document that is marked."""
    page.goto(trail.address("Amber"))
    shows(page, "Amber")
    mark(page)
    return page


def rail(page: Page) -> Locator:
    return page.locator("#rail")


def row(page: Page, name: str) -> Locator:
    return rail(page).locator("a.rung", has=page.get_by_text(name, exact=True))


def line(page: Page, name: str, n: int) -> Locator:
    return page.locator("tr.ln.add", has_text=said(name, n))


def shows(page: Page, name: str) -> None:
    """The commit with all that names it, and nothing of another one."""
    expect(page.locator("#title")).to_have_text(name)
    expect(page).to_have_title(re.compile(rf"^{name} · [0-9a-f]{{7}}$"))
    expect(page.locator("#here")).to_have_text(name)
    expect(row(page, name)).to_have_attribute("aria-current", "page")
    expect(page.locator(".rung[aria-current]")).to_have_count(1)
    expect(page.locator("#files .file")).to_have_count(FILES)
    expect(page.locator("#tree a.leaf")).to_have_count(FILES)
    expect(line(page, name, 1)).to_be_attached()
    for other in {*NAMES, "Dune"} - {name}:
        assert page.locator(f"#files .file[aria-label^='{other.lower()}/']").count() == 0
        assert page.locator("tr.ln.add", has_text=other.lower()).count() == 0


class Place:
    """A line that stands near the top of what is seen."""

    def __init__(self, page: Page, name: str, n: int) -> None:
        self.line = line(page, name, n)
        until(self.scrolled, what="the line near the top")  # a key before it may scroll on a while
        self.at = self.top()

    def scrolled(self) -> bool:
        self.line.evaluate("node => node.scrollIntoView({ block: 'start' })")
        return 0 < self.top() < 300

    def top(self) -> float:
        box = self.line.bounding_box()
        return box["y"] if box else -1

    def stands(self) -> None:
        until(lambda: abs(self.top() - self.at) < 4, what="the line where it stood")


def test_a_commit_opens_in_place_of_another_with_the_focus_and_the_rail_as_they_were(
    page: Page, shared_service: Service, tmp_path: Path
) -> None:
    trail = walked(shared_service, tmp_path, below=30)
    page.goto(trail.address("Amber"))
    shows(page, "Amber")
    mark(page)
    rail(page).evaluate("node => (node.scrollTop = 40)")
    row(page, "Birch").evaluate("node => (node.dataset.mine = 'yes')")
    row(page, "Birch").focus()

    page.keyboard.press("Enter")

    shows(page, "Birch")
    assert page.url.endswith(trail.address("Birch"))
    expect(row(page, "Birch")).to_be_focused()
    expect(row(page, "Birch")).to_have_attribute("data-mine", "yes")
    assert rail(page).evaluate("node => node.scrollTop") == 40
    expect(page.locator("body > p[role=status]")).to_have_text(re.compile("^Birch · "))
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    assert not loaded(page)
    page.reload()
    shows(page, "Birch")
    assert loaded(page)


@pytest.mark.slow
def test_keys_and_buttons_go_to_the_commit_above_and_below_also_quickly(
    commit: Page, trail: Trail
) -> None:
    commit.keyboard.press("K")
    shows(commit, "Birch")
    commit.keyboard.press("K")
    commit.keyboard.press("J")
    commit.keyboard.press("K")
    shows(commit, "Cedar")
    commit.keyboard.press("K")
    expect(commit.locator(".toast")).to_contain_text("the first commit of the list")
    line(commit, "Cedar", 3).locator("td.n").last.click()
    commit.keyboard.press("J")
    shows(commit, "Birch")
    expect(commit.locator("#main")).to_be_focused()  # which the keys that scroll are for
    commit.keyboard.press("n")
    expect(commit.locator("tr.ln.on")).to_have_count(1)
    assert not loaded(commit)


def test_a_commit_that_is_left_before_its_drafts_came_reads_nothing_of_the_next_one(
    commit: Page, trail: Trail
) -> None:
    drafts = Held(commit, f"**{trail.api('Birch', '/drafts')}?*")
    record = Held(commit, f"**{trail.api('Cedar')}?*")
    threads: list[str] = []
    commit.on("request", lambda one: threads.append(one.url) if "/review?" in one.url else None)
    commit.keyboard.press("K")
    expect(commit.locator("#title")).to_have_text("Birch")
    with commit.expect_request(f"**{trail.api('Cedar')}?*"):
        commit.keyboard.press("K")

    with commit.expect_response(f"**{trail.api('Birch', '/drafts')}?*"):
        drafts.release()
    commit.evaluate("new Promise(requestAnimationFrame)")

    assert threads == []
    record.release()
    shows(commit, "Cedar")


def test_threads_that_are_read_before_their_commit_are_drawn_after_it(
    page: Page, trail: Trail
) -> None:
    trail.thread("Amber", "Said of Amber", path="main.py", line=3)
    trail.thread("Birch", "Said of Birch", path="main.py", line=3)
    page.goto(trail.address("Amber"))
    expect(page.get_by_text("Said of Amber")).to_be_visible()
    resolved = Held(page, f"**{trail.api('Amber', '/threads/')}*")
    record = Held(page, f"**{trail.api('Birch')}?*")
    with page.expect_request(f"**{trail.api('Amber', '/threads/')}*"):
        page.get_by_role("button", name="Resolve").first.click()
    with page.expect_request(f"**{trail.api('Birch')}?*"):
        page.keyboard.press("K")

    with page.expect_response(f"**{trail.api('Birch', '/review')}?*"):
        resolved.release()
    record.release()

    shows(page, "Birch")
    expect(page.get_by_text("Said of Birch")).to_be_visible()


@pytest.mark.slow
def test_a_press_on_a_commit_counts_although_the_rail_changes_meanwhile(
    commit: Page, trail: Trail
) -> None:
    row(commit, "Birch").hover()
    commit.mouse.down()
    with commit.expect_response(f"**/api/projects/{trail.slug}"):
        trail.thread("Birch", "Said of Birch", path="main.py", line=3)
    commit.mouse.up()

    shows(commit, "Birch")
    expect(row(commit, "Birch")).to_contain_text("1")


@pytest.mark.slow
def test_back_returns_to_the_line_that_was_read_and_a_new_visit_begins_at_the_top(
    commit: Page,
) -> None:
    first = Place(commit, "Amber", 120)
    row(commit, "Birch").click()
    shows(commit, "Birch")
    assert commit.evaluate(TOP) == 0
    second = Place(commit, "Birch", 60)
    row(commit, "Amber").click()
    shows(commit, "Amber")
    assert commit.evaluate(TOP) == 0

    commit.go_back()
    shows(commit, "Birch")
    second.stands()
    commit.go_back()
    shows(commit, "Amber")
    first.stands()
    commit.go_forward()
    shows(commit, "Birch")
    second.stands()
    assert not loaded(commit)


@pytest.mark.slow
def test_back_returns_to_what_was_read_and_not_to_what_the_address_named(
    page: Page, trail: Trail
) -> None:
    thread = trail.thread("Amber", "Why?", path="main.py", line=20)
    page.goto(trail.address("Amber", f"#thread-{thread}"))
    card = page.locator(f"#thread-{thread}")
    expect(card).to_be_focused()
    page.keyboard.press("PageDown")  # by hand: the address leads nowhere any more
    mark(page)
    place = Place(page, "Amber", 140)
    row(page, "Birch").click()
    shows(page, "Birch")

    page.go_back()

    shows(page, "Amber")
    expect(card).to_contain_text("Why?")
    expect(page.get_by_role("button", name="1 open thread: list")).to_be_enabled()
    place.stands()
    expect(card).not_to_be_focused()
    assert not loaded(page)


@pytest.mark.slow
def test_threads_marks_and_counts_are_those_of_the_commit_that_is_shown(
    commit: Page, trail: Trail
) -> None:
    trail.thread("Amber", "Said of Amber", path="main.py", line=2)
    trail.thread("Amber", "Said of all of it")
    trail.service.http.post(trail.api("Amber", "/verdict"), json={"verdict": "approve"})
    trail.view("Birch", "birch/f01.py")
    cards = commit.locator("#work .thread")
    expect(cards).to_have_count(2)
    expect(commit.locator("#verdicts")).to_contain_text("approved")

    row(commit, "Birch").click()

    shows(commit, "Birch")
    expect(commit.locator("#progress")).to_contain_text(f"1 of {FILES} viewed")
    expect(commit.locator("#threadlist")).to_have_text(re.compile("No threads"))
    expect(cards).to_have_count(0)
    expect(commit.locator("#verdicts")).to_be_empty()
    trail.thread("Birch", "Said of Birch", path="main.py", line=3)
    expect(cards).to_contain_text("Said of Birch")
    trail.thread("Amber", "Said of Amber meanwhile", path="main.py", line=4)
    expect(row(commit, "Amber")).to_contain_text("3 unresolved")
    expect(cards).to_have_count(1)
    commit.keyboard.press("N")
    expect(cards).to_be_focused()
    commit.go_back()
    shows(commit, "Amber")
    expect(cards).to_have_count(3)
    expect(commit.locator("#progress")).to_contain_text(f"0 of {FILES} viewed")
    expect(commit.locator("#verdicts")).to_contain_text("approved")
    assert not loaded(commit)


@pytest.mark.slow
def test_text_that_was_not_sent_is_there_again_in_its_commit_alone(
    commit: Page, trail: Trail
) -> None:
    thread = trail.thread("Amber", "Asked", path="main.py", line=2)
    for name in ("Birch", "Amber"):
        row(commit, name).click()
        shows(commit, name)
    reply = commit.locator(f"#thread-{thread}").get_by_label("Reply", exact=True)
    reply.fill("Half a reply")
    line(commit, "Amber", 5).locator("td.n").last.click()
    commit.keyboard.press("c")
    fresh = commit.get_by_label("New comment on line 5 of main.py")
    expect(fresh).to_be_focused()
    commit.keyboard.type("Not sent yet")
    commit.go_back()
    shows(commit, "Birch")
    expect(commit.get_by_label(re.compile("^New comment"))).to_have_count(0)

    row(commit, "Amber").click()

    shows(commit, "Amber")
    expect(fresh).to_have_value("Not sent yet")
    expect(reply).to_have_value("Half a reply")
    commit.get_by_role("button", name="PR details").click()
    title = commit.get_by_role("dialog", name="PR details").get_by_label("Title", exact=True)
    title.fill("Amber, anew")
    commit.go_back()
    shows(commit, "Birch")
    expect(commit.get_by_role("dialog")).to_have_count(0)
    commit.get_by_role("button", name="PR details").click()
    expect(title).to_have_value("Birch")
    commit.keyboard.press("Escape")
    commit.go_forward()
    shows(commit, "Amber")
    commit.get_by_role("button", name="PR details").click()
    expect(title).to_have_value("Amber, anew")
    commit.keyboard.press("Escape")
    fresh.press("Control+Enter")
    expect(commit.locator("#work .thread")).to_have_count(2)
    bodies = [one["comments"][0]["body"] for one in trail.review("Amber")["threads"]]
    assert bodies == ["Asked", "Not sent yet"]
    assert trail.review("Birch")["threads"] == []
    assert not loaded(commit)


@pytest.mark.slow
@pytest.mark.parametrize("late", few(["*contents=8", "/versions", "/drafts*", "/file*"], 1))
def test_what_arrives_late_of_the_former_commit_changes_nothing(
    commit: Page, trail: Trail, late: str
) -> None:
    trail.thread("Birch", "Said of Birch", path="main.py", line=3)
    wanted = f"**{trail.api('Birch', late)}"
    held = Held(commit, wanted)
    with commit.expect_request(wanted):
        row(commit, "Birch").click()
    row(commit, "Cedar").click()
    shows(commit, "Cedar")
    commit.evaluate(NOTICE, "Said of Birch")

    with commit.expect_event("requestfinished", lambda one: trail.api("Birch") in one.url):
        held.release()

    trail.thread("Cedar", "Said of Cedar", path="main.py", line=3)  # drawn behind them
    expect(commit.locator("#work .thread")).to_contain_text("Said of Cedar")
    expect(commit.locator("#work .thread")).to_have_count(1)
    shows(commit, "Cedar")
    expect(commit.locator("#progress")).to_contain_text(f"0 of {FILES} viewed")
    assert commit.evaluate("window.noticed") is False
    assert not loaded(commit)


@pytest.mark.slow
def test_an_address_leads_to_a_line_and_to_a_thread_of_another_commit(
    commit: Page, trail: Trail
) -> None:
    thread = trail.thread("Cedar", "Why?", path="main.py", line=150)
    go = "address => location.assign(address)"
    commit.evaluate(go, trail.address("Birch", "#main.py:L130"))
    shows(commit, "Birch")
    expect(line(commit, "Birch", 130)).to_be_focused()
    expect(line(commit, "Birch", 130)).to_be_in_viewport()

    commit.evaluate(go, trail.address("Cedar", f"#thread-{thread}"))

    shows(commit, "Cedar")
    expect(commit.locator(f"#thread-{thread}")).to_be_focused()
    expect(commit.locator(f"#thread-{thread}")).to_be_in_viewport()
    commit.evaluate("location.hash = '#main.py:L90'")
    expect(line(commit, "Cedar", 90)).to_be_focused()
    assert not loaded(commit)


@pytest.mark.slow
def test_an_undo_is_for_the_commit_it_was_said_of(commit: Page, trail: Trail) -> None:
    thread = trail.thread("Amber", "Mine, and wrong", path="main.py", line=2)
    commit.get_by_role("button", name="Delete your comment").click()
    commit.locator("#work").get_by_role("checkbox", name="Viewed main.py").check()
    expect(commit.locator(".toast", has_text="Viewed main.py")).to_be_visible()
    row(commit, "Birch").click()
    shows(commit, "Birch")

    undo(commit, "Viewed main.py")
    undo(commit, "Comment deleted")

    until(lambda: trail.review("Amber")["viewed"] == [], what="the mark of Amber is off")
    assert trail.review("Birch")["viewed"] == []
    expect(commit.locator("#progress")).to_contain_text(f"0 of {FILES} viewed")
    row(commit, "Amber").click()
    shows(commit, "Amber")
    expect(commit.locator(f"#thread-{thread}")).to_contain_text("Mine, and wrong")
    assert not loaded(commit)


@pytest.mark.slow
def test_what_was_looked_for_chosen_or_hidden_ends_with_the_commit(commit: Page) -> None:
    commit.keyboard.press("t")
    commit.keyboard.type("f03")
    expect(commit.locator("#tree a.leaf:visible")).to_have_count(1)
    commit.keyboard.press("Escape")
    commit.get_by_label("Filter files").fill("f03")
    commit.get_by_label("Filter files").blur()
    commit.keyboard.press("f")
    commit.keyboard.type("begun")
    expect(commit.locator(".finder")).to_contain_text("1 lines")
    commit.keyboard.press("Escape")
    commit.keyboard.press("h")
    expect(commit.locator("body.threads-hidden")).to_have_count(1)

    row(commit, "Birch").click()

    shows(commit, "Birch")
    expect(commit.get_by_label("Filter files")).to_have_value("")
    expect(commit.locator("#tree a.leaf:visible")).to_have_count(FILES)
    expect(commit.locator(".finder")).to_be_hidden()
    expect(commit.locator("body.threads-hidden")).to_have_count(0)
    commit.keyboard.press("f")
    commit.keyboard.type("begun")
    expect(commit.locator(".finder")).to_contain_text("Nowhere")
    commit.locator("#threadlist").click()
    expect(commit.get_by_role("menu")).to_be_visible()
    commit.go_back()
    shows(commit, "Amber")
    expect(commit.get_by_role("menu")).to_have_count(0)
    assert not loaded(commit)


@pytest.mark.slow
def test_a_commit_of_another_repository_opens_with_its_own_files(
    commit: Page, trail: Trail
) -> None:
    commit.evaluate("document.body.dataset.editor = 'vscode://file{path}:{line}'")
    row(commit, "Dune").click()
    shows(commit, "Dune")
    line(commit, "Dune", 3).hover()
    link = commit.locator("#files .in-editor")
    expect(link).to_have_attribute("href", f"vscode://file{trail.lib.path}/main.py:3")
    line(commit, "Dune", 3).locator("td.n").last.click()
    commit.keyboard.press("c")
    commit.keyboard.type("Of the other one")
    commit.keyboard.press("Control+Enter")
    expect(commit.locator("#work .thread")).to_contain_text("Of the other one")
    assert len(trail.review("Dune")["threads"]) == 1
    expect(row(commit, "Dune")).to_contain_text("1 unresolved")
    commit.keyboard.press("K")
    shows(commit, "Amber")
    line(commit, "Amber", 3).hover()
    expect(link).to_have_attribute("href", f"vscode://file{trail.repo.path}/main.py:3")
    assert not loaded(commit)


@pytest.mark.slow
def test_a_commit_that_is_gone_says_where_it_went_and_leads_there(
    commit: Page, trail: Trail, watch: Watch
) -> None:
    watch.meant.append("404")
    trail.thread("Cedar", "Why?", path="main.py", line=2)  # which says where the commit went
    row(commit, "Cedar").click()
    shows(commit, "Cedar")
    row(commit, "Amber").click()
    shows(commit, "Amber")
    gone = trail.shas["Cedar"]
    trail.shas["Cedar"] = trail.repo.amend({"cedar/f01.py": "small = 100\n"})
    expect(rail(commit).get_by_text(trail.shas["Cedar"][:7])).to_be_visible()

    commit.go_back()

    notice = commit.locator("#notices")
    expect(notice).to_contain_text(f"It is now {trail.shas['Cedar'][:7]} Cedar.")
    assert commit.url.endswith(gone)
    expect(commit.locator("#files .file")).to_have_count(0)
    expect(commit.locator(".rung[aria-current]")).to_have_count(0)
    notice.get_by_role("link", name="Go there").click()
    expect(commit.locator("#compared")).to_contain_text("Since my last look")
    expect(commit.locator("#files .file")).to_have_count(1)
    assert commit.url.endswith(trail.address("Cedar"))
    expect(notice).to_be_empty()
    commit.locator("#compared").get_by_role("link", name="Whole commit").click()
    shows(commit, "Cedar")
    row(commit, "Birch").click()
    shows(commit, "Birch")
    expect(commit.locator("#compared")).to_be_hidden()
    assert not loaded(commit)


@pytest.mark.slow
def test_where_all_is_viewed_the_way_on_leads_into_the_next_commit(
    commit: Page, trail: Trail
) -> None:
    for path in files("Amber"):
        trail.view("Amber", path)
    onward = commit.locator(".onward")
    expect(onward).to_contain_text("All files viewed")
    onward.get_by_role("link", name="Next: Birch").click()

    shows(commit, "Birch")
    expect(onward).to_be_hidden()
    assert not loaded(commit)


@pytest.mark.slow
def test_other_pages_other_windows_and_other_browsers_load_as_ever(
    commit: Page, trail: Trail, context: BrowserContext
) -> None:
    with context.expect_page() as opened:
        row(commit, "Birch").click(modifiers=["Control"])
    shows(opened.value, "Birch")
    expect(commit).to_have_title(re.compile("^Amber"))
    commit.goto(f"/review/p/{trail.slug}/app/WORKTREE")
    expect(row(commit, "Cedar")).to_be_visible()
    mark(commit)
    row(commit, "Cedar").click()
    shows(commit, "Cedar")
    assert loaded(commit)
    mark(commit)
    commit.keyboard.press("u")
    expect(commit.locator("#stacks, .project-row").first).to_be_visible()
    assert loaded(commit)

    plain = context.new_page()
    plain.add_init_script(WITHOUT)
    plain.goto(trail.address("Amber"))
    shows(plain, "Amber")
    mark(plain)
    row(plain, "Birch").click()
    shows(plain, "Birch")
    assert loaded(plain)


@pytest.mark.slow
def test_from_an_address_with_the_beginning_of_a_hash_it_is_the_same(
    page: Page, trail: Trail
) -> None:
    page.goto(trail.address("Amber")[:-30])
    shows(page, "Amber")
    mark(page)
    page.keyboard.press("K")
    shows(page, "Birch")
    assert not loaded(page)


@pytest.mark.slow
def test_on_the_own_port_of_review_it_is_the_same(commit: Page, trail: Trail) -> None:
    commit.goto(trail.service.review_url + trail.address("Amber").removeprefix("/review"))
    shows(commit, "Amber")
    mark(commit)
    commit.keyboard.press("K")
    shows(commit, "Birch")
    commit.go_back()
    shows(commit, "Amber")
    assert not loaded(commit)


@pytest.mark.slow
def test_on_a_phone_the_sheet_of_commits_makes_room_for_the_one_that_is_chosen(
    commit: Page,
) -> None:
    commit.set_viewport_size({"width": 390, "height": 800})
    for name in ("Birch", "Amber"):
        commit.locator("#stepper").get_by_role("button").first.click()
        commit.get_by_role("dialog", name="Commits").locator("a.rung", has_text=name).click()
        expect(commit.get_by_role("dialog")).to_have_count(0)
        shows(commit, name)
    expect(commit.locator("#stepper")).to_contain_text("1 of 3")
    commit.get_by_role("button", name=f"Files 0/{FILES}").click()
    expect(commit.get_by_role("dialog", name="Files")).to_contain_text("amber")
    commit.go_back()
    expect(commit.get_by_role("dialog")).to_have_count(0)
    shows(commit, "Birch")
    commit.get_by_role("button", name=f"Files 0/{FILES}").click()
    expect(commit.get_by_role("dialog", name="Files")).to_contain_text("birch")
    commit.keyboard.press("Escape")
    commit.get_by_role("button", name="Commit above, K").click()
    shows(commit, "Cedar")
    expect(commit.get_by_role("button", name="Commit above, K")).to_be_focused()
    assert not loaded(commit)


@pytest.mark.slow
def test_keys_act_in_the_commit_that_is_shown_and_are_listed_once(commit: Page) -> None:
    for name in ("Birch", "Cedar", "Amber"):
        row(commit, name).click()
        shows(commit, name)
    commit.keyboard.press("?")
    keys = commit.get_by_role("dialog", name="Keys and help")
    for meaning in ("Commit below", "Next thread", "Find in the whole diff", "Next change"):
        expect(keys.get_by_text(meaning, exact=True)).to_have_count(1)
    commit.keyboard.press("Escape")
    commit.keyboard.press("Control+k")
    wanted = commit.get_by_role("combobox", name="Search or jump to")
    for action in ("PR details", "Submit review", "Comment on the commit"):
        wanted.fill(action)
        expect(commit.get_by_role("option", name=action, exact=True)).to_have_count(1)
    commit.keyboard.press("Escape")
    commit.keyboard.press("v")
    expect(commit.locator("#progress")).to_contain_text(f"1 of {FILES} viewed")
    expect(commit.locator("#head-actions").get_by_role("button")).to_have_count(2)
    assert not loaded(commit)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_thirty_swaps_leave_nothing_behind(alone: BrowserContext, trail: Trail) -> None:
    for name in NAMES:
        trail.thread(name, f"Said of {name}", path="main.py", line=2)
    page = alone.new_page()
    page.goto(f"{trail.service.url}{trail.address('Amber')}")
    counted = Counted(page)

    def around(times: int) -> dict[str, float]:
        for _ in range(times):
            for name in ("Birch", "Cedar", "Amber"):
                row(page, name).click()
                shows(page, name)
                expect(page.locator("#work .thread")).to_contain_text(f"Said of {name}")
        painted = line(page, "Amber", 100).locator("td.code span").first
        expect(painted).to_be_attached()
        return counted.now()

    before = around(4)
    mark(page)

    after = around(ROUNDS)

    assert not loaded(page)
    nothing_left(before, after)
