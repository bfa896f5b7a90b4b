"""ACP agents in a running service: configured by a file, with keys by name, found again."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service import Service, until
from tests.workspace.chats.turns.world import BASE
from workspace.chats import transcript

pytestmark = pytest.mark.timeout(180)
CHATS = "/api/projects/alpha/chats"
KEY = "k-0123456789"


@pytest.fixture
def alpha(tmp_path: Path) -> Iterator[Service]:
    pytest.importorskip("acp", reason="agent-client-protocol is not installed (make engine-acp)")
    script = tmp_path / "script.json"
    steps = [[{"env": "STUB_KEY"}, {"manage": ["list_chats", {}]}], [{"echo": True}]]
    script.write_text(json.dumps({"can": {"resume": True, "http": True}, "prompts": steps}))
    command = [sys.executable, str(BASE / "tests/stubs/acp_agent.py"), str(script)]
    agents = {
        "claude-like": {"command": command, "env": ["STUB_KEY"]},
        "lost": {"command": ["no-such-agent"]},
    }
    config = {"engines": {"acp": {"agents": agents}}, "engine": "acp"}
    with Service(tmp_path / "service", config=config, env={"STUB_KEY": KEY}) as service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        yield service


def records(service: Service, chat: str) -> list[dict[str, Any]]:
    path = service.projects / "alpha" / ".chats" / f"{chat}.jsonl"
    return [record for _, record in transcript.read(str(path))] if path.exists() else []


def engine(service: Service) -> dict[str, Any]:
    """What GET /api/engines says of ACP agents."""
    found: dict[str, Any] = service.http.get("/api/engines").json()["engines"][3]
    return found


def ended(service: Service, chat: str, turns: int) -> list[dict[str, Any]]:
    def ends() -> bool:
        found = [one for one in records(service, chat) if one["type"] == "turn_end"]
        return len(found) == turns

    until(ends, seconds=60, what=f"turn {turns}")
    return records(service, chat)


@pytest.mark.slow
def test_an_agent_answers_calls_the_service_and_goes_on_in_its_session(alpha):
    listing = alpha.http.get("/api/engines").json()
    row = listing["engines"][3]
    assert [one["models"] for one in row["agents"]] == [None, None]
    assert (row["available"], row["models"]) == (True, ["acp:claude-like"])
    assert (row["allowListEnforced"], row["maxTurnsEnforced"]) == (False, False)
    assert (listing["default"], listing["defaultReason"]) == ("acp", 'SVC_ENGINE is "acp"')
    wrong = alpha.http.post(CHATS, json={"prompt": "Hi", "model": "acp:other"})
    assert wrong.status_code == 400
    assert "valid: acp:claude-like" in wrong.text

    answer = alpha.http.post(CHATS, json={"prompt": "Hi", "model": "acp:claude-like"}).json()
    chat = answer["chat"]["sessionId"]
    first = ended(alpha, chat, 1)
    said = next(one["text"] for one in first if one["type"] == "assistant")
    assert said.startswith(f"STUB_KEY={KEY}")
    assert chat in said
    assert first[-1]["status"] == "ok"
    agents = {one["name"]: one for one in engine(alpha)["agents"]}
    assert (agents["claude-like"]["modes"], agents["claude-like"]["models"]) == ([], [])
    assert agents["lost"]["modes"] is None
    assert agents["lost"]["reason"].endswith("is not found: no-such-agent")

    alpha.http.post(f"{CHATS}/{chat}/messages", json={"prompt": "And on"}).raise_for_status()
    second = ended(alpha, chat, 2)
    assert [one["text"] for one in second if one["type"] == "assistant"][1] == "And on"
    assert alpha.http.get(f"{CHATS}/{chat}").json()["chat"]["model"] == "claude-like"


@pytest.mark.slow
def test_a_trigger_that_an_agent_may_not_run_is_refused_at_save_and_when_it_is_run(alpha):
    path = "/api/projects/alpha/triggers/look"
    run = {"prompt": "Look", "model": "acp:claude-like"}
    body = {"trigger": {"type": "schedule", "interval": "1h"}, "run": run, "enabled": False}
    listed = alpha.http.put(path, json=body | {"run": run | {"tools": ["Read"]}})
    unasked = alpha.http.put(path, json=body)
    assert (listed.status_code, unasked.status_code) == (400, 400)
    assert 'run.tools: the engine "acp" cannot enforce a tool list' in listed.json()["error"]
    assert "run.permissionMode: an ACP agent may act without asking" in unasked.json()["error"]

    bypassing = body | {"run": run | {"permissionMode": "bypassPermissions"}}
    alpha.http.put(path, json=bypassing).raise_for_status()
    file = alpha.projects / "alpha" / "project.yaml"
    file.write_text(file.read_text().replace("bypassPermissions", "acceptEdits"))
    until(lambda: alpha.http.get(path).json()["trigger"].get("warnings"), what="the edit is seen")
    answer = alpha.http.post(f"{path}/run")

    assert answer.status_code == 502
    assert "an ACP agent may act without asking" in answer.json()["error"]
    assert alpha.http.get(CHATS).json()["chats"] == []
