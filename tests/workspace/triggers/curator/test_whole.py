"""The curator in a running service: a real engine, a real queue, a real pass."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from tests.service import Service, until
from tests.stubs import openai
from tests.stubs.openai import text

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        not util.find_spec("pydantic_ai"),
        reason="the builtin engine is not installed (make engine-models)",
    ),
]
CHATS = "/api/projects/alpha/chats"
ANSWER = (
    "<overview>\n# Alpha\nA parser.\n</overview>\n<changelog>\n- It parses numbers.\n</changelog>"
)


@pytest.fixture
def alpha(tmp_path: Path) -> Iterator[tuple[Service, openai.Stub]]:
    with openai.serve() as stub:
        stub.models = ["plum"]
        env = {"SVC_LOCAL_MODEL_URL": stub.url, "SVC_CURATION_ENABLED": "on"}
        with Service(tmp_path / "service", env=env) as service:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            yield service, stub


def ended_passes(service: Service) -> list[dict[str, Any]]:
    runs = service.http.get("/api/runs").json()["runs"]
    return [run for run in runs if run["kind"] == "curation" and run["finishedAt"]]


@pytest.mark.slow
def test_a_turn_of_a_person_is_followed_by_a_pass_that_writes_both_documents(alpha):
    service, stub = alpha
    stub.say(text("The parser reads numbers now."))
    stub.say(text(ANSWER))

    service.http.post(CHATS, json={"prompt": "Teach it numbers"}).raise_for_status()
    (run,) = until(lambda: ended_passes(service), seconds=60, what="the end of the pass")

    assert (run["status"], run["reason"], run["trigger"]) == ("completed", None, None)
    assert (run["engine"], run["model"]) == ("builtin", "local:plum")
    assert run["usage"]["totalTokens"] > 0
    asked = stub.asked[-1]
    assert asked.tools == []
    assert "asked: Teach it numbers" in asked.messages[-1][1]
    assert "answered: The parser reads numbers now." in asked.messages[-1][1]
    project = service.http.get("/api/projects/alpha").json()
    assert (service.projects / "alpha" / "OVERVIEW.md").read_text() == "# Alpha\nA parser.\n"
    changelog = (service.projects / "alpha" / "CHANGELOG.md").read_text()
    assert changelog.endswith("- It parses numbers.\n")
    assert project["project"]["hasOverview"] is True
    assert service.http.get(f"{CHATS}/{run['sessionId']}").json()["chat"]["archived"] is True
