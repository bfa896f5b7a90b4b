"""A rate limit as people, triggers and other programs see it: the real service waits it out."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import util
from typing import Any

import pytest

from tests.service import Service, until
from tests.stubs import openai
from tests.stubs.openai import text

ALPHA = "/api/projects/alpha"
PACKAGES = ("pydantic_ai", "openai")


@pytest.fixture(scope="module")
def stub() -> Iterator[openai.Stub]:
    if not all(util.find_spec(package) for package in PACKAGES):
        pytest.skip("the builtin engine is not installed (requirements-models.txt)")
    with openai.serve() as served:
        served.models = ["plum"]
        yield served
        assert served.unscripted == []


@pytest.fixture(scope="module")
def service(tmp_path_factory, stub: openai.Stub) -> Iterator[Service]:
    config = {"engines": {"retry": {"times": 2, "seconds": 120}}}
    env = {"SVC_LOCAL_MODEL_URL": stub.url}
    with Service(tmp_path_factory.mktemp("service"), env=env, config=config) as running:
        running.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        yield running


def refuse(stub: openai.Stub, after: int) -> None:
    stub.say(status=429, message="slow down", headers={"Retry-After": str(after)})


def chat(service: Service, chat: str) -> dict[str, Any]:
    found: dict[str, Any] = service.http.get(f"{ALPHA}/chats/{chat}").json()["chat"]
    return found


def waiting(service: Service, name: str) -> dict[str, Any]:
    """What the chat says it waits for, once it does."""
    found: dict[str, Any] = until(lambda: chat(service, name)["waiting"], seconds=40)
    return found


def run(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.http.get(f"{ALPHA}/runs").json()["runs"][0]
    return found


def ended(service: Service, name: str) -> str:
    last = until(lambda: chat(service, name)["lastTurn"], seconds=40, what="the turn's end")
    return str(last["status"])


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_triggers_run_waits_over_a_restart_and_is_one_run(service: Service, stub):
    entry = {
        "trigger": {"type": "schedule", "interval": "24h"},
        "run": {"prompt": "Which word?", "model": "local:plum", "tools": ["Read"]},
    }
    service.http.put(f"{ALPHA}/triggers/nightly", json=entry).raise_for_status()
    refuse(stub, after=12)
    service.http.post(f"{ALPHA}/triggers/nightly/run").raise_for_status()
    until(lambda: "waits until" in (run(service)["reason"] or ""), seconds=40, what="a wait")
    assert run(service)["status"] == "running"
    stub.say(text("Plum."))

    service.restart()

    name = run(service)["sessionId"]
    assert waiting(service, name)["tries"] == 1
    assert chat(service, name)["running"] is True
    assert ended(service, name) == "completed"
    assert until(lambda: run(service)["status"] == "completed")
    assert (run(service)["reason"], len(service.http.get(f"{ALPHA}/runs").json()["runs"])) == (
        None, 1,
    )  # fmt: skip
    lines = service.http.get(f"{ALPHA}/chats/{name}/messages?turns=1").json()["turns"]
    states = [(line["state"], line.get("try")) for line in lines]
    assert states == [("started", None), ("waiting", 2), ("started", 2), ("completed", None)]


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_person_sees_what_is_waited_for_tries_now_or_stops(service: Service, stub):
    refuse(stub, after=60)
    body = {"prompt": "Which word?", "model": "local:plum"}
    name = service.http.post(f"{ALPHA}/chats", json=body).json()["chat"]["sessionId"]

    shown = waiting(service, name)
    assert (shown["tries"], shown["of"]) == (1, 3)
    assert "slow down" in shown["reason"]
    (row,) = service.http.get(f"{ALPHA}/chats/{name}").json()["queue"]
    assert (row["state"], row["waiting"]["until"]) == ("waiting", shown["until"])
    assert service.http.delete(f"{ALPHA}/chats/{name}").status_code == 409

    refuse(stub, after=60)
    assert service.http.post(f"{ALPHA}/chats/{name}/retry").json() == {"ok": True, "retried": True}
    until(lambda: (chat(service, name)["waiting"] or {}).get("tries") == 2, seconds=40)

    stopped = service.http.post(f"{ALPHA}/chats/{name}/stop").json()
    assert stopped == {"ok": True, "stopped": True}
    assert ended(service, name) == "stopped"
    assert chat(service, name)["waiting"] is None
    again = service.http.post(f"{ALPHA}/chats/{name}/retry").json()
    assert again == {"ok": True, "retried": False}
