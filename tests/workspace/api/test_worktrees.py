"""A chat's worktree over REST: made, shown, brought over, put away, and each refusal as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.review.repos import Repo
from workspace import palette


@pytest.fixture
def repo(api, alpha: Path, settings, tmp_path: Path) -> Repo:
    settings.DATA_DIR = tmp_path / "data"
    repo = Repo(tmp_path / "shop")
    repo.commit({"a.txt": "one\n"}, "First")
    assert api.patch("/api/projects/alpha", {"path": str(repo.path)}).status_code == 200
    return repo


def made(api: Any, name: str = "Fix it") -> tuple[str, dict[str, Any]]:
    body = {"name": name, "worktree": True}
    chat = api.post("/api/projects/alpha/chats", body).json()["chat"]
    return f"/api/projects/alpha/chats/{chat['sessionId']}", chat


def test_a_chat_says_its_branch_and_how_that_stands(api, repo: Repo):
    route, chat = made(api)

    assert chat["worktree"]["branch"] == "svc/fix-it"
    answer = api.get(f"{route}/worktree").json()
    assert answer == {
        "review": "/review/p/alpha",
        "worktree": {
            "branch": "svc/fix-it", "directory": chat["worktree"]["directory"], "target": "main",
            "ahead": 0, "behind": 0, "changed": [], "problem": None, "gone": False,
        },
    }  # fmt: skip
    plain = api.post("/api/projects/alpha/chats", {"name": "Plain"}).json()["chat"]
    assert plain["worktree"] is None
    none = api.get(f"/api/projects/alpha/chats/{plain['sessionId']}/worktree")
    assert (none.status_code, none.json()["code"]) == (409, "no_worktree")


def test_it_is_brought_over_and_what_is_in_the_way_is_named(api, repo: Repo):
    route, chat = made(api)
    top = Path(chat["worktree"]["directory"])
    (top / "a.txt").write_text("agent\n")
    (repo.path / "a.txt").write_text("mine\n")

    refused = api.post(f"{route}/worktree/bring", {"commit": "Work"})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_brought")
    assert refused.json()["files"] == ["a.txt"]
    repo.git("checkout", "--", "a.txt")
    done = api.post(f"{route}/worktree/bring", {"commit": "Work", "how": "rebase"})

    assert done.status_code == 200
    assert done.json()["brought"]["commits"] == 1
    assert (repo.path / "a.txt").read_text() == "agent\n"
    wrong = api.post(f"{route}/worktree/bring", {"onto": "nowhere"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "onto")


def test_archiving_and_deleting_say_what_became_of_it(api, repo: Repo):
    route, chat = made(api)
    gone = {"branch": "svc/fix-it", "branchDeleted": True, "kept": None}

    assert api.post(f"{route}/archive").json()["worktree"] == gone
    assert not Path(chat["worktree"]["directory"]).exists()
    assert "worktree" not in api.post(f"{route}/archive", {"archived": False}).json()
    assert Path(chat["worktree"]["directory"]).exists()
    assert api.delete(route).json()["worktree"] == gone
    assert api.post(f"{route}/restore").json()["chat"]["worktree"]["branch"] == "svc/fix-it"
    assert api.post(f"{route}/worktree").json()["worktree"]["problem"] is None


def test_a_project_without_a_repository_refuses_and_says_what_to_do(api, repo, alpha: Path):
    api.patch("/api/projects/alpha", {"path": None})

    answer = api.post("/api/projects/alpha/chats", {"name": "x", "worktree": True})

    assert (answer.status_code, answer.json()["code"]) == (409, "no_repository")
    assert "run git init there" in answer.json()["error"]


def test_an_attachment_is_named_by_its_whole_path_in_a_worktree(api, repo, alpha: Path):
    api.patch("/api/projects/alpha", {"path": None})
    Repo(alpha).commit({"a.txt": "one\n"}, "First")
    sent = api.client.generic(
        "POST", "/api/projects/alpha/attachments?name=a.md", b"text",
        content_type="application/octet-stream", **{"svc.principal": api.user},
    ).json()  # fmt: skip
    body = {"prompt": "#!runbook\nLook", "worktree": True, "attachments": [sent["path"]]}

    route = api.post("/api/projects/alpha/chats", body).json()["chat"]["sessionId"]

    (row,) = api.get(f"/api/projects/alpha/chats/{route}").json()["queue"]
    assert f"- {alpha}/{sent['path']} (text/plain" in row["prompt"]


def test_its_repository_is_under_review_and_the_chat_is_found_by_its_branch(
    api, repo: Repo, alpha: Path
):
    _, chat = made(api)

    assert "repos:\n  - name: shop\n" in (alpha / "project.yaml").read_text()
    (found,) = palette.branches("alpha")
    assert found.label == "svc/fix-it"
    assert found.path == f"/projects/alpha/chats/{chat['sessionId']}"
