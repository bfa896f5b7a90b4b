"""Home: projects by area, what needs somebody, pausing, making a project. By mouse and by keys."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Watch
from tests.service import Service, until

FAILS = '#!runbook\n```Read\n{"file_path": "nope.txt"}\n```\n'
ASKS = "#!runbook\n```Bash\ntrue\n```\n"


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Seven projects: one waits for an answer, one is broken, one failed, one is done."""
    with Service(tmp_path_factory.mktemp("home")) as running:
        for name, group, status in (
            ("Ledgerline", "Client work", "active"),
            ("Kestrel", "Client work", "active"),
            ("Brightwater", "Client work", "paused"),
            ("Marl", "Open source", "active"),
            ("Pgpeek", "Open source", "active"),
            ("Field notes", "", "active"),
            ("Old shop", "", "done"),
        ):
            body = {"name": name, "group": group, "status": status, "summary": f"About {name}"}
            running.http.post("/api/projects", json=body).raise_for_status()
        (running.projects / "pgpeek" / "project.yaml").write_text("name: Pgpeek\n bad: [\n")
        running.http.put(
            "/api/projects/marl/triggers/nightly",
            json={
                "trigger": {"type": "schedule", "cron": "0 3 * * *"},
                "run": {"prompt": FAILS},
                "enabled": True,
            },
        ).raise_for_status()
        running.http.post("/api/projects/marl/triggers/nightly/run").raise_for_status()
        running.http.post("/api/projects/ledgerline/chats", json={"prompt": ASKS, "name": "VAT"})
        until(lambda: running.http.get("/api/runs?status=failed").json()["runs"], what="a failure")
        yield running


def test_home_says_what_matters_and_lists_projects_by_area(page: Page) -> None:
    page.goto("/")

    said = page.locator(".pagehead p")
    expect(said).to_contain_text("One project cannot be read.")
    expect(said).to_contain_text("One run failed since yesterday.")
    expect(said).to_contain_text("One chat needs you.")
    expect(said).to_contain_text("One turn is running.")
    expect(said).to_contain_text(re.compile("Next trigger .*at 03:00"))
    areas = page.locator(".home .group h2")
    expect(areas).to_have_text(["client work", "open source", "Other"])
    broken = page.locator(".home-row", has_text="Pgpeek")
    expect(broken).to_contain_text(re.compile("project.yaml, line 2"))
    expect(broken.get_by_role("img", name="Its file cannot be read")).to_be_visible()
    busy = page.locator(".home-row", has_text="Ledgerline")
    expect(busy.get_by_role("img", name="Asks: needs you")).to_be_visible()
    expect(busy).to_contain_text("1 running")
    now = page.get_by_role("complementary", name="Now")
    expect(now.get_by_role("link", name="nightly")).to_have_count(2)
    expect(now).to_contain_text("nope.txt")
    expect(now.get_by_role("link", name="VAT")).to_be_visible()
    expect(now).to_contain_text("Marl · at 03:00, every day")


def test_failures_are_put_away_as_seen_and_stay_so(page: Page) -> None:
    page.goto("/")
    failed = page.get_by_role("heading", name="Failed since yesterday")
    expect(failed).to_be_visible()

    page.get_by_role("button", name="Seen").click()

    expect(failed).to_be_hidden()
    page.reload()
    expect(page.get_by_role("heading", name="Running now")).to_be_visible()
    expect(failed).to_be_hidden()


def test_projects_of_other_machines_stand_below_with_where_they_live(page: Page) -> None:
    def with_others(route: Route) -> None:
        answer = route.fetch()
        away = {"url": "http://beta.example:8000", "node": "beta"}
        others = [
            {"slug": "tide", "name": "Tide tables", "alive": True, **away},
            {"slug": "reef", "name": "Reef", "alive": False, **away, "url": None},
        ]
        route.fulfill(response=answer, json=answer.json() | {"elsewhere": others})

    page.route("**/api/now", with_others)
    page.goto("/")
    away = page.get_by_role("region", name="On other machines")

    there = away.get_by_role("link", name="Tide tables")
    expect(there).to_have_attribute("href", "http://beta.example:8000/projects/tide")
    expect(away.get_by_role("listitem").nth(1)).to_contain_text("gone")
    expect(away.get_by_role("img", name="Its machine is gone")).to_be_visible()


@pytest.mark.slow
def test_projects_are_filtered_by_state_and_by_words_and_the_address_keeps_it(page: Page) -> None:
    page.goto("/")
    rows = page.locator(".home a.over")
    expect(rows).to_have_count(6)

    page.get_by_role("button", name=re.compile("^Paused")).click()
    expect(rows).to_have_text(["Brightwater"])
    page.get_by_role("button", name=re.compile("^Archived")).click()
    expect(rows).to_have_text(["Old shop"])
    page.get_by_role("button", name=re.compile("^Running")).click()
    expect(rows).to_have_text(["Ledgerline"])
    page.reload()
    expect(rows).to_have_text(["Ledgerline"])

    page.get_by_role("button", name=re.compile(r"^All \d")).click()
    page.locator("body").press("/")
    page.keyboard.type("client")
    expect(rows).to_have_text(["Brightwater", "Kestrel", "Ledgerline"])
    page.keyboard.press("ArrowDown")
    expect(rows.first).to_be_focused()
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    page.locator("body").press("/")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("zebra")
    expect(page.get_by_text("No project here is called “zebra”.")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(rows).to_have_count(6)


@pytest.mark.slow
def test_all_triggers_are_paused_and_undone_and_every_list_says_so(
    page: Page, shared_service: Service
) -> None:
    page.goto("/")
    marl = page.locator(".home-row", has_text="Marl")
    expect(marl).to_contain_text("in ")
    page.get_by_role("button", name="Pause all triggers").click()

    expect(page.get_by_text("All triggers are paused, since")).to_be_visible()
    expect(page.get_by_role("button", name="Resume all")).to_be_focused()
    expect(marl).to_contain_text("paused")
    expect(page.locator(".pagehead p")).to_contain_text("No trigger fires: all are paused.")
    expect(page.get_by_role("heading", name="Fires next")).to_be_hidden()
    assert shared_service.http.get("/api/pause").json()["paused"]

    page.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_role("button", name="Pause all triggers")).to_be_visible()
    expect(page.get_by_role("heading", name="Fires next")).to_be_visible()
    assert shared_service.http.get("/api/pause").json()["paused"] is None

    page.locator("body").press("p")
    expect(page.get_by_role("button", name="Resume all")).to_be_visible()
    page.locator("body").press("p")
    expect(page.get_by_role("button", name="Pause all triggers")).to_be_visible()


def test_a_project_is_made_by_keys_with_errors_at_their_field(
    page: Page, watch: Watch, shared_service: Service, tmp_path: Path
) -> None:
    watch.meant.extend(["409", "400"])
    page.goto("/")
    expect(page.locator(".home a.over")).to_have_count(6)

    page.locator("body").press("n")
    name = page.get_by_role("textbox", name="Name")
    expect(name).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("A project needs a name.")).to_be_visible()
    page.keyboard.type("Marl")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Project already exists: marl")).to_be_visible()
    expect(name).to_be_focused()
    expect(name).to_have_attribute("aria-invalid", "true")

    short = page.get_by_role("textbox", name="Short name")
    expect(short).to_be_hidden()
    name.fill("项目")
    page.keyboard.press("Enter")
    expect(page.get_by_text("give a short name")).to_be_visible()
    expect(short).to_be_focused()
    short.fill("marl")
    page.keyboard.press("Enter")
    expect(page.locator("#np-slug-why")).to_contain_text("Project already exists: marl")
    page.get_by_role("button", name="Cancel").click()
    page.locator("body").press("n")

    repo = page.get_by_role("textbox", name="Work on a copy of")
    repo.fill("ext::sh -c true")
    name.fill("Cloned")
    page.reload()
    expect(page.locator(".home a.over")).to_have_count(6)
    page.locator("body").press("n")
    expect(name).to_have_value("Cloned")
    page.keyboard.press("Enter")
    expect(page.locator("#np-repo-why")).to_contain_text("this transport is not allowed")
    expect(repo).to_be_focused()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        repo.fill(f"http://127.0.0.1:{silent.getsockname()[1]}/notes.git")
        page.get_by_role("button", name="Create project").click()
        expect(page.get_by_role("status").filter(has_text="Cloning… 2")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("The clone was stopped; nothing of it was kept.")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()

    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.com", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "First"]):
        subprocess.run([*git, *command], check=True)
    repo.fill(str(tmp_path))
    name.fill("")
    expect(name).to_have_attribute("placeholder", tmp_path.name)
    name.fill("Cloned")
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", name="Cloned", exact=True)).to_be_visible()
    made = shared_service.http.get("/api/projects/cloned").json()["project"]
    assert made["repoBacked"]


def test_a_new_project_waits_while_somebody_is_in_the_list(
    page: Page, shared_service: Service
) -> None:
    page.goto("/")
    first = page.locator(".home a.over").first
    first.focus()
    before = page.locator(".home a.over").all_text_contents()

    shared_service.http.post("/api/projects", json={"name": "Aardvark", "group": "Client work"})

    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    assert page.locator(".home a.over").all_text_contents() == before
    page.get_by_role("button", name="1 new").click()
    expect(page.get_by_role("link", name="Aardvark")).to_be_visible()
