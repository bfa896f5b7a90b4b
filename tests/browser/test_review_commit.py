"""The page of a commit, its threads aside: rail, head, files, diff, viewed marks, keys, live."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.browser.conftest import MODULES, Held, Watch
from tests.browser.ledger import Ledger, ledger
from tests.browser.toasts import undo
from tests.service import Service, until

REFUNDS = "pay/refunds.py"
SELECTION = f"async () => {MODULES}['js/review/diff/view.js'].selection()"
MUTE = "window.SharedWorker = class extends EventTarget { port = new MessageChannel().port1 }"
TOP = "document.getElementById('main').scrollTop"


@pytest.fixture(scope="module")
def book(shared_service: Service, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Commits that the tests of this module only read."""
    return ledger(shared_service, tmp_path_factory.mktemp("book") / "src")


@pytest.fixture
def own(shared_service: Service, tmp_path_factory: pytest.TempPathFactory, request: Any) -> Ledger:
    """Commits for one test alone."""
    slug = re.sub(r"\W+|_", "-", request.node.name)[5:45].strip("-")
    return ledger(shared_service, tmp_path_factory.mktemp("own") / "src", slug)


def file(page: Page, path: str) -> Locator:
    return page.get_by_role("region", name=path, exact=True)


def line(page: Page, path: str, text: str) -> Locator:
    return file(page, path).locator("tr.ln", has_text=text).first


def chosen(page: Page) -> Any:
    return page.evaluate(SELECTION)


def test_the_head_the_rail_and_the_tree_say_what_the_commit_is(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    head = page.locator("#head")
    expect(head.get_by_role("heading", name="Make refunds idempotent")).to_be_visible()
    expect(head).to_contain_text("Draft")
    expect(head).to_contain_text("Ann Author")
    expect(head.get_by_text("A key <b>says</b> so.")).to_be_visible()
    expect(page).to_have_title(re.compile("Make refunds idempotent"))

    rail = page.get_by_role("navigation", name="Commits of this project")
    here = rail.locator("[aria-current=page]")
    expect(here).to_contain_text("Make refunds idempotent")
    expect(here).to_contain_text("0/11")
    expect(here.get_by_role("img", name="Draft")).to_be_visible()
    names = rail.locator(".rung .name")
    expect(names).to_have_text(
        ["Make refunds idempotent", "Store refunds", "A hundred files and more"]
    )
    expect(rail).to_contain_text("Stack 1 · refunds2 of 2")
    expect(rail).to_contain_text("Stack 2 · more, follows on")

    tree = page.get_by_role("navigation", name="Files of this commit")
    for name, status in {"refunds.py": "Modified", "gone.py": "Deleted", "empty.txt": "Added",
                         "new_name.py": "Renamed", "run.sh": "Mode changed"}.items():  # fmt: skip
        expect(tree.locator("a", has_text=name).get_by_role("img", name=status)).to_be_visible()
    expect(tree.locator("a", has_text="refunds.py")).to_contain_text("4")


def test_every_kind_of_change_is_shown_as_what_it_is(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    marks = file(page, REFUNDS).locator("mark")
    expect(marks).to_have_text(["payment=payment", "key=key", "value_90", "last"])
    expect(line(page, REFUNDS, "key=key")).to_have_class(re.compile("add"))
    expect(line(page, REFUNDS, "key=key").locator(".c")).to_have_text('# "one"')
    expect(line(page, REFUNDS, "value_49").locator(".num")).to_have_text("49")
    expect(file(page, REFUNDS)).to_contain_text("+47,7 @@ value_46 = 46")

    page.keyboard.press("End")
    for path, words in {"pay/new_name.py": "Renamed from pay/old_name.py, contents unchanged.",
                        "run.sh": "Was a file (100644), is executable (100755).",
                        "blob.bin": "A binary file.", "empty.txt": "An empty file.",
                        "end.txt": "The old side does not end with a newline.",
                        "package-lock.json": "Made by a tool, 1 changed line"}.items():  # fmt: skip
        file(page, path).scroll_into_view_if_needed()
        expect(file(page, path)).to_contain_text(words)
    file(page, "logo.png").scroll_into_view_if_needed()
    for alt, width in {"logo.png, before": 12, "logo.png, after": 20}.items():
        image = file(page, "logo.png").get_by_role("img", name=alt)
        expect(image).to_have_js_property("naturalWidth", width)
    odd = file(page, "pay/blanks.py").get_by_title("Invisible character U+202E")
    expect(odd).to_be_attached()


@pytest.mark.slow
def test_an_image_is_compared_by_swipe_and_as_onion_skin(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    logo, left = file(page, "logo.png"), "node => node.getBoundingClientRect().x"
    before, after = (logo.get_by_role("img", name=f"logo.png, {n}") for n in ("before", "after"))
    assert before.evaluate(left) < after.evaluate(left)

    logo.get_by_role("button", name="Swipe").press("Enter")
    bar = logo.get_by_role("slider", name="Where the new image begins: logo.png")
    assert before.evaluate(left) == after.evaluate(left)
    bar.press("ArrowRight")
    expect(after).to_have_css("clip-path", re.compile(r"81\.6px\)$"))  # 51 % of 160 px
    logo.locator(".compared").hover(position={"x": 100, "y": 5})
    page.mouse.down()
    logo.locator(".compared").hover(position={"x": 40, "y": 5})
    page.mouse.up()
    expect(bar).to_have_value("25")
    logo.get_by_role("button", name="Onion skin").click()
    expect(after).to_have_css("opacity", "0.25")
    page.goto(book.address("store"))
    expect(page.get_by_role("img", name="icon.svg, after")).to_have_css("opacity", "0.5")
    expect(file(page, "icon.svg").locator("tr.add")).to_have_count(1)  # its text is shown too


@pytest.mark.slow
def test_folded_lines_open_by_button_and_by_key(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    diff = file(page, REFUNDS)
    rows = diff.locator("tr.ln")
    expect(rows).to_have_count(16)
    diff.get_by_role("button", name="Show 20 lines above").focus()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(36)
    expect(diff.get_by_role("button", name="Show 20 lines above")).to_be_focused()
    expect(diff).to_contain_text("+27,27 @@")
    diff.get_by_role("button", name="Show 33 lines between").click()
    expect(rows).to_have_count(69)
    line(page, REFUNDS, "value_60").locator("td.n").last.click()
    page.keyboard.press("x")
    expect(rows).to_have_count(69 + 7 + 20)
    diff.get_by_role("button", name="Show 6 lines above").click()

    expect(rows).to_have_count(102)
    expect(diff.get_by_role("button", name="Show")).to_have_count(0)
    numbers = [row.split("\t")[1] for row in rows.evaluate_all(
        "rows => rows.map(r => `${r.at.old}\\t${r.at.new}`)")]  # fmt: skip
    assert [int(one) for one in numbers if one != "0"] == list(range(1, 101))


@pytest.mark.slow
def test_two_columns_are_chosen_by_m_and_remembered(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    expect(line(page, REFUNDS, "key=key")).to_be_visible()
    page.keyboard.press("m")
    expect(page.get_by_role("button", name="Split")).to_have_attribute("aria-pressed", "true")
    both = line(page, REFUNDS, "key=key")
    expect(both.locator("td.code.del")).to_contain_text("payment=payment")
    expect(both.locator("td.code.add")).to_contain_text("key=key")
    both.locator("td.n").first.click()
    assert chosen(page) == {"path": REFUNDS, "side": "LEFT", "start": 50, "end": 50}
    page.reload()
    expect(line(page, REFUNDS, "key=key").locator("td.code.del")).to_be_visible()
    page.get_by_role("button", name="Unified").click()

    expect(line(page, REFUNDS, "key=key").locator("td.code")).to_have_count(1)


@pytest.mark.slow
def test_white_space_is_hidden_or_shown_on_demand(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    diff = file(page, "pay/blanks.py")
    diff.scroll_into_view_if_needed()
    expect(diff.locator("tr.del")).to_have_count(3)
    page.get_by_role("button", name="Hide whitespace").click()
    expect(diff.locator("tr.del")).to_have_count(1)
    expect(diff).to_contain_text("Changes of white space alone are hidden.")
    page.get_by_role("button", name="Hide whitespace").click()
    expect(diff.locator("tr.del")).to_have_count(3)

    page.get_by_role("button", name="More ways to show it").click()
    page.get_by_role("menuitem", name="Show tabs and blanks").click()
    expect(diff.locator(".blank").first).to_be_attached()
    page.get_by_role("button", name="More ways to show it").click()
    page.get_by_role("menuitem", name="Do not wrap long lines").click()
    expect(page.locator("#files")).to_have_class(re.compile("nowrap"))


def test_files_are_marked_viewed_by_key_by_box_and_by_folder_and_undone(
    page: Page, own: Ledger
) -> None:
    page.goto(own.address())
    expect(file(page, "blob.bin")).to_contain_text("A binary file.")
    page.keyboard.press("]")
    page.keyboard.press("[")
    page.keyboard.press("v")
    expect(page.locator("#progress")).to_contain_text("1 of 11 viewed")
    expect(file(page, "blob.bin").get_by_role("checkbox")).to_be_checked()
    expect(file(page, "blob.bin").locator(".filebody")).to_be_hidden()
    expect(file(page, "empty.txt")).to_be_focused()
    page.keyboard.press("V")
    expect(page.locator("#progress")).to_contain_text("2 of 11 viewed")
    expect(file(page, "empty.txt")).to_be_focused()
    until(lambda: own.viewed() == ["blob.bin", "empty.txt"])
    undo(page, "Viewed empty.txt")
    expect(page.locator("#progress")).to_contain_text("1 of 11 viewed")
    until(lambda: own.viewed() == ["blob.bin"])

    folder = page.get_by_role("checkbox", name="Viewed: all 4 files of pay")
    folder.check()
    expect(page.locator("#progress")).to_contain_text("5 of 11 viewed")
    expect(page.locator(".rung[aria-current]")).to_contain_text("5/11")
    undo(page, "Viewed 4 files")
    until(lambda: own.viewed() == ["blob.bin"])
    file(page, "blob.bin").get_by_role("checkbox").uncheck()
    expect(file(page, "blob.bin").locator(".filebody")).to_be_visible()
    until(lambda: own.viewed() == [])


@pytest.mark.slow
def test_v_pressed_twice_at_once_marks_two_files(page: Page, own: Ledger) -> None:
    page.goto(own.address())
    expect(file(page, "blob.bin")).to_contain_text("A binary file.")
    page.keyboard.press("]")
    page.keyboard.press("[")
    for _ in range(2):
        page.keyboard.press("v")
    expect(page.locator("#progress")).to_contain_text("2 of 11 viewed")
    until(lambda: own.viewed() == ["blob.bin", "empty.txt"])


@pytest.mark.slow
def test_marks_are_sent_one_after_the_other(page: Page, own: Ledger) -> None:
    page.goto(own.address())
    expect(file(page, "blob.bin")).to_contain_text("A binary file.")
    page.keyboard.press("]")
    page.keyboard.press("[")
    held = Held(page, "**/viewed")
    with page.expect_request("**/viewed"):
        page.keyboard.press("V")
    page.keyboard.press("V")
    expect(page.locator("#progress")).to_contain_text("0 of 11 viewed")
    (sent,) = held.routes
    assert '"viewed":true' in (sent.request.post_data or "")
    with page.expect_response(lambda answer: '"viewed":false' in (answer.request.post_data or "")):
        held.release()
    assert own.viewed() == []


@pytest.mark.slow
def test_a_refused_mark_is_put_back_with_the_reason(page: Page, own: Ledger, watch: Watch) -> None:
    watch.meant.append("409")
    page.add_init_script(MUTE)  # the refusal alone tells the page
    page.goto(own.address())
    expect(file(page, "blob.bin")).to_contain_text("A binary file.")
    review = own.service.projects / own.slug / "reviews" / "api"
    review.mkdir(parents=True)
    (review / f"{own.shas['change']}.yaml").write_text("threads: [\n")
    file(page, "blob.bin").get_by_role("checkbox").check()

    expect(page.locator("#toasts")).to_contain_text("is not valid YAML")
    expect(file(page, "blob.bin").get_by_role("checkbox")).not_to_be_checked()
    expect(page.locator("#progress")).to_contain_text("0 of 11 viewed")


@pytest.mark.slow
def test_the_tree_is_filtered_walked_and_folded_by_keys(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    tree = page.get_by_role("navigation", name="Files of this commit")
    expect(tree.locator("a.leaf")).to_have_count(11)
    page.keyboard.press("t")
    page.keyboard.type("pay .py")
    expect(tree.locator("a.leaf:visible")).to_have_count(4)
    page.keyboard.press("ArrowDown")
    expect(tree.get_by_role("button", name="pay")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(tree.locator("a.leaf:visible")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(tree.get_by_role("link", name="refunds.py")).to_be_focused()
    page.keyboard.press("Enter")

    expect(file(page, REFUNDS)).to_be_focused()
    expect(page).to_have_url(re.compile(f"#{REFUNDS}$"))
    expect(tree.locator("[aria-current]")).to_contain_text("refunds.py")
    page.keyboard.press("t")
    page.keyboard.type("nothing like it")
    expect(tree).to_contain_text("No file by that name.")
    page.keyboard.press("Escape")
    expect(tree.locator("a.leaf:visible")).to_have_count(11)


@pytest.mark.slow
def test_an_address_leads_to_a_line_even_a_folded_one_of_a_large_file(
    page: Page, book: Ledger
) -> None:
    page.goto(book.address(hash_=f"#{REFUNDS}:L70"))
    expect(line(page, REFUNDS, "value_70")).to_be_focused()
    expect(line(page, REFUNDS, "value_70")).to_be_in_viewport()
    assert chosen(page) == {"path": REFUNDS, "side": "RIGHT", "start": 70, "end": 70}
    expect(file(page, REFUNDS).locator("tr.ln")).to_have_count(16 + 7)
    page.goto(book.address(hash_="#long.txt:L800"))

    expect(line(page, "long.txt", "line 800 anew")).to_be_focused()
    expect(line(page, "long.txt", "line 800 anew")).to_be_in_viewport()


def test_lines_are_chosen_by_keys_by_press_and_by_drag(page: Page, book: Ledger) -> None:
    page.goto(book.address(hash_=f"#{REFUNDS}"))
    expect(file(page, REFUNDS)).to_be_focused()
    expect(line(page, REFUNDS, "payment=payment")).to_be_in_viewport()
    page.keyboard.press("n")
    expect(line(page, REFUNDS, "payment=payment")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Shift+ArrowDown")
    assert chosen(page) == {"path": REFUNDS, "side": "RIGHT", "start": 51, "end": 52}
    page.keyboard.press("k")
    assert chosen(page) == {"path": REFUNDS, "side": "RIGHT", "start": 51, "end": 51}
    page.keyboard.press("n")
    expect(line(page, REFUNDS, "value_90")).to_be_focused()
    page.keyboard.press("p")
    expect(line(page, REFUNDS, "payment=payment")).to_be_focused()

    number = "td.n:nth-child(2)"
    line(page, REFUNDS, "value_47").locator(number).click()
    line(page, REFUNDS, "value_49").locator(number).click(modifiers=["Shift"])
    assert chosen(page) == {"path": REFUNDS, "side": "RIGHT", "start": 47, "end": 49}
    line(page, REFUNDS, "value_53").locator(number).hover()
    page.mouse.down()
    line(page, REFUNDS, "value_51").locator(number).hover()
    page.mouse.up()
    assert chosen(page) == {"path": REFUNDS, "side": "RIGHT", "start": 51, "end": 53}
    line(page, REFUNDS, "value_48").hover()
    expect(page.get_by_role("button", name="Comment on line 48")).to_be_visible()


def test_a_large_file_waits_to_be_asked_for_and_files_load_on_approach(
    page: Page, book: Ledger
) -> None:
    page.goto(book.address(hash_="#long.txt"))
    large = file(page, "long.txt")
    expect(large).to_contain_text("2,202 changed lines.")
    expect(large.locator("tr.ln")).to_have_count(0)
    large.get_by_role("button", name="Load diff").click()
    expect(large.locator("tr.ln")).to_have_count(2202)

    asked: list[str] = []
    page.on("request", lambda request: asked.extend([request.url] * ("/file?" in request.url)))
    page.goto(book.address("wide"))
    expect(page.locator("section.file")).to_have_count(120)
    expect(line(page, "d0/f000.py", "value_30")).to_be_visible()
    assert not any("f119" in url for url in asked)
    page.keyboard.press("t")
    page.keyboard.type("f119")
    page.keyboard.press("Enter")

    expect(line(page, "d9/f119.py", "value_30")).to_be_attached()
    expect(file(page, "d9/f119.py")).to_be_in_viewport()
    assert len(asked) < 60


def test_what_others_do_arrives_without_moving_the_reader(page: Page, own: Ledger) -> None:
    page.goto(own.address(hash_=f"#{REFUNDS}"))
    line(page, REFUNDS, "value_88").locator("td.n").last.click()
    expect(line(page, REFUNDS, "value_88")).to_be_focused()
    before = page.evaluate(TOP)
    own.mark("change", "blob.bin")
    own.mark("change", "pay/gone.py")
    body = {"body": "Why?", "path": "end.txt", "line": 1}
    own.service.http.post(own.api("change", "/threads"), json=body).raise_for_status()

    expect(page.locator("#progress")).to_contain_text("2 of 11 viewed")
    expect(page.locator(".rung[aria-current]")).to_contain_text("1 unresolved")
    expect(file(page, "end.txt")).to_contain_text("1 open")
    tree = page.get_by_role("navigation", name="Files of this commit")
    expect(tree.get_by_role("link", name="end.txt")).to_contain_text("1 unresolved")
    expect(line(page, REFUNDS, "value_88")).to_be_focused()
    assert chosen(page)["end"] == 88
    expect(line(page, REFUNDS, "value_88")).to_be_in_viewport()
    assert abs(page.evaluate(TOP) - before) < 120  # what grew above is kept out of sight


@pytest.mark.slow
def test_a_mark_that_fell_off_and_a_commit_that_went_away_are_said(
    page: Page, own: Ledger, watch: Watch
) -> None:
    watch.meant.append("404")
    own.mark("wide", "d0/f000.py")
    page.goto(own.address("wide"))
    expect(file(page, "d0/f000.py").get_by_role("checkbox")).to_be_checked()
    gone = own.amend("wide", {"d0/f000.py": "changed = 1\n"})

    notice = page.locator("#notices")
    expect(notice).to_contain_text(f"It is now {own.shas['wide'][:7]} A hundred files and more.")
    expect(file(page, "d0/f000.py")).to_be_attached()
    notice.get_by_role("link", name="Go there").click()
    page.wait_for_url(f"**/{own.shas['wide']}*")
    expect(file(page, "d0/f000.py")).to_contain_text("Changed since you viewed")
    expect(file(page, "d0/f000.py").get_by_role("checkbox")).not_to_be_checked()
    page.goto(f"/review/p/{own.slug}/api/{gone}")
    expect(notice).to_contain_text(f"It is now {own.shas['wide'][:7]}")
    page.goto(f"/review/p/{own.slug}/api/{'f' * 40}")
    expect(notice).to_contain_text("Look it up again in the project detail.")
    expect(page.get_by_role("heading", name="This commit is not here")).to_be_visible()


def test_a_commit_that_cannot_be_read_says_so_in_its_heading(
    page: Page, book: Ledger, watch: Watch
) -> None:
    watch.meant.append("503")
    refusal = {"error": "The disk is full.", "code": "disk"}
    refuse = lambda route: route.fulfill(status=503, json=refusal)  # noqa: E731
    page.route("**/commits/*contents=*", refuse)
    page.goto(book.address())

    expect(page.get_by_role("heading", name="This commit cannot be shown")).to_be_visible()
    expect(page.locator("#notices")).to_contain_text("The disk is full.")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Make refunds idempotent")).to_be_visible()


def test_a_key_that_comes_before_the_scripts_is_kept_for_them(page: Page, book: Ledger) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/page/js/review/pages/commit.js", hold, times=1)
    with page.expect_request("**/page/js/review/pages/commit.js"):
        page.goto(book.address(), wait_until="commit")
    expect(page.locator("#title")).to_be_attached()
    page.keyboard.press("J")
    held[0].continue_()

    page.wait_for_url(f"**/{book.shas['store']}")


def test_keys_lead_between_commits_and_up(page: Page, book: Ledger) -> None:
    page.goto(book.address())
    expect(page.locator(".rung[aria-current]")).to_be_visible()
    page.keyboard.press("J")
    page.wait_for_url(f"**/{book.shas['store']}")
    expect(page.locator(".rung[aria-current]")).to_contain_text("Store refunds")
    page.keyboard.press("Alt+ArrowUp")
    page.wait_for_url(f"**/{book.shas['change']}")
    expect(page.locator(".rung[aria-current]")).to_be_visible()
    page.get_by_role("main", name="Commit").focus()
    expect(page.get_by_role("main", name="Commit")).to_have_css("outline-style", "solid")
    page.keyboard.press("u")
    page.wait_for_url(f"**/p/{book.slug}")


def test_the_page_fits_and_has_sheets_on_a_phone(look: BrowserContext, book: Ledger) -> None:
    page = look.new_page()
    page.goto(book.address(hash_=f"#{REFUNDS}"))
    expect(line(page, REFUNDS, "key=key").locator(".c")).to_be_attached()
    for wide in ("document.documentElement", "document.getElementById('main')"):
        assert page.evaluate(f"{wide}.scrollWidth - {wide}.clientWidth") == 0
    if page.viewport_size == {"width": 360, "height": 800}:
        title = page.locator("#title").bounding_box()
        details = page.get_by_role("button", name="PR details").bounding_box()
        assert title
        assert details
        assert title["y"] + title["height"] <= details["y"]
        page.get_by_role("button", name="2 of 2").click()
        sheet = page.get_by_role("dialog", name="Commits")
        expect(sheet.locator("[aria-current]")).to_contain_text("Make refunds idempotent")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Files 0/11").click()
        page.get_by_role("dialog", name="Files").get_by_role("link", name="refunds.py").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(file(page, REFUNDS)).to_be_in_viewport()
    else:
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_contain_text("Viewed, and on to the next")
