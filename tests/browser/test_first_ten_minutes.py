"""The first ten minutes of somebody who has a repository, a CLAUDE.md, MCP servers and sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_chat import start
from tests.review.repos import Repo
from tests.service import Service
from tests.stubs.openai import Stub, text, use
from tests.workspace.chats.sessions import kept
from tests.workspace.engines.tool_servers import NOTE, brought


@pytest.fixture
def shared_service(tmp_path: Path, stub: Stub) -> Iterator[Service]:
    """Nothing is there yet but a model: the page's service is one of its own."""
    with Service(tmp_path / "service", env={"SVC_LOCAL_MODEL_URL": stub.url}) as service:
        yield service


@pytest.fixture
def repo(tmp_path: Path, shared_service: Service) -> Repo:
    """What a person brings along."""
    repo = Repo(tmp_path / "code" / "tides")
    server = {"command": "python3", "args": [brought(repo.path)]}
    repo.commit(
        {
            "CLAUDE.md": "Always say mango.\n",
            ".mcp.json": json.dumps({"mcpServers": {"mine": server}}),
            "greet.py": "print('hello')\n",
        },
        "Begin",
    )
    kept.keep(shared_service.home / ".claude" / "projects", repo.path, "2.1.330")
    return repo


@pytest.mark.slow
def test_a_repository_of_ones_own_is_at_home_in_ten_minutes(
    page: Page, shared_service: Service, repo: Repo, stub: Stub
) -> None:
    page.goto("/")
    page.get_by_role("button", name="Open a folder").click()
    page.get_by_role("option", name=re.compile("tides")).click()
    expect(page.get_by_role("heading", name="tides", exact=True)).to_be_visible()
    expect(page.get_by_text("Sessions of Claude Code")).to_be_visible()
    assert repo.git("status", "--porcelain") == ""

    page.goto("/projects/tides/settings")
    page.locator("#servers").get_by_role("button", name="Use these servers").click()
    expect(page.locator("#servers").get_by_text("used, .mcp.json")).to_be_visible()

    _works(page, repo, stub)
    _takes_it_back(page, repo)
    _goes_on_with_a_session(page)


def _works(page: Page, repo: Repo, stub: Stub) -> None:
    stub.say(use(NOTE, {"text": "x"}))
    stub.say(use("Write", {"file_path": str(repo.path / "greet.py"), "content": "print('hi')\n"}))
    stub.say(text("Greets shorter."), input_tokens=900, output_tokens=20)
    start(page, "tides", "Greet shorter")
    page.get_by_role("button", name=re.compile("^Allow once")).click()

    expect(page.get_by_text("Greets shorter.")).to_be_visible()
    expect(page.get_by_role("complementary").get_by_text("CLAUDE.md")).to_be_visible()
    assert "Always say mango." in stub.asked[0].system
    assert (repo.path / "greet.py").read_text() == "print('hi')\n"


def _takes_it_back(page: Page, repo: Repo) -> None:
    edits = page.locator(".turn-edits")
    edits.locator("summary").click()
    edits.get_by_role("button", name="Undo edits").click()

    expect(edits.get_by_role("button", name="Redo edits")).to_be_visible()
    assert (repo.path / "greet.py").read_text() == "print('hello')\n"


def _goes_on_with_a_session(page: Page) -> None:
    page.goto("/projects/tides")
    page.get_by_text("Sessions of Claude Code").click()
    page.get_by_role("button", name=re.compile("^Continue .* here")).click()

    expect(page.get_by_text("Begun in Claude Code 2.1.330")).to_be_visible()
    expect(page.get_by_text("The file says hello.")).to_be_visible()
