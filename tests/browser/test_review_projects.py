"""The list of projects under review: first steps, filter, opening a repository, broken files."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.toasts import undo
from tests.review.places import put
from tests.review.repos import Repo
from tests.service import Service, until

ONE = "repos: [{path: ~/code/api, name: api, range: {base: null, head: main}}]\n"


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """With one repository, `~/code/api`, and no project."""
    with Service(tmp_path_factory.mktemp("projects"), scheduler=False) as running:
        Repo(running.home / "code" / "api").commit({"a.py": "1\n"}, "Start")
        yield running


def project(service: Service, slug: str, text: str) -> None:
    put(service.projects / slug / "project.yaml", text.encode())
    until(lambda: slug in slugs(service), what=f"{slug} is listed")


def slugs(service: Service) -> dict[str, int]:
    listed = service.http.get("/review/api/projects").json()["projects"]
    return {one["slug"]: one["repoCount"] for one in listed}


def section(page: Page, name: str) -> Locator:
    return page.locator(f"section[aria-label='{name}'], details:has(h2:text-is('{name}'))")


def test_a_newcomer_adds_the_examples_with_one_click_and_puts_them_away(
    page: Page, shared_service: Service, axe: str, watch: Watch
) -> None:
    watch.meant.append("asked another host: http://localhost:")  # as the rail names the main port
    page.goto(f"http://127.0.0.1:{shared_service.ports['review']}/")
    expect(page.get_by_role("heading", name="See a stack before you make one")).to_be_visible()
    page.evaluate(axe)
    assert page.evaluate("axe.run()")["violations"] == []
    page.get_by_role("button", name="open one of your repositories").click()
    page.get_by_role("button", name="Go there").click()
    expect(page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Add the examples").click()
    listed = section(page, "Under review").get_by_role("link")
    expect(listed).to_have_count(2)
    expect(page.get_by_role("heading", name="See a stack before you make one")).to_be_hidden()

    page.get_by_role("button", name="Open a repository").click()
    expect(page.get_by_role("button", name="Go there")).to_be_visible()

    page.get_by_role("button", name="Examples").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 example projects put away")).to_be_visible()
    expect(listed).to_have_count(0)
    undo(page, "put away")

    expect(listed).to_have_count(2)
    assert shared_service.http.get("/review/api/projects").json()["examples"] == "present"


def test_a_repository_is_opened_and_errors_stand_at_their_field(
    page: Page, shared_service: Service, watch: Watch
) -> None:
    watch.meant.append("400")
    file = shared_service.projects / "billing" / "project.yaml"
    project(shared_service, "billing", "name: Billing\n")
    page.goto("/review/")
    section(page, "Not open for review").locator("summary").click()
    page.get_by_role("button", name="Open Billing for review").click()
    form = page.get_by_role("form", name="Open a repository in billing")
    path, span = form.get_by_label("Folder of the repository"), form.get_by_label("Commits")
    expect(path).to_be_focused()

    path.fill("~/nothing")
    page.keyboard.press("Enter")
    expect(path).to_be_focused()
    expect(path).to_have_accessible_description("Not a git repository: ~/nothing")
    path.fill("~/code/api")
    span.fill("main..nowhere")
    page.keyboard.press("Enter")
    expect(span).to_have_accessible_description("Unknown revision: nowhere")
    expect(path).not_to_have_attribute("aria-invalid", "")
    assert file.read_text() == "name: Billing\n"
    span.fill("main")
    form.get_by_role("button", name="Open for review").click()

    expect(section(page, "Under review").get_by_role("link", name="Billing")).to_be_visible()
    assert 'path: "~/code/api"' in file.read_text()


def test_the_list_is_filtered_and_walked_by_keyboard(page: Page, shared_service: Service) -> None:
    project(shared_service, "ledger", "title: Ledger\n" + ONE)
    project(shared_service, "import", "title: Old import\narchived: true\n" + ONE)
    page.goto("/review/")
    ledger = page.get_by_role("link", name="Ledger")
    expect(ledger).to_be_visible()
    expect(page.get_by_role("link", name="Old import")).to_be_hidden()

    page.keyboard.press("/")
    page.keyboard.type("OLD imp")
    expect(page.get_by_role("link", name="Old import")).to_be_visible()
    expect(ledger).to_be_hidden()
    page.keyboard.press("Escape")
    expect(ledger).to_be_visible()
    page.keyboard.press("J")
    expect(page.locator(".over").first).to_be_focused()
    page.keyboard.press("J")
    page.keyboard.press("K")
    first = page.locator(".over").first
    expect(first).to_be_focused()
    place = str(first.get_attribute("href"))
    page.keyboard.press("Enter")

    page.wait_for_url(f"**{place}")


@pytest.mark.slow
def test_a_broken_project_says_where_and_keeps_the_last_good_view(
    page: Page, shared_service: Service
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    project(shared_service, "export", "title: Export\n" + ONE)
    page.goto("/review/")
    expect(page.get_by_role("link", name="Export")).to_be_visible()
    file = shared_service.projects / "export" / "project.yaml"

    file.write_text("title: Export\nrepos: [\n")

    row = page.locator("li", has=page.get_by_role("link", name="Export"))
    expect(row.get_by_role("alert")).to_contain_text(
        re.compile("export/project.yaml, line 3, column 1: ")
    )
    expect(row).to_contain_text("1 commit")
    row.get_by_role("button", name="Copy path").click()
    expect(page.get_by_text("Path copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == str(file)
    row.get_by_role("link", name="Export").click()
    expect(page.get_by_role("alert")).to_contain_text("line 3, column 1: ")
    expect(page.get_by_role("link", name="Start", exact=True)).to_be_visible()
    file.write_text("title: Export again\n" + ONE)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("heading", name="Export again")).to_be_visible()


def test_a_new_project_waits_while_someone_reads_the_list(
    page: Page, shared_service: Service
) -> None:
    project(shared_service, "first", "title: First\n" + ONE)
    page.goto("/review/")
    page.get_by_role("link", name="First").focus()

    project(shared_service, "second", "title: Second\n" + ONE)

    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    expect(page.get_by_role("link", name="Second")).to_be_hidden()
    expect(page.get_by_role("link", name="First")).to_be_focused()
    page.get_by_role("button", name="1 new").click()
    expect(page.get_by_role("link", name="Second")).to_be_visible()
