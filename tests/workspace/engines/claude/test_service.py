"""The service with Claude Code: chosen, pinned, resumed, forked, and named when it cannot run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from tests.service import Service, until
from tests.stubs import anthropic
from tests.stubs.anthropic import text, use
from tests.workspace.engines.claude.conftest import AWAY, KEY, ended, of
from tests.workspace.engines.claude.test_memory import said
from workspace.chats import transcript

CHATS = "/api/projects/alpha/chats"
TOKEN = re.compile(r"svct_[0-9a-f]{64}")


def records(service: Service, chat: str) -> list[dict[str, Any]]:
    path = service.projects / "alpha" / ".chats" / f"{chat}.jsonl"
    return [record for _, record in transcript.read(str(path))] if path.exists() else []


def post(service: Service, path: str, prompt: str) -> dict[str, Any]:
    answer = service.http.post(path, json={"prompt": prompt})
    assert answer.status_code in (201, 202), answer.text
    found: dict[str, Any] = answer.json()
    return found


def turns(service: Service, chat: str, count: int) -> list[dict[str, Any]]:
    """The records of a chat once so many turns of it have ended."""
    until(
        lambda: len(of(records(service, chat), "turn_end")) >= count,
        seconds=60,
        what=f"the end of turn {count}",
    )
    return records(service, chat)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_service_with_a_key_answers_with_claude_and_without_it_says_so(tmp_path: Path):
    """Edge cases 17 and 21."""
    if importlib.util.find_spec("claude_agent_sdk") is None:
        pytest.skip(AWAY)
    with anthropic.serve() as stub:
        config = {"engines": {"claude": {"baseUrl": stub.url}}}
        env = {"ANTHROPIC_API_KEY": KEY, "SVC_SELF_MCP_WRITE": "on", "SVC_SANDBOX": "off"}
        with Service(tmp_path / "service", env=env, config=config) as service:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            assert service.http.get("/api/engines").json()["default"] == "claude"
            chat, bearer = _first_turn(service, stub)
            _later_turns(service, stub, chat)
            _nothing_left(service, bearer)

            service.stop()
            del service.env["ANTHROPIC_API_KEY"]
            service.start()
            post(service, f"{CHATS}/{chat}/messages", "Still there?")
            found = turns(service, chat, 3)
            assert ended(found) == ("needs_engine", "needs_engine")
            assert "without a key" in found[-1]["text"]
    assert stub.unscripted == []


def _first_turn(service: Service, stub: anthropic.Stub) -> tuple[str, str]:
    (service.projects / "alpha/CLAUDE.md").write_text("Always say banana. @AGENTS.md\n")
    (service.projects / "alpha/AGENTS.md").write_text("Always say mango.\n")
    stub.say(use("mcp__svc_manage__list_chats"))
    stub.say(text("One chat, this one."))
    chat = str(post(service, CHATS, "How many chats?")["chat"]["sessionId"])
    (servers,) = until(lambda: list((service.data / "run/turns").glob("*/mcp.json")), seconds=30)
    (bearer,) = {*TOKEN.findall(servers.read_text())}
    found = turns(service, chat, 1)
    assert ended(found) == ("ok", None)
    assert chat in of(found, "tool_result")[0]["text"]
    for words in ("Always say banana.", "Always say mango."):
        assert str(stub.asked[0].body).count(words) == 1
    row = service.http.get(f"{CHATS}/{chat}").json()["chat"]
    assert row["lastTurn"]["model"] == stub.asked[0].body["model"]
    assert row["cost"] > 0
    project = service.http.get("/api/projects/alpha").json()
    assert project["spent"]["cost"] == row["cost"]
    return chat, bearer


def _later_turns(service: Service, stub: anthropic.Stub, chat: str) -> None:
    stub.say(text("As I said."))
    post(service, f"{CHATS}/{chat}/messages", "And now?")
    turns(service, chat, 2)
    assert said(stub.asked[-1])[0] == "How many chats?"
    assert said(stub.asked[-1])[-1] == "And now?"

    stub.say(text("I remember."))
    fork = str(post(service, f"{CHATS}/{chat}/fork", "Elsewhere")["chat"]["sessionId"])
    assert ended(turns(service, fork, 3)) == ("ok", None)
    assert said(stub.asked[-1])[0] == "How many chats?"
    assert said(stub.asked[-1])[-1].endswith("Elsewhere")


def _nothing_left(service: Service, bearer: str) -> None:
    until(lambda: not list((service.data / "run/turns").iterdir()), what="no turn's directory")
    answer = service.http.post("/_svc/mcp", json={}, headers={"Authorization": f"Bearer {bearer}"})
    assert answer.status_code == 404
    assert KEY not in service.log() + service.log("qcluster")
