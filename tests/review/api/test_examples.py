"""Example projects over HTTP: added, removed, brought back, with an event."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.review.api.served import Served
from tests.service import Service

BOTH = ["example-payments", "example-search"]
NONE: dict[str, list[str]] = {"created": [], "restored": [], "existing": [], "removed": []}


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Served]:
    """A service without any project."""
    with Service(tmp_path, scheduler=False) as service:
        made = Served(service)
        yield made
        made.close()


def test_a_life_of_the_examples(alone: Served):
    api = alone.api

    def state() -> str:
        return str(api.get("/api/projects").json()["examples"])

    assert state() == "none"
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: api.post("/api/examples"), range(2))
    assert one.json() == NONE | {"created": BOTH}
    assert other.json() in (NONE | {"created": BOTH}, NONE | {"existing": BOTH})
    assert one.status_code == 201
    assert state() == "present"

    again = api.post("/api/examples")
    assert (again.status_code, again.json()) == (200, NONE | {"existing": BOTH})

    (repo, *_) = api.get("/api/projects/example-payments").json()["repos"]
    commit = (
        f"/api/projects/example-payments/repos/{repo['name']}/commits/{repo['commits'][0]['sha']}"
    )
    thread = api.post(f"{commit}/threads", {"body": "kept"}).json()
    removed = api.post("/api/examples/remove")
    assert (removed.status_code, removed.json()) == (200, NONE | {"removed": BOTH})
    assert state() == "removed"
    assert api.get("/api/projects/example-payments").status_code == 404

    back = api.post("/api/examples")
    assert (back.status_code, back.json()) == (200, NONE | {"restored": BOTH})
    shown = api.get(f"{commit}/review").json()
    assert thread["id"] in [one["id"] for one in shown["threads"]]


@pytest.mark.slow
def test_every_route_of_every_example_commit_answers(alone: Served):
    api = alone.api
    api.post("/api/examples")

    for slug in BOTH:
        for repo in api.get(f"/api/projects/{slug}").json()["repos"]:
            assert repo["errors"] == []
            for commit in repo["commits"]:
                path = f"/api/projects/{slug}/repos/{repo['name']}/commits/{commit['sha']}"
                for below in ("", "?contents=none", "?contents=1", "/review?html=1", "/pr",
                              "/threads.md", "/stack.svg?scope=stack", "/stack.png"):  # fmt: skip
                    assert api.get(path + below).status_code == 200, path + below


@pytest.mark.slow
def test_a_project_of_that_name_is_in_the_way(alone: Served):
    folder = alone.service.projects / "example-search"
    folder.mkdir(parents=True)
    (folder / "project.yaml").write_text("title: Mine\n")

    answer = alone.api.post("/api/examples")

    text = 'A project named "example-search" already exists and is not an example'
    assert (answer.status_code, answer.json()) == (409, {"error": text, "code": "exists"})
    assert (folder / "project.yaml").read_text() == "title: Mine\n"
    assert not (folder.parent / "example-payments" / "project.yaml").exists()
