"""A folder of one's own: opened by its path, put under review, deleted and taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.review.repos import Repo
from tests.service import Service


@pytest.fixture
def shared_service(service: Service) -> Service:
    """Nothing is there yet: the page's service is one of its own."""
    return service


def listing(folder: Path) -> dict[str, bytes | None]:
    """Every name in it, with its bytes; what git itself writes down when it is read is left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def test_a_folder_becomes_a_project_goes_under_review_and_comes_back_from_the_trash(
    page: Page, watch: Watch, shared_service: Service, tmp_path: Path
) -> None:
    watch.meant.extend(["409", "400"])
    code = tmp_path / "code"
    for name in ("notes", "nothing", ".hidden"):
        (code / name).mkdir(parents=True)
    repo = Repo(code / "notes" / "tides")
    repo.commit({"a.txt": "one\n"}, "Begin")
    before = listing(code)
    page.goto("/")

    _opens(page, code)
    _reviews(page)
    _deletes_and_undoes(page)

    assert listing(code) == before
    project = shared_service.http.get("/api/projects/tides").json()["project"]
    assert project["workingDir"] == str(code / "notes" / "tides")


@pytest.mark.slow
def test_a_folder_that_is_gone_is_named_on_home_and_with_its_path_on_the_page(
    page: Page, shared_service: Service, tmp_path: Path
) -> None:
    folder = tmp_path / ("tides" * 20)
    folder.mkdir()
    made = {"name": "Tides", "path": str(folder)}
    shared_service.http.post("/api/projects", json=made).raise_for_status()
    folder.rmdir()
    page.goto("/")
    expect(page.get_by_text("Its folder is not there: bring it back")).to_be_visible()
    expect(page.get_by_role("img", name="Its folder cannot be used")).to_be_visible()

    page.get_by_role("link", name="Tides", exact=True).click()
    expect(page.get_by_text(f"{folder} is not there: bring it back")).to_be_visible()
    expect(page.locator(".banner")).to_have_count(1)
    told = page.get_by_role("complementary").get_by_text(str(folder))
    assert told.evaluate("({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth")
    page.get_by_role("link", name="Name another").click()
    expect(page.get_by_label("Works in a folder of yours")).to_have_value(str(folder))


def _opens(page: Page, code: Path) -> None:
    page.get_by_role("button", name="Open a folder").click()
    path = page.get_by_role("combobox", name="Path of the folder")
    expect(path).to_be_focused()
    path.fill(f"{code}/no")
    expect(page.get_by_role("option")).to_have_text([f"{code}/notes", f"{code}/nothing"])

    page.keyboard.press("Tab")
    expect(path).to_have_value(f"{code}/notes/")
    expect(page.get_by_role("option")).to_have_count(2)
    path.fill("/")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("the root of the disk")
    path.fill("/proc")
    expect(page.get_by_role("option")).to_have_text(["/proc"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("belongs to the system")
    path.fill(f"{code}/notes/ti")
    expect(page.get_by_role("option")).to_have_text([re.compile(r"tides\s*git")])
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="tides", exact=True)).to_be_visible()
    expect(page.get_by_text(f"{code}/notes/tides")).to_be_visible()


def _reviews(page: Page) -> None:
    page.get_by_role("button", name="Review its commits and changes").click()
    expect(page).to_have_url(re.compile(r"/review/p/tides$"))
    expect(page.get_by_text("Begin")).to_be_visible()
    page.goto("/projects/tides")
    expect(page.get_by_role("button", name="Review its commits and changes")).to_be_hidden()
    expect(page.get_by_role("link", name="tides", exact=True).last).to_be_visible()


def _deletes_and_undoes(page: Page) -> None:
    page.get_by_role("link", name="Settings").first.click()
    page.get_by_role("button", name="Delete project").click()
    page.get_by_role("button", name="Delete", exact=True).click()

    expect(page.get_by_text("tides is deleted.")).to_be_visible()
    expect(page.get_by_text("Deleted projects")).to_be_visible()
    page.get_by_role("button", name="Undo").click()

    expect(page.get_by_text("tides is back.")).to_be_visible()
    expect(page.get_by_role("link", name="tides")).to_be_visible()
    expect(page.get_by_text("Deleted projects")).to_be_hidden()
