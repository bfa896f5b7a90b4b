"""G5: whatever is sent, nothing breaks: no 500, every answer as the description says.

Three streams against the real server: requests made from the OpenAPI description, a corpus of
hostile bodies and addresses on every writing route, and wild arguments to every tool of /mcp.
"""

from __future__ import annotations

import fcntl
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st

from tests.promises.fuzzing import (
    MCP,
    described_requests,
    hostile_addresses,
    hostile_bodies,
    wild_calls,
)
from tests.promises.rings import ring, seeded
from tests.service import Service
from workspace.mcp.catalogue import REGISTRY

pytestmark = [pytest.mark.promise("G5"), pytest.mark.timeout(3600)]

DESCRIBED = ring(fast=2, slow=2500)  # per operation of the description
TOOL_CALLS = ring(fast=3, slow=2500)  # per tool
CORPUS_ROUNDS = ring(fast=1, slow=250)
TOKEN = "svc_g5_" + "0123456789abcdef" * 3
RUNBOOK = '#!runbook\n```Glob\n{"pattern": "*"}\n```\n'
NO_CLONE = {"repo": st.just("")}  # a clone asks another server


@dataclass
class World:
    """A running service with something of everything in it."""

    service: Service
    chats: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)

    def fill(self) -> None:
        http = self.service.http
        assert http.post("/api/projects", json={"name": "Alpha"}).status_code == 201
        (self.service.projects / "alpha" / "OVERVIEW.md").write_text("# Alpha")
        for n in range(3):
            body = {"prompt": RUNBOOK} if n else {}
            made = http.post("/api/projects/alpha/chats", json=body).json()
            self.chats.append(made["chat"]["sessionId"])
            self.turns.append(made["messageId"] or "msg_none")
        for name, enabled in (("nightly", True), ("manual", False)):
            record = {"trigger": {"type": "schedule", "interval": "30d"},
                      "run": {"prompt": RUNBOOK}, "enabled": enabled}  # fmt: skip
            put = http.put(f"/api/projects/alpha/triggers/{name}", json=record)
            assert put.status_code == 200, put.text
            run = http.post(f"/api/projects/alpha/triggers/{name}/run")
            assert run.status_code == 202, run.text
            self.runs.append(run.json()["runId"])

    def addresses(self) -> dict[str, st.SearchStrategy[str]]:
        """Path parameters that mostly lead somewhere."""
        real = {
            "slug": ["alpha", "alpha", "alpha", "nope", "beta"],
            "session_id": [*self.chats, str(uuid.uuid4())],
            "name": ["nightly", "manual", "fresh", "bad name!", "a.b_c-1"],
            "run_id": [*self.runs, "run_nope"],
            "message": [*self.turns, "msg_nope"],
            "call": ["c1"],
        }
        return {name: st.sampled_from(values) for name, values in real.items()}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    config = {
        "managementApi": {
            "publicUrl": "http://localhost",
            "instanceId": "g5",
            "clients": {"fuzz": {"auth": {"ref": "env:G5_TOKEN"}, "scope": {"allow": ["*"]}}},
        }
    }
    folder = tmp_path_factory.mktemp("g5")
    with Service(folder, env={"G5_TOKEN": TOKEN}, config=config, scheduler=False) as service:
        lock = service.data / "state" / "qcluster.lock"
        with lock.open("wb") as held:  # firings start chats, and their turns only ever wait
            fcntl.flock(held, fcntl.LOCK_SH)
            made = World(service)
            made.fill()
            yield made
        assert [line for line in service.log().splitlines() if '"level":"error"' in line] == []


def test_requests_made_from_the_description_are_answered_as_it_says(world):
    def tame(case):
        if isinstance(case.body, dict):
            case.body.pop("repo", None)  # a clone asks another server

    sent = described_requests(
        world.service.url,
        world.addresses(),
        examples=DESCRIBED,
        rng=seeded(),
        tame=tame,
        excused=lambda answer: answer.json()["code"] == "trigger_failed",
    )

    print(f"{sent} described requests")


KEYS = ["prompt", "name", "model", "slug", "summary", "group", "status", "archived",
        "allow", "trigger", "run", "enabled", "preloadContext", "links", "x" * 256]  # fmt: skip


def writing_routes(world: World) -> list[tuple[str, str]]:
    chat = f"/api/projects/alpha/chats/{world.chats[0]}"
    return [
        ("POST", "/api/projects"), ("PATCH", "/api/projects/alpha"),
        ("POST", "/api/projects/alpha/chats"), ("PATCH", chat), ("POST", f"{chat}/messages"),
        ("POST", f"{chat}/archive"), ("POST", f"{chat}/fork"), ("POST", f"{chat}/stop"),
        ("POST", f"{chat}/permissions/c1"), ("PUT", "/api/projects/alpha/triggers/fuzz"),
        ("DELETE", "/api/projects/alpha/triggers/fuzz"), ("POST", "/api/demo"),
    ]  # fmt: skip


def reading_routes(text: str) -> list[str]:
    return [
        f"/api/projects/{text}", f"/api/projects/alpha/chats/{text}",
        f"/api/projects/alpha/triggers/{text}", f"/api/runs/{text}",
        f"/api/audit?client={text}&before={text}", f"/api/runs?project={text}&before={text}",
        f"/api/projects/alpha/chats?q={text}&before={text}",
    ]  # fmt: skip


def test_hostile_bodies_and_addresses_break_nothing(world):
    http, rng, sent = world.service.http, seeded(), 0

    for _ in range(CORPUS_ROUNDS):
        sent += hostile_bodies(http, writing_routes(world), KEYS, rng=rng)
    sent += hostile_addresses(http, reading_routes)

    print(f"{sent} hostile requests")


def test_wild_arguments_to_every_tool_are_answered_in_band(world):
    aimed = {"project": st.just("alpha"), "session_id": st.sampled_from(world.chats),
             "prompt": st.just(RUNBOOK), "interval": st.just("30d")}  # fmt: skip

    made = wild_calls(
        world.service.http,
        REGISTRY,
        aimed,
        calls=TOOL_CALLS,
        rng=seeded(),
        headers=MCP | {"Authorization": f"Bearer {TOKEN}"},
        harmless=NO_CLONE,
        check=lambda result: result["content"][0]["text"] != "Error: internal error",
    )

    print(f"{made} tool calls")
