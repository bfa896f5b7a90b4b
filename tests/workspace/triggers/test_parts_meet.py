"""A person writes in a review and an agent answers with a commit: each fires once, and no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.review.repos import Repo
from tests.service import Service, until

ANSWER = """#!runbook
```Bash name=commit
git -c user.name=bot -c user.email=bot@localhost commit -q --allow-empty -m "Answered"
```
```mcp__svc_review__reply
{"thread": "{{event.thread}}", "body": "Done."}
```
"""
SEEN = "#!runbook\n```Bash\necho seen\n```\n{{event.branch}} moved\n"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Service, Repo]]:
    """A service with a project that works in a repository under review."""
    repo = Repo(tmp_path / "api")
    repo.commit({"a.py": "1\n"}, "One")
    repo.branch("feature")
    repo.commit({"a.py": "2\n"}, "Two")
    with Service(tmp_path / "service") as service:
        folder = service.projects / "pay"
        folder.mkdir(parents=True)
        listed = f"repos: [{{name: api, path: {repo.path}, range: main..feature}}]\n"
        (folder / "project.yaml").write_text(f"name: Pay\npath: {repo.path}\n{listed}")
        until(lambda: service.http.get("/api/projects/pay").status_code == 200)
        until(lambda: service.http.get("/review/api/projects/pay").status_code == 200)
        yield service, repo


def put(service: Service, name: str, on: str, prompt: str, tools: list[str]) -> None:
    body = {
        "trigger": {"type": "event", "on": on},
        "run": {"prompt": prompt, "tools": tools, "debounce": "1s"},
        "enabled": True,
    }
    answer = service.http.put(f"/api/projects/pay/triggers/{name}", json=body)
    assert answer.status_code in (200, 201), answer.text


def runs(service: Service, name: str) -> list[tuple[str, str | None]]:
    found = service.http.get("/api/runs", params={"trigger": name}).json()["runs"]
    return [(run["status"], run["reason"]) for run in reversed(found)]


def over(service: Service, name: str) -> Any:
    """The runs of a trigger, once one has ended."""
    seen: list[tuple[str, str | None]] = []

    def ended() -> bool:
        seen[:] = runs(service, name)
        return any(status in ("completed", "failed") for status, _ in seen)

    until(ended, seconds=60, what=f"{name} has run: {seen}")
    return seen


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_a_comment_is_answered_by_a_commit_and_neither_answers_itself(
    served: tuple[Service, Repo],
):
    service, repo = served
    put(service, "answer", "onThread", ANSWER, ["Bash", "mcp__svc_review__*"])
    put(service, "follow", "onCommits", SEEN, ["Bash"])
    put(service, "again", "onCommits", ANSWER.partition("```mcp")[0], ["Bash"])
    commits = "/review/api/projects/pay/repos/api/commits"
    sha = repo.git("rev-parse", "HEAD").strip()

    made = service.http.post(f"{commits}/{sha}/threads", json={"body": "Why 2?", "path": "a.py"})
    assert made.status_code == 201, made.text

    assert over(service, "answer") == [("completed", None)]
    assert over(service, "follow")[0] == ("completed", None)
    over(service, "again")
    until(
        lambda: ("skipped", "event loop") in runs(service, "again"),
        seconds=30,
        what="the commit of its own turn is skipped",
    )
    thread = service.http.get(f"{commits}/{sha}/review").json()["threads"][0]
    assert [one["body"] for one in thread["comments"]] == ["Why 2?", "Done."]
    assert thread["comments"][1]["author"].startswith("agent:")
    assert runs(service, "answer") == [("completed", None)]
    assert json.dumps(runs(service, "again")).count("completed") == 1
