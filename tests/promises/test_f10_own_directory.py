"""All that svc does for a project of one's own directory leaves no trace in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.review.repos import Repo
from tests.service import Service, until

LOOK = (
    '#!runbook\n```Grep name=lines\n{"pattern": "one"}\n```\n'
    '```Glob\n{"pattern": "**/*"}\n```\nSeen.\n'
)
P, R = "/api/projects/notes", "/review/api/projects/notes"


def traces(folder: Path) -> dict[str, tuple[object, ...]]:
    """Of every name its kind, times and bytes; the time of a folder tells of what came and went.

    git keeps the checkpoints of turns, under refs of ours.
    """
    found: dict[str, tuple[object, ...]] = {}
    git = folder / ".git"
    for path in [folder, *sorted(folder.rglob("*"))]:
        if path in (git, git / "refs") or any(path.is_relative_to(one) for one in kept_by_git(git)):
            continue
        stat = path.lstat()
        held = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        found[str(path)] = (stat.st_mode, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, held)
    return found


def kept_by_git(git: Path) -> tuple[Path, Path]:
    return git / "objects", git / "refs" / "svc"


def ask(service: Service, method: str, path: str, **given: Any) -> Any:
    answer = service.http.request(method, path, **given)
    assert answer.is_success, (path, answer.text)
    return answer.json()


@pytest.mark.promise("F10")
def test_nothing_of_ours_is_ever_written_into_the_directory(service: Service, tmp_path: Path):
    repo = Repo(tmp_path / "notes")
    repo.commit({"a.txt": "one\n"}, "Begin")
    repo.branch("work")
    sha = repo.commit({"a.txt": "one\ntwo\n"}, "Go on")
    (repo.path / "link").symlink_to("a.txt")
    os.mkfifo(repo.path / "pipe")
    before = traces(repo.path)

    ask(service, "POST", "/api/projects", json={"name": "Notes", "path": str(repo.path)})
    kept = ask(service, "POST", f"{P}/attachments?name=a.txt", content=b"seen",
               headers={"Content-Type": "application/octet-stream"})  # fmt: skip
    body = {"prompt": LOOK, "attachments": [kept["path"]]}
    _ended(service, ask(service, "POST", f"{P}/chats", json=body)["chat"]["sessionId"])
    _fires(service)
    ask(service, "POST", f"{R}/repos", json={})
    commit = f"{R}/repos/notes/commits/{sha}"
    ask(service, "GET", f"{commit}?contents=all")
    thread = {"body": "Why?", "path": "a.txt", "line": 2}
    ask(service, "POST", f"{commit}/threads", json=thread)
    ask(service, "PUT", f"{commit}/viewed", json={"path": "a.txt", "viewed": True})
    assert ask(service, "GET", f"{P}/around")["places"]
    ask(service, "DELETE", P)
    ask(service, "POST", f"{P}/restore")
    ask(service, "GET", f"{commit}?contents=all")

    assert traces(repo.path) == before
    own = service.projects / "notes"
    assert (own / ".svc/attachments" / kept["name"]).read_bytes() == b"seen"
    assert {path.name for path in own.iterdir()} >= {"project.yaml", ".chats", ".svc", "reviews"}


def _ended(service: Service, chat: str) -> None:
    def last() -> Any:
        return ask(service, "GET", f"{P}/chats/{chat}")["chat"]["lastTurn"]

    turn = until(last, seconds=30, what="the turn ended")
    assert turn["status"] == "completed", turn


def _fires(service: Service) -> None:
    """A trigger whose prompt is a file of the project."""
    folder = service.projects / "notes" / ".svc" / "triggers"
    folder.mkdir(exist_ok=True)
    (folder / "look.md").write_text(LOOK)
    body = {
        "trigger": {"type": "schedule", "interval": "1h"},
        "run": {"promptFile": "look.md", "tools": ["Grep", "Glob"]},
        "enabled": True,
    }
    ask(service, "PUT", f"{P}/triggers/look", json=body)
    run = ask(service, "POST", f"{P}/triggers/look/run", json={})["runId"]

    def over() -> Any:
        found = ask(service, "GET", f"/api/runs/{run}")["run"]
        return found if found["finishedAt"] else None

    found = until(over, seconds=30, what="the run ended")
    assert found["status"] == "completed", found
