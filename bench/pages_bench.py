"""What a browser has to do for the largest pages: 500 apps, a commit of 2,000 files, a chat of
5,000 messages.

`python -m bench pages`, on a machine with Chromium. Of each page: when something is visible,
beside a line of text from the same server; and the work of its main thread, in ms of CPU, which
other work on the machine does not lengthen: until the page's main content is there, and in the
longest task while it loads and is scrolled through. Then a later visit: when the page is there
while four windows are open, what home requests from the service, and whether its layout shifts.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import yaml
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.figures import Figure, bounded_figure, bounded_median, count_figure, medians
from bench.review.histories import wide
from tests.browser.conftest import CHROMIUM, MISSING, launched
from tests.browser.test_chat_long import TURNS, turn
from tests.browser.test_early import SHIFTS, Between
from tests.service import Service, until
from workspace.chats import transcript

VISITS, TRACED = 5, 3
APPS, GROUPS, PORT = 500, 12, 20_000
PAINT_RATIO, SEEN_MS, TASK_MS = 1.5, 500, 200
VISITED_RATIO, VISITED_MS, SHIFT = 2, 150, 0.02
ASKED = ((80, 150), (15, 30), (4, 30))  # requests and kB of the successive visits of home
SETTLED_MS = 1500  # the time in which a page draws what is below the fold
WINDOW = {"width": 1440, "height": 900}
CALM = {"screenshots": {"enabled": False}, "scan": {"enabled": False}, "health": {"interval": "1h"}}
MARK = "what-it-is-about"
CATEGORIES = ["toplevel", "devtools.timeline", "blink.user_timing"]
SEEN = """(selector) => {
  const look = () => {
    if (document.querySelector(selector)) performance.mark("what-it-is-about");
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
THERE = f"performance.getEntriesByName('{MARK}')[0].startTime"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


@dataclass(frozen=True, slots=True)
class Visited:
    """A page and its main content: the first of many nodes, which `selector` finds."""

    id: str
    name: str
    address: str
    selector: str


def main() -> list[Figure]:
    """Print only a sentence when there is no Chromium."""
    if CHROMIUM is None:
        print(f"pages: {MISSING}", file=sys.stderr)
        return []
    with (
        tempfile.TemporaryDirectory() as folder,
        Service(Path(folder), scheduler=False, dashboard=CALM) as service,
        sync_playwright() as playwright,
        launched(playwright, CHROMIUM) as browser,
    ):
        pages = [apps(service), commit(service, Path(folder)), chat(service)]
        line = f"{service.url}/api/health"
        home = Visited("P4", "home", f"{service.url}/", ".home-row")
        figures = [figure for page in pages for figure in page_figures(browser, page, line)]
        return (
            figures + again(browser, [home, *pages], line) + request_figures(browser, service, home)
        )


def apps(service: Service) -> Visited:
    """The dashboard with 500 apps in 12 groups, all of them probed once."""
    for n in range(APPS):
        file = service.data / "dashboard" / "apps" / f"app-{n:03}.yaml"
        file.parent.mkdir(exist_ok=True)
        entry = {"name": f"App number {n}", "group": f"Group {n % GROUPS}", "port": PORT + n}
        file.write_text(yaml.safe_dump(entry))
    state = f"{service.dashboard_url}/api/state"

    def known() -> bool:
        found = service.http.get(state).json()
        return len(found["apps"]) == APPS and not found["counts"]["unknown"]

    until(known, seconds=60, what="500 apps whose state is known")
    return Visited("P1", "500 apps", f"{service.dashboard_url}/", ".tile")


def commit(service: Service, folder: Path) -> Visited:
    """A commit of 2,000 changed files, from the histories of the review benchmark."""
    history = wide(folder / "repositories")
    home = service.projects / "wide"
    home.mkdir(parents=True)
    entry = {"name": "r", "path": str(history.path), "range": history.range}
    (home / "project.yaml").write_text(yaml.safe_dump({"title": "Wide", "repos": [entry]}))
    (sha,) = history.commits
    detail = f"{service.review_url}/api/projects/wide/repos/r/commits/{sha}"
    until(lambda: service.http.get(detail).status_code == 200, seconds=30, what="the commit")
    address = f"{service.review_url}/p/wide/r/{sha}"
    return Visited("P2", "a commit of 2,000 files", address, "tr.ln")


def chat(service: Service) -> Visited:
    """A chat of 500 turns: a question, eight tool calls, an answer."""
    service.http.post("/api/projects", json={"name": "Long"}).raise_for_status()
    made = service.http.post("/api/projects/long/chats", json={"name": "Long talk"}).json()
    session = made["chat"]["sessionId"]
    path = service.projects / "long" / ".chats" / f"{session}.jsonl"
    with transcript.Writer(str(path)) as writer:
        for n in range(TURNS):
            turn(writer, n)
    address = f"{service.url}/projects/long/chats/{session}"
    return Visited("P3", "a chat of 5,000 messages", address, ".turn-block")


def page_figures(browser: Browser, page: Visited, line: str) -> list[Figure]:
    both = [(time_paint(browser, page.address), time_paint(browser, line)) for _ in range(VISITS)]
    found, floor = zip(*both, strict=True)
    first = f"{page.name}: first paint, p50 : of a line of text"
    traced = [time_work(browser, page) for _ in range(TRACED)]
    work, task = median(work for work, _ in traced), max(task for _, task in traced)
    return [
        medians(page.id, first, found, floor, unit="ms", most=PAINT_RATIO),
        bounded_figure(
            page.id, "the same: work until what it is about is there", work, SEEN_MS, unit="ms"
        ),
        bounded_figure(page.id, "the same: longest task", task, TASK_MS, unit="ms"),
    ]


def again(browser: Browser, pages: list[Visited], line: str) -> list[Figure]:
    """Visit each page once more, while a window of each is open."""
    with browser.new_context(viewport=WINDOW, bypass_csp=True) as context:  # type: ignore[arg-type]
        for page in pages:
            window = context.new_page()
            window.goto(page.address)
            window.locator(page.selector).first.wait_for()
        times = [(page, *time_visits(context, page, line)) for page in pages]
        return [figure for one in times for figure in visit_figures(*one)]


def time_visits(
    context: BrowserContext, visit: Visited, line: str
) -> tuple[list[float], list[float], list[float]]:
    """When the content is there: of a line of text and of the page, each in a fresh window, and of
    the page in a window that showed something else before."""
    floor, made, opened = [], [], []
    with context.new_page() as window:
        window.add_init_script(f"({SEEN})({json.dumps(visit.selector)})")
        for _ in range(VISITS):
            with context.new_page() as page:
                page.goto(line)
                floor.append(float(page.wait_for_function(PAINTED).json_value()))
            with context.new_page() as page:
                page.add_init_script(f"({SEEN})({json.dumps(visit.selector)})")
                made.append(there(page, visit))
            window.goto(line)
            opened.append(there(window, visit))
    return floor, made, opened


def there(page: Page, visit: Visited) -> float:
    page.goto(visit.address)
    page.locator(visit.selector).first.wait_for()
    return float(page.evaluate(THERE))


def visit_figures(
    visit: Visited, floor: list[float], made: list[float], opened: list[float]
) -> list[Figure]:
    words = f"{visit.name}, visited, four windows open: there, p50 : a line of text"
    same = f"{visit.name}, the same in an open window"
    return [
        medians("P4", words, made, floor, unit="ms", most=VISITED_RATIO),
        bounded_median("P4", same, opened, VISITED_MS, unit="ms"),
    ]


def request_figures(browser: Browser, service: Service, home: Visited) -> list[Figure]:
    """The requests that reach the service in three successive visits of home by one browser."""
    figures, shifted = [], 0.0
    between = Between(service)
    with browser.new_context(viewport=WINDOW, bypass_csp=True) as context:  # type: ignore[arg-type]
        for visit, (requests, weight) in enumerate(ASKED, 1):
            with context.new_page() as page:
                page.add_init_script(SHIFTS)
                page.goto(f"{between.url}/")
                page.locator(home.selector).first.wait_for()
                page.wait_for_timeout(SETTLED_MS)
                shifted = max(shifted, float(page.evaluate("shifted")))
            named = f"home: {{}}, visit {visit}".format
            figures += [
                count_figure("P5", named("requests"), len(between.asked), requests),
                bounded_figure("P5", named("what came"), between.came / 1000, weight, unit="kB"),
            ]
            between.asked, between.came = [], 0
    between.listener.close()
    return [*figures, bounded_figure("P6", "home: layout shift", shifted, SHIFT, unit="")]


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """A page in a browser that has never visited it: the cache is empty."""
    context = browser.new_context(viewport=WINDOW, bypass_csp=True)  # type: ignore[arg-type]
    try:
        yield context.new_page()
    finally:
        context.close()


def time_paint(browser: Browser, address: str) -> float:
    with opened(browser) as page:
        page.goto(address)
        return float(page.wait_for_function(PAINTED).json_value())


def time_work(browser: Browser, visit: Visited) -> tuple[float, float]:
    """CPU ms of the main thread until the page's main content is there, and of its longest task
    until the end of a scroll through the page."""
    with opened(browser) as page:
        page.add_init_script(f"({SEEN})({json.dumps(visit.selector)})")
        browser.start_tracing(page=page, categories=CATEGORIES)
        page.goto(visit.address)
        page.locator(visit.selector).first.wait_for()
        page.wait_for_timeout(SETTLED_MS)
        page.mouse.move(WINDOW["width"] / 2, WINDOW["height"] / 2)
        for way in (1, -1) * 5:
            page.mouse.wheel(0, way * 4 * WINDOW["height"])
            page.wait_for_timeout(SETTLED_MS / 10)
        events = json.loads(browser.stop_tracing())["traceEvents"]
    seen = next(one["ts"] for one in events if one["name"] == MARK)
    all_tasks = list(tasks(events))
    return sum(cpu for ts, cpu in all_tasks if ts < seen), max(cpu for _, cpu in all_tasks)


def tasks(events: list[dict[str, Any]]) -> Iterator[tuple[float, float]]:
    """When each task of the pages' main threads began (in the trace's time), and its CPU ms."""
    named = [one for one in events if one["name"] == "thread_name"]
    main = {(e["pid"], e["tid"]) for e in named if e["args"]["name"] == "CrRendererMain"}
    for one in events:
        if one["name"].endswith("RunTask") and (one["pid"], one["tid"]) in main:
            yield one["ts"], one.get("tdur", 0) / 1000
