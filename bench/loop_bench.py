"""N1 to N3: how soon a question reaches the person who has to answer it, and what 1,000 threads
cost the lists.

`python -m bench loop`. N1 and N2 are measured from a question's own time stamp, so the clock
begins when the turn asks: to the message at a channel, and to the title of a page of each part. N3
lists 1,000 threads, each asked and answered, beside 10. N2 needs Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import Page, sync_playwright

from bench.figures import Figure, bounded_figure, ratio_figure
from bench.review import histories
from bench.timing import Connection, alternately
from tests.browser.conftest import CHROMIUM, MISSING, launched
from tests.service import Service, until
from tests.stubs.receiver import Receiver, receiving

ROUNDS = 10
TOLD_S, SHOWN_S, LISTS = 2.0, 1.0, 2.0
MANY, FEW = 1000, 10
FIRST = 30  # threads that the page of a project requests
ASKS = "#!runbook\n```Bash\necho asked\n```\n"
WATCH = """() => {
  const title = document.querySelector("title");
  const until = (says) => new Promise((done) => {
    const look = () => says(document.title.startsWith("(")) && done(Date.now());
    new MutationObserver(look).observe(title, {childList: true});
    look();
  });
  window.asked = until((so) => so);
  window.over = window.asked.then(() => until((so) => !so));
}"""


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder, receiving() as receiver:
        config = {"notify": [{"name": "hook", "url": receiver.url, "events": ["asked"]}]}
        with Service(Path(folder), config=config) as service:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            return [*asking(service, receiver), *listing(service, Path(folder))]


def asking(service: Service, receiver: Receiver) -> list[Figure]:
    """N1 and N2, measured on the same questions."""
    with pages(service) as seen_on:
        told, shown = zip(
            *(time_question(service, receiver, seen_on) for _ in range(ROUNDS)), strict=True
        )
    worst = f"worst of {ROUNDS}"
    figures = [
        bounded_figure(
            "N1", f"question → message at a channel, {worst}", max(told), TOLD_S, unit="s"
        )
    ]
    if seen_on:
        what = f"question → title of a page of each part, {worst}"
        figures.append(bounded_figure("N2", what, max(shown), SHOWN_S, unit="s"))
    return figures


def time_question(service: Service, receiver: Receiver, seen_on: list[Page]) -> tuple[float, float]:
    """Seconds from one question to its message, and to the last of the changed titles."""
    receiver.got.clear()
    for page in seen_on:
        page.evaluate(WATCH)
    made = service.http.post("/api/projects/alpha/chats", json={"prompt": ASKS}).json()
    chat = f"/api/projects/alpha/chats/{made['chat']['sessionId']}"
    moments = [page.evaluate("window.asked") for page in seen_on]
    until(lambda: receiver.got, seconds=30, what="the message")
    arrived = datetime.now(UTC)
    since = datetime.fromisoformat(service.http.get(chat).json()["chat"]["asked"]["since"])
    service.http.post(f"{chat}/stop").raise_for_status()
    for page in seen_on:
        page.evaluate("window.over")
    told = (arrived - since).total_seconds()
    return told, max((moment / 1000 - since.timestamp() for moment in moments), default=0.0)


@contextmanager
def pages(service: Service) -> Iterator[list[Page]]:
    """A page of each part on its own port; none without Chromium."""
    if CHROMIUM is None:
        print(f"loop: {MISSING}", file=sys.stderr)
        yield []
        return
    with (
        sync_playwright() as playwright,
        launched(playwright, CHROMIUM) as browser,
    ):
        found = []
        for port in service.ports.values():
            page = browser.new_page()
            page.goto(f"http://localhost:{port}/")
            page.locator("main").first.wait_for()
            found.append(page)
        yield found


def listing(service: Service, folder: Path) -> list[Figure]:
    history = histories.stack(folder)[0]
    for slug, count in (("many", MANY), ("few", FEW)):
        write_project(service.projects / slug, history, count)
    client = Connection(service.ports["review"])

    def change_comments() -> None:
        """Change a comment, so that no part of the answers is cached."""
        for slug in ("many", "few"):
            path = next((service.projects / slug / "reviews" / "r").iterdir())
            path.write_text(path.read_text().replace("Done.", "Done. "))

    rows = {
        "the threads of a project, as its page asks": f"threads?unresolved=1&html=1&limit={FIRST}",
        "a project with its stacks": "",
    }
    figures = []
    for what, path in rows.items():
        many, few = (f"/api/projects/{slug}/{path}".rstrip("/") for slug in ("many", "few"))
        until(partial(client.get, many), what="the first answer")
        for when, before in (("after a write", change_comments), ("again", tuple)):
            both = alternately(partial(client.get, many), partial(client.get, few), before=before)
            name = f"{what}, {when}, {MANY} threads asked and answered : {FEW}"
            figures.append(ratio_figure("N3", name, *both, unit="ms", most=LISTS))
    return figures


def write_project(project: Path, history: histories.History, count: int) -> None:
    """A project whose stack was reviewed commit by commit, with this many threads in all."""
    config = {
        "title": project.name,
        "repos": [{"name": "r", "path": str(history.path), "range": history.range}],
    }
    reviews = project / "reviews" / "r"
    reviews.mkdir(parents=True)
    (project / "project.yaml").write_text(yaml.safe_dump(config))
    shas = history.commits
    for n, sha in enumerate(shas):
        said = {"version": 1, "threads": [thread(k) for k in range(n, count, len(shas))]}
        (reviews / f"{sha}.yaml").write_text(yaml.safe_dump(said))


def thread(number: int) -> dict[str, Any]:
    said = [
        {
            "id": f"c{number}",
            "author": "ann",
            "body": "Why not the shorter way?",
            "created_at": "2026-11-20T10:00:00Z",
        },
        {
            "id": f"d{number}",
            "author": "agent:claude",
            "body": "Done.",
            "created_at": "2026-11-20T10:05:00Z",
        },
    ]
    asked = {"at": "2026-11-20T10:01:00Z", "by": "ann", "project": "alpha", "chat": "0" * 8}
    return {"id": f"t{number}", "comments": said, "asked": asked}
