"""What a turn changed stands under it, is taken back with one press and given again with one."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_chat import start
from tests.service import Service

WRITES = "#!runbook\n```Write file_path=notes.txt\nturn\n```\n```Write file_path=more.txt\nx\n```\n"


@pytest.fixture
def slug(shared_service: Service) -> str:
    shared_service.http.post("/api/projects", json={"name": "Edits"})
    return "edits"


def test_a_turns_edits_are_undone_and_given_again_and_a_changed_file_is_left_alone(
    page: Page, slug: str, shared_service: Service
) -> None:
    folder = shared_service.projects / slug
    start(page, slug, WRITES)
    edits = page.locator(".turn-edits")
    expect(edits.locator("summary")).to_have_text("2 files changed")
    edits.locator("summary").click()
    expect(edits.locator("li")).to_have_text([re.compile("more.txt"), re.compile("notes.txt")])
    (folder / "more.txt").write_text("mine\n")

    edits.get_by_role("button", name="Undo edits").click()

    expect(edits.get_by_label("Files left alone")).to_contain_text("more.txt")
    expect(edits.get_by_role("button", name="Redo edits")).to_be_visible()
    assert not (folder / "notes.txt").exists()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(edits.get_by_role("button", name="Undo edits")).to_be_visible()
    assert (folder / "notes.txt").read_text() == "turn\n"
    assert (folder / "more.txt").read_text() == "mine\n"
