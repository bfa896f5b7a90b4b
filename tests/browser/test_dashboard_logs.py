"""The log of an app in its drawer: followed, searched, coloured, and smooth when it is long."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.dashboard.served import Served
from tests.service import QUIET, until

SPANS = (
    "line => [...line.querySelectorAll('span, mark')].map(one => [one.className, one.innerText])"
)
MANY = 100_000


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("logs"), dashboard=QUIET) as running:
        yield running


@pytest.fixture
def written(shared_service: Served, request: pytest.FixtureRequest) -> Callable[[str], None]:
    """An app named after the test, whose log is what the test writes."""
    slug = _slug(request)
    spool = Path(shared_service.tmp / f"{slug}.txt")
    spool.touch()
    command = f"exec tail -n +1 -f {spool}"
    shared_service.declare(slug, f"name: Scribe\nservice: {{command: '{command}', cwd: /tmp}}\n")
    until(lambda: shared_service.app(slug), what="the app")
    shared_service.act(slug, "start")

    def write(text: str) -> None:
        with spool.open("a") as file:
            file.write(text)
        logged = f"/api/apps/{slug}/logs?lines=1"
        last = text.splitlines()[-1][:100]
        until(
            lambda: last in "".join(shared_service.api.get(logged).json()["lines"]),
            what="the line",
        )

    return write


def _slug(request: pytest.FixtureRequest) -> str:
    return re.sub("[^a-z0-9]", "-", request.node.name)[:40].strip("-")


@pytest.fixture
def logs(page: Page, request: pytest.FixtureRequest) -> Callable[[], Locator]:
    """Opens the log of the test's app."""

    def shown() -> Locator:
        page.goto(f"/dashboard/#app={_slug(request)}&tab=logs")
        found = page.get_by_role("region", name="Log of Scribe")
        expect(found).to_be_visible()
        return found

    return shown


def numbered(first: int, last: int) -> str:
    return "".join(f"line {n}\n" for n in range(first, last + 1))


def test_the_last_200_are_shown_and_what_comes_is_followed(
    page: Page, written: Callable[[str], None], logs: Callable[[], Locator]
) -> None:
    written(numbered(1, 400))
    log = logs()
    expect(log.get_by_text("line 400", exact=True)).to_be_in_viewport()
    expect(page.get_by_placeholder("Find in 200 lines")).to_be_visible()

    written(numbered(401, 402))

    expect(log.get_by_text("line 402", exact=True)).to_be_in_viewport()
    page.get_by_label("Follow").uncheck()
    written(numbered(403, 403))
    page.get_by_label("Follow").check()
    expect(log.get_by_text("line 403", exact=True)).to_be_in_viewport()


def test_it_waits_while_someone_reads_and_older_lines_come_on_scrolling_up(
    page: Page, written: Callable[[str], None], logs: Callable[[], Locator]
) -> None:
    written(numbered(1, 900))
    log = logs()
    expect(log.get_by_text("line 900", exact=True)).to_be_in_viewport()
    log.evaluate("box => { box.scrollTop = 0; }")
    expect(page.get_by_placeholder("Find in 900 lines")).to_be_visible()
    log.evaluate("box => { box.scrollTop = box.scrollHeight / 2; }")
    expect(log.get_by_text("line 460", exact=True)).to_be_in_viewport()
    top = log.evaluate("box => box.scrollTop")

    written(numbered(901, 912))

    news = page.get_by_role("button", name="12 new lines")
    expect(news).to_be_visible()
    assert log.evaluate("box => box.scrollTop") == top
    news.press("Enter")
    expect(log.get_by_text("line 912", exact=True)).to_be_in_viewport()
    expect(news).to_be_hidden()
    expect(log).to_be_focused()


@pytest.mark.slow
def test_find_counts_and_goes_from_hit_to_hit(
    page: Page, written: Callable[[str], None], logs: Callable[[], Locator]
) -> None:
    written(numbered(1, 150) + "\x1b[31mpaper\x1b[0m jam\n" + numbered(1, 20) + "Paperclip\n")
    log = logs()
    expect(log.get_by_text("Paperclip")).to_be_visible()
    log.focus()
    page.keyboard.press("f")
    page.keyboard.type("PAPER")
    said = page.locator(".steps [role=status]")
    expect(said).to_have_text("2 of 2")
    expect(log.locator("mark.now")).to_have_text("Paper")

    page.keyboard.press("Enter")
    expect(said).to_have_text("1 of 2")
    expect(log.locator("mark.now")).to_have_text("paper")
    expect(log.locator("mark.now")).to_be_in_viewport()
    page.keyboard.press("Shift+Enter")
    expect(said).to_have_text("2 of 2")
    page.get_by_role("button", name="Previous hit").click()
    expect(said).to_have_text("1 of 2")

    written("paper again\n")
    expect(said).to_have_text("1 of 3")
    page.get_by_label("Find in the log").press("Escape")
    expect(log.locator("mark")).to_have_count(0)

    written("wwwwww\n")
    expect(log.get_by_text("wwwwww")).to_be_attached()
    page.get_by_label("Find in the log").fill("w")
    expect(said).to_have_text("6 of 6")
    expect(log.locator("mark")).to_have_text(["wwwww", "w"])  # side by side: one mark
    page.get_by_role("button", name="Previous hit").click()
    expect(log.locator("mark")).to_have_text(["wwww", "w", "w"])
    expect(log.locator("mark.now")).to_have_count(1)


def test_colours_and_levels_are_shown_and_nothing_else_of_a_terminal(
    page: Page, written: Callable[[str], None], logs: Callable[[], Locator]
) -> None:
    written(
        "14:02:01 WARN pool is full\n14:02:02 ERROR refused\n  File x, line 4\nfine\n"
        "\x1b[32mINFO\x1b[0m \x1b[1;36mready\x1b[m<b>\x1b[2K\x1b]0;title\x07\n"
    )
    log = logs()

    expect(log.locator(".warn")).to_have_text("14:02:01 WARN pool is full")
    expect(log.locator(".bad")).to_have_text(["14:02:02 ERROR refused", "  File x, line 4"])
    last = log.locator(".l").last
    expect(last).to_have_text("INFO ready<b>")
    assert last.evaluate(SPANS) == [["fg-green", "INFO"], ["fg-cyan bold", "ready"]]


def test_lines_are_copied_and_the_whole_log_is_downloaded(
    page: Page,
    context: BrowserContext,
    written: Callable[[str], None],
    logs: Callable[[], Locator],
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    long = "".join(f"{'x' * 8000} {n}\n" for n in range(1100))  # more than one answer holds
    written(long + numbered(1, 6000))
    log = logs()
    expect(log.get_by_text("line 6000", exact=True)).to_be_in_viewport()

    page.get_by_role("button", name="Copy these lines").click()
    expect(page.get_by_text("Copied 200 lines")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == numbered(5801, 6000).rstrip()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the whole log").press("Enter")

    assert download.value.suggested_filename.endswith(".log")
    assert Path(download.value.path()).read_text() == long + numbered(1, 6000)


@pytest.mark.slow
def test_the_log_of_what_never_stops_printing_is_downloaded_as_it_was_at_the_press(
    page: Page, written: Callable[[str], None], logs: Callable[[], Locator]
) -> None:
    written(numbered(1, 6000))
    log = logs()
    expect(log.get_by_text("line 6000", exact=True)).to_be_in_viewport()

    more = itertools.count()

    def printing(route: Route) -> None:
        written(f"more {next(more)}\n")
        route.continue_()

    page.route(re.compile(r"/logs\?.*after="), printing)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the whole log").press("Enter")

    assert Path(download.value.path()).read_text().startswith(numbered(1, 6000))


@pytest.mark.slow
def test_a_very_long_log_and_very_long_lines_leave_the_page_quick(
    page: Page, written: Callable[[str], None], logs: Callable[[], Locator]
) -> None:
    written("x" * 100_000 + "\n" + numbered(1, 300))
    log = logs()
    expect(log.get_by_text("line 300", exact=True)).to_be_in_viewport()

    written(numbered(301, MANY))

    expect(log.get_by_text(f"line {MANY}", exact=True)).to_be_in_viewport()
    assert log.locator(".l").count() < 2000
    log.focus()
    for _ in range(3):
        page.keyboard.press("Home")
        page.keyboard.press("PageDown")
    find, said = page.get_by_label("Find in the log"), page.locator(".steps [role=status]")
    expect(find).to_have_attribute("placeholder", re.compile(r"^Find in [\d,]{5,} lines"))
    find.fill(f"line {MANY - 300}")
    expect(said).to_have_text(re.compile("of 1$"))  # it may come with lines that are read later
    find.press("Enter")
    expect(said).to_have_text("1 of 1")
    expect(log.locator("mark.now")).to_be_in_viewport()
    page.get_by_label("Wrap").uncheck()
    expect(log.locator("mark.now")).to_be_in_viewport()
    assert log.locator(".l").count() < 2000


@pytest.mark.slow
def test_hits_beyond_ten_thousand_are_not_counted_and_still_reached(
    page: Page, written: Callable[[str], None], logs: Callable[[], Locator]
) -> None:
    written("owl\n" + ("o" * 190 + "\n") * 198)
    log = logs()
    find, said = page.get_by_label("Find in the log"), page.locator(".steps [role=status]")
    expect(find).to_have_attribute("placeholder", "Find in 199 lines")

    find.fill("o")

    expect(said).to_have_text(re.compile(r"^\d\d,\d{3}\+$"))
    expect(log.locator("mark.now")).to_be_in_viewport()
    find.press("Enter")  # after the last comes the first
    expect(said).to_have_text("1 of 37621")
    expect(log.get_by_text("owl")).to_be_in_viewport()
