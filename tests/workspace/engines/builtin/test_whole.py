"""A turn of the builtin engine as a process: what a stop leaves, what it weighs, and the service
around it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.promises.rings import ring, seeded
from tests.promises.test_t8_no_process_left import KINDS, UNTAGGED, WAIT, alive
from tests.service import Service
from tests.service import until as within
from tests.stubs import anthropic, openai
from tests.stubs.openai import text, use
from tests.workspace.chats.turns.world import pss_mb, until
from tests.workspace.engines.builtin.talk import Talk, end, of
from tests.workspace.engines.tool_servers import NOTE, brought, marks
from workspace.chats import transcript
from workspace.engines import procs

PSS_MB = 120  # what a turn of the builtin engine may have of its own
ROUNDS = ring(fast=3, slow=100)
CHATS, SERVERS = "/api/projects/alpha/chats", "/api/projects/alpha/servers"


@pytest.mark.slow
@pytest.mark.promise("T8")
@pytest.mark.timeout(60 + 20 * ROUNDS)
def test_a_stopped_turn_leaves_no_process(talk, stub, world):
    dice = seeded()
    pids = world.project / "pids"
    pids.mkdir()
    for _ in range(ROUNDS):
        for path in pids.iterdir():
            path.unlink()
        command = dice.choice([*KINDS, UNTAGGED]).format(wait=WAIT)
        stub.say(use("Bash", {"command": command}))
        running = talk.start()
        until(lambda: list(pids.iterdir()), bool)
        time.sleep(dice.random() * 0.03)  # the moment of the stop is the random part

        running.stop("user")
        code, log = running.end()

        assert (code, log) == (0, "")
        assert end(world.records(running.job.turn)) == ("stopped", "user")
        assert alive(world) == []
        assert procs.pids_by_turn(str(world.root)) == {}


def test_a_stop_while_the_model_is_silent_ends_at_once(talk, stub, world):
    stub.say(text("never"), hold=0)
    running = talk.start()
    until(lambda: stub.asked, bool)
    began = time.monotonic()
    running.stop()
    assert running.end()[0] == 0
    assert time.monotonic() - began < 6
    assert end(world.records()) == ("stopped", "user")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["local:m", "anthropic:claude-sonnet-5-5"])
def test_a_turn_keeps_within_its_memory(world, model):
    served = openai if model.startswith("local") else anthropic
    with served.serve() as stub:
        talk = Talk(world, stub, model)
        stub.say(use("Bash", {"command": "seq 1 4000"}), use("Grep", {"pattern": "x"}))
        stub.say(text("all done"), piece=4, hold=1)
        running = talk.start()
        until(lambda: len(stub.asked), lambda asked: asked == 2)
        running.until(lambda records: len(of(records, "tool_result")) == 2)
        held = pss_mb(running.child.pid)
        stub.release()
        assert running.end()[0] == 0
    print(f"{model}: {held:.0f} MB")
    assert held <= PSS_MB


@pytest.fixture
def alpha(tmp_path: Path, stub: openai.Stub) -> Iterator[Service]:
    """A service whose local model server is the stub, with a project."""
    stub.models = ["plum"]
    env = {"SVC_LOCAL_MODEL_URL": stub.url, "SVC_SELF_MCP_WRITE": "on"}
    with Service(tmp_path / "service", env=env) as service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        yield service


@pytest.mark.timeout(180)
def test_a_service_with_a_local_server_answers_plain_messages(alpha, stub):
    """Chosen by itself, pinned, with the service's own tools as it lists them."""
    listing = alpha.http.get("/api/engines").json()
    (row,) = [row for row in listing["engines"] if row["name"] == "builtin"]
    assert (listing["default"], row["available"], row["models"]) == (
        "builtin",
        True,
        ["local:plum"],
    )
    (alpha.projects / "alpha/AGENTS.md").write_text("Always say mango.\n")
    alpha.http.patch("/api/projects/alpha", json={"instructions": "Be brief.\nUse make."})
    stub.say(use("mcp__svc_manage__list_chats"))
    stub.say(text("One chat, this one."), input_tokens=40, output_tokens=2)

    answer = alpha.http.post(CHATS, json={"prompt": "How many chats are there?"})
    assert answer.status_code == 201, answer.text
    chat = answer.json()["chat"]["sessionId"]
    path = alpha.projects / "alpha" / ".chats" / f"{chat}.jsonl"

    def records() -> list[dict[str, Any]]:
        return [record for _, record in transcript.read(str(path))]

    within(lambda: path.exists() and of(records(), "turn_end"), seconds=60, what="the turn's end")
    assert end(records()) == ("ok", None)
    assert records()[0]["engine"] == "builtin"
    assert records()[0]["model"] == "local:plum"
    (told,) = of(records(), "tool_result")
    assert (told["is_error"], chat in told["text"]) == (False, True)
    schema = stub.asked[0].schemas["mcp__svc_manage__create_chat"]
    assert schema["required"] == ["prompt"]
    assert "Be brief.\nUse make." in stub.asked[0].system
    assert "Always say mango." in stub.asked[0].system
    row = alpha.http.get(f"{CHATS}/{chat}").json()["chat"]
    assert row["engine"] == "builtin"
    assert [place["name"] for place in row["instructions"]] == ["project.yaml", "AGENTS.md"]
    assert row["lastTurn"]["model"] == "local:plum"
    assert (row["cost"], row["context"]) == (None, {"used": 42, "limit": None})
    refused = alpha.http.post(CHATS, json={"prompt": "x", "model": "local:pear"})
    assert (refused.status_code, "local:plum" in refused.text) == (400, True)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_servers_of_a_projects_own_file_act_only_once_a_person_agreed(alpha, stub):
    project = alpha.projects / "alpha"
    program = {"command": sys.executable, "args": [brought(project)]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"mine": program}}))
    body = {"permissionMode": "bypassPermissions"}
    alpha.http.patch("/api/projects/alpha", json=body).raise_for_status()

    assert answered(alpha, stub) == (True, f"No such tool available: {NOTE}")
    assert marks(project) == (0, [])

    sha256 = alpha.http.get(SERVERS).json()["file"]["sha256"]
    alpha.http.post(f"{SERVERS}/use", json={"sha256": sha256}).raise_for_status()
    assert answered(alpha, stub) == (False, "noted x")
    assert marks(project) == (1, ["note"])
    (row,) = alpha.http.get(SERVERS).json()["servers"]
    assert (row["lastError"], "note" in row["tools"]) == (None, True)


def answered(service: Service, stub: openai.Stub) -> tuple[bool, str]:
    """What a call of the server's tool in a new chat comes back with."""
    stub.say(use(NOTE, {"text": "x"}))
    stub.say(text("ok"))
    chat = service.http.post(CHATS, json={"prompt": "Go"}).json()["chat"]["sessionId"]
    path = service.projects / "alpha" / ".chats" / f"{chat}.jsonl"

    def records() -> list[dict[str, Any]]:
        return [record for _, record in transcript.read(str(path))]

    within(lambda: path.exists() and of(records(), "turn_end"), seconds=60, what="the turn's end")
    (told,) = of(records(), "tool_result")
    return told["is_error"], told["text"]
