"""G12: whatever a client of one project causes stays in it, over any number of turns.

The turns are real ones of the runbook engine. Each tries every operation at another project, then
causes the next: by messages, chats, forks, triggers of the client, of its turns and of a person,
the clock, and hooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.promises.manifest import PROMISES
from tests.service import Service, until
from workspace.chats import transcript
from workspace.mcp.catalogue import REGISTRY

pytestmark = pytest.mark.promise("G12")

TOKEN = "svc_desk_" + "b" * 48
TOOL = "mcp__svc_manage__"
DEPTH = 3
ON = {"SVC_SELF_MCP_WRITE": "on", "SVC_SELF_MCP_PROJECTS": "on", "SVC_HOOKS_MCP": "on"}
CONFIG = {
    "managementApi": {
        "publicUrl": "http://localhost",
        "instanceId": "desk",
        "clients": {
            "builder": {
                "auth": {"type": "token", "ref": "env:SVC_TOKEN_BUILDER"},
                "scope": {
                    "projects": ["alpha"],
                    "allow": ["*"],
                    "maxSpawnDepth": DEPTH,
                    "permissionMode": "bypassPermissions",  # no question stands in the way
                },
            }
        },
    }
}
PROJECT = "name: {}\npermissionMode: bypassPermissions\nmaxSpawnDepth: 9\nmaxTurns: 100\n"
REFUSED = ("outside this client's scope", "No such tool available")
Call = tuple[str, dict[str, Any]]


class World:
    """The service, its projects alpha and beta, the person and the client."""

    def __init__(self, service: Service) -> None:
        self.service = service
        for slug in ("alpha", "beta"):
            (service.projects / slug).mkdir()
            (service.projects / slug / "project.yaml").write_text(PROJECT.format(slug))
        self.secret = self.chat("beta", '#!runbook\n```TodoWrite\n{"todos": []}\n```\nsecret')
        self.put("beta", "target", "#!runbook\n```Bash\ntrue\n```\n")
        self.settle()

    def person(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.service.http.request(method, f"/api/projects/{path}", json=body or {})
        assert answer.status_code < 300, answer.text
        return answer.json()

    def chat(self, slug: str, prompt: str) -> str:
        made = self.person("POST", f"{slug}/chats", {"prompt": prompt})
        return str(made["chat"]["sessionId"])

    def put(self, slug: str, name: str, prompt: str, *, hook: bool = False) -> None:
        when = {"type": "event", "on": "onArchive"} if hook else {}
        when = when or {"type": "schedule", "interval": "24h"}
        run = {"prompt": prompt, "tools": [TOOL[:-2]], "permissionMode": "bypassPermissions"}
        body = {"trigger": when, "run": run, "enabled": hook}
        self.person("PUT", f"{slug}/triggers/{name}", body)

    def client(self, operation: str, /, **arguments: Any) -> dict[str, Any]:
        params = {"name": operation, "arguments": arguments}
        answer = self.service.http.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={
                "Authorization": f"Bearer {TOKEN}",
                "Accept": "application/json, text/event-stream",
            },
        )
        result = json.loads(answer.text.partition("data: ")[2])["result"]
        assert not result.get("isError"), result
        found: dict[str, Any] = result["structuredContent"]
        return found

    def stores(self, name: str, /, **words: Any) -> None:
        """A trigger of the client in its own project."""
        given = {"type": "schedule", "interval": "24h", "tools": TOOL[:-2]}
        given |= {"permission_mode": "bypassPermissions"}
        if words.get("type") == "event":
            del given["interval"]
        self.client("set_trigger", project="alpha", name=name, **(given | words))

    def settle(self) -> None:
        waits = "SELECT count(*) FROM workspace_turn WHERE state IN ('queued', 'running')"
        begins = "SELECT count(*) FROM workspace_run WHERE status IN ('queued', 'running')"
        until(
            lambda: not any(self.service.rows(query)[0][0] for query in (waits, begins)),
            seconds=240,
            what="every turn has ended",
        )

    def turns(self) -> dict[str, list[tuple[str, Any, bool, str]]]:
        """By the way a turn of alpha came to be: what it called, and what it was told."""
        found: dict[str, dict[str, list[tuple[str, Any, bool, str]]]] = {}
        for path in (self.service.projects / "alpha/.chats").glob("*.jsonl"):
            records = [record for _, record in transcript.read(str(path))]
            for turn in dict.fromkeys(record["turn"] for record in records if "turn" in record):
                own = [record for record in records if record.get("turn") == turn]
                way = next((one["text"] for one in own if one["type"] == "assistant"), "")
                uses = {one["call"]: one for one in own if one["type"] == "tool_use"}
                called = [
                    (uses[one["call"]]["tool"].removeprefix(TOOL), uses[one["call"]]["input"],
                     bool(one.get("is_error")), one["text"])
                    for one in own if one["type"] == "tool_result"
                ]  # fmt: skip
                found.setdefault(way.removeprefix("way "), {})[turn] = called
        return {way: [c for one in turns.values() for c in one] for way, turns in found.items()}

    def beta(self) -> dict[str, bytes]:
        """Every byte of the other project."""
        folder = self.service.projects / "beta"
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".svc-tmp-")
        }  # fmt: skip

    def aimed(self) -> list[Call]:
        """Every operation of the catalogue, at beta."""
        at = {"project": "beta", "session_id": self.secret, "prompt": "p", "prompts": ["p"]}
        calls: list[Call] = [("list_chats", {})]
        for operation in REGISTRY:
            names = {argument.name for argument in operation.arguments}
            given: dict[str, Any] = {key: at[key] for key in at if key in names}
            if operation.group == "trigger" and "name" in names:
                given["name"] = "target"
            if operation.name == "set_trigger":
                given = {"project": "beta", "name": "target", "enabled": True}
            if operation.name == "create_project":
                given = {"name": "Gamma", "slug": "gamma"}
            calls.append((operation.name, given))
        return calls

    def book(self, way: str, *more: Call) -> str:
        """A runbook that says how it came to be, tries everything, then does what is asked."""
        steps = [
            f"```{TOOL}{name} allow_failure\n{json.dumps(arguments)}\n```"
            for name, arguments in (*self.aimed(), *more)
        ]
        return "\n".join(["#!runbook", f"way {way}", *steps])


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    env = ON | {"SVC_TOKEN_BUILDER": TOKEN, "SVC_SANDBOX": "off"}
    with Service(tmp_path, config=CONFIG, env=env) as service:
        yield World(service)


def causes(world: World) -> set[str]:
    """Let the client cause turns in every way there is; the ways."""
    mine = world.chat("alpha", '#!runbook\n```TodoWrite\n{"todos": []}\n```\n')
    other = world.chat("alpha", '#!runbook\n```TodoWrite\n{"todos": []}\n```\n')
    world.settle()

    chain: list[Call] = []
    for level in ("five", "four", "three", "two"):
        chain = [("create_chat", {"prompt": world.book(level, *chain)})]
    world.client("create_chat", project="alpha", prompt=world.book("one", *chain))

    further = world.book("from a message of a turn")
    batch = [world.book("from a fork of a turn"), world.book("from its other fork")]
    stored = {
        "name": "of-turn", "type": "schedule", "interval": "24h", "tools": [TOOL[:-2]],
        "permission_mode": "bypassPermissions", "prompt": world.book("from a trigger of a turn"),
    }  # fmt: skip
    sent = world.book(
        "message",
        ("send_message", {"session_id": other, "prompt": further}),
        ("fork_chat_batch", {"prompts": batch}),
        ("set_trigger", stored),
        ("run_trigger", {"name": "of-turn"}),
    )
    world.client("send_message", project="alpha", session_id=mine, prompt=sent)
    world.settle()
    world.client("fork_chat", project="alpha", session_id=mine, prompt=world.book("fork"))

    world.stores("run", prompt=world.book("trigger"))
    world.client("run_trigger", project="alpha", name="run")
    world.put("alpha", "person", world.book("trigger of a person"))
    world.client("run_trigger", project="alpha", name="person")

    world.stores("clock", prompt=world.book("clock"), interval="1s", enabled=True)
    until(lambda: "clock" in world.turns(), seconds=60, what="the clock fires")
    world.client("set_trigger", project="alpha", name="clock", enabled=False)

    world.stores("hook", prompt=world.book("hook"), type="event", event="onArchive", enabled=True)
    world.person("POST", f"alpha/chats/{other}/archive")
    world.settle()
    world.client("remove_trigger", project="alpha", name="hook")
    world.put("alpha", "hook-of-person", world.book("hook of a person"), hook=True)
    prompt = world.book("archives", ("archive_chat", {"session_id": mine}))
    world.client("create_chat", project="alpha", prompt=prompt)
    world.settle()
    return {
        "one", "two", "three", "four", "message", "from a message of a turn",
        "from a fork of a turn", "from its other fork", "from a trigger of a turn", "fork",
        "trigger", "trigger of a person", "clock", "hook", "archives", "hook of a person",
    }  # fmt: skip


def outside(name: str, told: tuple[str, Any, bool, str]) -> bool:
    """Whether a call reached the other project, or a new one."""
    operation, arguments, is_error, text = told
    assert operation == name or arguments is not None
    if operation in ("list_projects", "list_chats") and not arguments:
        return "beta" in text or '"alpha"' not in text
    aimed = arguments.get("project") == "beta" or arguments.get("slug") == "gamma"
    return aimed and not (is_error and any(word in text for word in REFUSED))


def test_nothing_that_a_client_causes_leaves_its_project(world: World):
    before = world.beta()

    ways = causes(world)

    told = world.turns()
    aimed = world.aimed()
    assert set(told) - {""} == ways  # "five" would be one deeper than the client may go
    for way in ways:
        assert [call[0] for call in told[way]][: len(aimed)] == [name for name, _ in aimed], way
    reached = [
        (way, call[0], call[3][:200]) for way in ways for call in told[way]
        if outside(call[0], call)
    ]  # fmt: skip
    assert reached == []
    assert world.beta() == before
    assert {path.name for path in world.service.projects.iterdir() if path.is_dir()} == {
        "alpha", "beta",
    }  # fmt: skip
    assert world.service.rows("SELECT count(*) FROM workspace_run WHERE project = 'beta'") == [(0,)]

    world.chat("alpha", world.book("a person"))
    world.settle()
    free = [call for call in world.turns()["a person"] if outside(call[0], call)]
    assert len(free) == len(aimed)  # the same turn of a person may do all of it
    promise = next(one for one in PROMISES if one.id == "G12")
    assert promise.figure == f"{len(ways)} ways x {len(aimed)} calls, 0 outside"
