"""The app tools of a turn in a worktree: they reach what runs there, and the project's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.review.repos import Repo
from tests.service import Service, until

FINDS = "#!runbook\n```mcp__svc_apps__find_app\n{}\n```\n"


@pytest.mark.slow
def test_a_turn_in_a_worktree_finds_its_apps_those_of_the_project_and_no_other(tmp_path: Path):
    repo = Repo(tmp_path / "till")
    repo.commit({"a.txt": "one\n"}, "First")
    (tmp_path / "shop").mkdir()
    with Service(tmp_path / "service") as service:
        http = service.http
        http.post("/api/projects", json={"name": "Till", "path": str(repo.path)})
        chats = "/api/projects/till/chats"
        made = http.post(chats, json={"name": "Mend", "prompt": FINDS, "worktree": True})
        chat = f"{chats}/{made.json()['chat']['sessionId']}"

        def found() -> list[str]:
            """What each call answered."""
            messages = http.get(f"{chat}/messages").json()["messages"]
            return [str(one["toolCall"]["output"]) for one in messages if one["role"] == "tool"]

        until(found, seconds=30, what="the worktree is made, and nothing found in it")
        tree = service.data / "worktrees" / chat.rpartition("/")[2]
        for slug, place in (("there", tree), ("own", repo.path), ("other", tmp_path / "shop")):
            app = {"name": slug, "service": {"command": "sleep 600", "cwd": str(place)}}
            http.put(f"/dashboard/api/apps/{slug}", json=app).raise_for_status()
        http.post(f"{chat}/messages", json={"prompt": FINDS}).raise_for_status()
        until(lambda: len(found()) == 2, seconds=30, what="they were looked for")
        before, after = (json.loads(one)["apps"] for one in found())

    assert before == []
    assert sorted(app["slug"] for app in after) == ["own", "there"]
