"""A thousand threads on a commit: those near the screen are whole, the rest is what was written."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.browser.commits import Commit, made
from tests.browser.test_early import SHIFTS
from tests.service import Service

MANY, LINES = 120, 40
BODY = "Number {n} says **this**.\n\n- one\n- two `code`\n"
COMPLETED = """async (node) => {
  const height = () => node.getBoundingClientRect().height;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  document.querySelector("#general-threads").style.contentVisibility = "visible";
  node.style.contentVisibility = "visible";
  const before = height();
  node.scrollIntoView();
  while (node.classList.contains("later")) await frame();
  return height() - before;
}"""


def write(commit: Commit, *, count: int = MANY, on_lines: bool = True) -> list[str]:
    """Threads by somebody else, in the file of the review; their ids, from the top of the page."""
    threads = []
    for n in range(count):
        said = {"author": "ann", "created_at": "2026-11-20T10:00:00Z", "body": BODY.format(n=n)}
        place = {"path": "a.py", "line": 1 + n * LINES // count} if on_lines else {}
        threads.append({"id": f"t-{n:08}", **place, "comments": [{"id": f"c-{n:08}", **said}]})
    commit.file.parent.mkdir(parents=True, exist_ok=True)
    commit.file.write_text(yaml.safe_dump({"version": 1, "threads": threads}))
    return [str(one["id"]) for one in threads]


@pytest.fixture
def commit(shared_service: Service, tmp_path: Path) -> Commit:
    return made(shared_service, tmp_path)


def card(page: Page, tid: str) -> Locator:
    return page.locator(f"#thread-{tid}")


def reply(thread: Locator) -> Locator:
    return thread.get_by_role("textbox", name="Reply")


def test_of_many_threads_one_is_whole_near_the_screen_and_keeps_what_is_typed_when_far(
    page: Page, commit: Commit
) -> None:
    ids = write(commit)
    first, last = card(page, ids[0]), card(page, ids[-1])
    page.goto(commit.address)
    expect(page.locator(".thread")).to_have_count(MANY)
    reply(first).fill("Half an answer")

    expect(last).to_contain_text(f"Number {MANY - 1} says this.")
    expect(last).to_have_accessible_name(f"Thread, open: line {LINES}, a.py")
    assert page.locator(".thread.later").count() > MANY / 2
    assert not last.get_by_role("button").count()

    reply(first).press("Escape")
    page.keyboard.press("P")
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()
    page.keyboard.press("e")
    expect(last).to_contain_text("Resolved")
    page.keyboard.press("N")
    expect(first).to_be_focused()
    expect(reply(first)).to_have_value("Half an answer")


@pytest.mark.parametrize("count", [4, pytest.param(MANY, marks=pytest.mark.slow)])
def test_threads_come_with_the_lines_they_are_about_and_move_nothing(
    page: Page, commit: Commit, count: int
) -> None:
    ids = write(commit, count=count)  # most of them on lines that no change is near to
    page.add_init_script(SHIFTS)
    page.clock.install()
    page.goto(commit.address)
    expect(reply(card(page, ids[0]))).to_be_visible()
    expect(page.locator(".thread")).to_have_count(count)
    expect(page.get_by_role("button", name=f"{count} open threads: list")).to_be_enabled()
    page.clock.run_for(500)

    assert page.evaluate("shifted") < 0.01


@pytest.mark.slow
def test_an_address_leads_to_one_of_many_threads(page: Page, commit: Commit) -> None:
    ids = write(commit)
    page.goto(f"{commit.address}#thread-{ids[90]}")

    expect(card(page, ids[90])).to_be_focused()
    expect(card(page, ids[90])).to_be_in_viewport()
    expect(card(page, ids[90]).get_by_role("button", name="Resolve")).to_be_visible()


@pytest.mark.slow
def test_what_is_above_and_below_a_thread_stays_where_it_is_when_it_becomes_whole(
    page: Page, commit: Commit
) -> None:
    ids = write(commit, on_lines=False)
    page.goto(commit.address)
    expect(page.locator(".thread")).to_have_count(MANY)
    far = card(page, ids[60])
    expect(far).to_contain_class("later")

    assert abs(far.evaluate(COMPLETED)) < 1


@pytest.mark.slow
def test_a_reply_that_was_not_sent_outlives_its_thread_also_where_nobody_scrolled_to(
    page: Page, commit: Commit
) -> None:
    ids = write(commit)
    page.goto(f"{commit.address}#thread-{ids[90]}")
    reply(card(page, ids[90])).fill("Not sent")
    reply(card(page, ids[90])).blur()
    page.goto("about:blank")
    page.goto(commit.address)
    expect(card(page, ids[90])).to_be_attached()

    commit.file.write_text(commit.file.read_text().replace(ids[90], "t-other"))

    expect(card(page, "t-other")).to_be_attached()
    expect(card(page, ids[90])).to_contain_text("Deleted")
    expect(reply(card(page, ids[90]))).to_have_value("Not sent")
