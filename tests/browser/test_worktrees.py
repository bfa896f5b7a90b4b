"""A chat is given a worktree by a box, says how its branch stands, and is brought over."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.review.repos import Repo
from tests.service import Service, until

WRITES = "#!runbook\nMend the till\n\n```Write file_path=till.txt\nmended\n```\n"

COMMITS = """#!runbook
Mend the drawer

```Bash
echo mended > drawer.txt; git add -A; git -c user.name=A -c user.email=a@b commit -qm Drawer
```
"""


def has_ended(service: Service, project: str) -> bool:
    """Whether the one chat of the project has ended a turn."""
    (chat,) = service.http.get(f"/api/projects/{project}/chats").json()["chats"]
    return bool(chat["lastTurn"])


@pytest.fixture
def repo(shared_service: Service, tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "till")
    repo.commit({"a.txt": "one\n"}, "First")
    body = {"name": "Till", "path": str(repo.path)}
    assert shared_service.http.post("/api/projects", json=body).status_code == 201
    return repo


def test_a_chat_works_in_a_worktree_of_its_own_and_is_brought_over(
    page: Page, watch: Watch, repo: Repo, shared_service: Service
) -> None:
    watch.meant.append("409")
    page.goto(f"{shared_service.url}/projects/till/chats")
    page.get_by_label("In a worktree of its own").check()
    page.get_by_label("Message", exact=True).fill(WRITES)
    page.get_by_role("button", name="Start chat").click()
    tree = page.get_by_label("Worktree", exact=True)
    expect(tree).to_contain_text("svc/mend-the-till")
    expect(tree).to_contain_text("till.txt")
    assert not (repo.path / "till.txt").exists()
    until(lambda: has_ended(shared_service, "till"), what="the turn has ended")

    tree.get_by_role("button", name="Bring it over").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Bring it over").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Not committed in the worktree: till.txt")
    dialog.get_by_label("Message for 1 file not committed").fill("Mend the till")
    dialog.get_by_role("button", name="Bring it over").click()

    expect(page.locator(".toast")).to_contain_text("1 commit of svc/mend-the-till on main.")
    expect(tree).to_contain_text("0 ahead, 0 behind")
    assert (repo.path / "till.txt").read_text() == "mended\n"


@pytest.mark.slow
def test_its_commits_are_a_stack_under_review_that_leads_back_to_the_chat(
    page: Page, shared_service: Service, tmp_path: Path
) -> None:
    Repo(tmp_path / "shop").commit({"a.txt": "one\n"}, "First")
    body = {"name": "Shop", "path": f"{tmp_path}/shop", "permissionMode": "bypassPermissions"}
    shared_service.http.post("/api/projects", json=body)
    shared_service.http.patch("/api/projects/shop", json={"permissionMode": "bypassPermissions"})
    asked = {"prompt": COMMITS, "worktree": True}
    chat = shared_service.http.post("/api/projects/shop/chats", json=asked).json()["chat"]
    page.goto(f"/projects/shop/chats/{chat['sessionId']}")
    tree = page.get_by_label("Worktree", exact=True)
    expect(tree).to_contain_text("1 ahead, 0 behind")

    tree.get_by_role("link", name="its commits").click()

    stack = page.get_by_role("region", name="svc/mend-the-drawer")
    expect(stack.get_by_role("link", name="Drawer", exact=True)).to_be_visible()
    stack.get_by_role("link", name="Chat", exact=True).click()
    expect(page.get_by_role("heading", name="Worktree")).to_be_visible()


def test_a_project_without_a_repository_does_not_offer_one(
    page: Page, shared_service: Service
) -> None:
    shared_service.http.post("/api/projects", json={"name": "Plain"})
    with page.expect_response("**/api/projects/plain"):
        page.goto(f"{shared_service.url}/projects/plain/chats")

    expect(page.get_by_role("button", name="Start chat")).to_be_visible()
    expect(page.get_by_label("In a worktree of its own")).to_be_hidden()
