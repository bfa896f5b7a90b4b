"""Asking an agent over REST, on the main port and on review's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml
from django.test import RequestFactory
from rest_framework.request import Request

from config.errors import Denied
from config.web import asking as agents
from config.web import surfaces
from tests.review.repos import Repo
from tests.service import Service, until


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("asking")) as running:
        yield running


@pytest.fixture
def asked(service: Service, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """(the address of the project below the part, a commit, a thread on it)."""
    slug = f"pay-{abs(hash(request.node.name)) % 10**6}"
    repo = Repo(tmp_path / slug)
    repo.commit({"a.py": "1\n"}, "Begin")
    repo.git("checkout", "-q", "-b", "work")
    sha = repo.commit({"a.py": "2\n"}, "Two")
    home = service.projects / slug
    home.mkdir()
    entry = {"name": "api", "path": str(repo.path), "range": "main..work"}
    (home / "project.yaml").write_text(yaml.safe_dump({"title": "Pay", "repos": [entry]}))
    project = f"/api/projects/{slug}"
    threads = f"/review{project}/repos/api/commits/{sha}/threads"
    until(lambda: service.http.get(f"/review{project}").status_code == 200, what=slug)
    body = {"body": "Three.", "path": "a.py", "side": "RIGHT", "line": 1}
    made = service.http.post(threads, json=body).raise_for_status().json()
    return project, sha, made["id"]


def states(service: Service, project: str) -> list[str]:
    found = service.http.get(f"/review{project}/threads").json()["threads"]
    return [one["state"] for one in found]


def chats(service: Service, slug: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.http.get(f"/api/projects/{slug}/chats").json()["chats"]
    return found


def test_from_reviews_own_port_a_project_is_made_and_then_the_chat_goes_on(
    service: Service, asked: tuple[str, str, str]
):
    project, sha, tid = asked
    with httpx.Client(base_url=service.review_url) as own:
        offer = own.get(f"{project}/ask", params={"repo": "api", "sha": sha}).json()
        none = own.post(f"{project}/ask", json={})
        made = own.post(f"{project}/ask", json={"make": True, "message": "Do it."})
        again = own.post(f"{project}/ask", json={"threads": [tid]})

    assert offer["desks"] == []
    assert f"### `{tid}` · a.py:1" in offer["message"]
    assert (none.status_code, none.json()["code"]) == (409, "no_project")
    assert made.status_code == 201, made.text
    sent, second = made.json(), again.json()
    page = f"/projects/{sent['project']}/chats/{sent['chat']}"
    assert sent["url"].endswith(page)
    assert sent["url"].startswith("http://localhost:")
    assert second["chat"] == sent["chat"]
    assert states(service, project) == ["asked"]
    (chat,) = chats(service, sent["project"])
    assert chat["name"] == "Review: Two"
    made_of = yaml.safe_load((service.projects / sent["project"] / "project.yaml").read_text())
    assert made_of["path"] == offer["folder"]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"threads": "t-1"}, 400, '"threads" must be a list of ids'),
        ({"stack": "1"}, 400, '"stack" must be a whole number'),
        ({"message": 1}, 400, '"message" must be text'),
        ({"chat": "c"}, 400, '"project" is required with "chat"'),
        ({"make": "yes"}, 400, '"make" must be true or false'),
        ({"sha": "abcd"}, 400, '"repo" is required with "sha" and "stack"'),
        ({"repo": "api", "stack": 9}, 404, "No such stack: 9"),
        ({"threads": ["t-x"]}, 404, "No such thread: t-x"),
        ({"project": "nope"}, 404, "Project not found: nope"),
        ({"make": True, "message": " "}, 400, "prompt: must be 1 to 100000 characters"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_name_and_nothing_is_noted(
    service: Service, asked: tuple[str, str, str], body: dict[str, Any], status: int, said: str
):
    project, _, _ = asked

    answer = service.http.post(f"/review{project}/ask", json=body)

    assert answer.status_code == status
    assert answer.json()["error"].startswith(said)
    assert states(service, project) == ["open"]


@pytest.mark.parametrize(("mode", "port"), [("jwt", 1), ("none", 1), ("jwt", 2)])
def test_where_people_sign_in_reviews_own_port_asks_nobody(
    db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, mode: str, port: int
):
    monkeypatch.setattr(surfaces, "_ports", {"main": 1, "review": 2})
    settings.SVC = SimpleNamespace(auth_mode=mode)
    settings.SVC_CHATS = "tests.review.api.test_asking"
    request = RequestFactory().get("/", headers={"host": "localhost"})
    request.scope = {"server": ("127.0.0.1", port)}  # type: ignore[attr-defined]

    if port == 2:
        with pytest.raises(Denied, match="sign in on the main port"):
            agents.desks(Request(request), [])
    else:
        assert agents.desks(Request(request), []) == []


def desks(_folders: Any) -> list[Any]:
    """Stands for the module of SVC_CHATS."""
    return []
