"""The caller behind a turn's token, and its endpoint."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from tests.config.mcp_world import HEADERS, request
from tests.workspace.access.world import configure, scope_of
from workspace import consumers, ids
from workspace.access import audit
from workspace.access.clients import Management
from workspace.access.policy import Scope
from workspace.chats import files
from workspace.chats.files import ChatRecord
from workspace.chats.turns import tokens
from workspace.consumers import TurnEndpoint
from workspace.mcp.catalogue import REGISTRY
from workspace.models import Turn
from workspace.projects import store

SWITCHES = {"self_mcp": True, "self_mcp_write": True, "self_mcp_projects": True, "hooks_mcp": True}


class World:
    """One project, one chat of depth 2, one running turn with its token."""

    def __init__(self, settings: Any, folder: Path) -> None:
        self.settings = settings
        self.options = settings.SVC
        settings.PROJECTS_DIR = folder
        (folder / "alpha").mkdir()
        (folder / "alpha/project.yaml").write_text("name: Alpha\n")
        self.chat = ids.session_id()
        record = ChatRecord(self.chat, "alpha", created=files.now(), origin="spawned", depth=2)
        files.create(store.get("alpha"), record)
        self.token, digest = tokens.new_token()
        self.turn = Turn.objects.create(
            id=ids.turn_id(), project="alpha", chat=self.chat, state="running", prompt="p",
            message="p", sender={}, mode="default", max_turns=9, spawn_limit=3, client="ci",
            created=datetime.now(UTC), token_hash=digest,
        )  # fmt: skip
        self.switch()

    def switch(self, **changes: bool) -> None:
        values = {name: getattr(self.options, name) for name in ("max_spawn_depth", "engine")}
        self.settings.SVC = SimpleNamespace(**values, **(SWITCHES | changes))

    def set(self, **changes: Any) -> None:
        Turn.objects.filter(id=self.turn.id).update(**changes)


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client behind the turn may do everything unless a test says otherwise."""
    configure(monkeypatch, ci=Scope(allow=("*",)))


@pytest.fixture
def world(db: None, settings: Any, tmp_path: Path) -> World:
    return World(settings, tmp_path)


def test_a_running_turn_is_its_token(world: World):
    found = tokens.caller(world.token)

    assert found is not None
    assert (found.project, found.chat, found.turn) == ("alpha", world.chat, world.turn.id)
    assert (found.depth, found.spawn_limit, found.client, found.tools) == (2, 3, "ci", None)
    assert (found.plan, found.chat_name) == (False, world.chat[:8])


@pytest.mark.parametrize("state", ["queued", "held", "done", "failed", "stopped", "interrupted"])
def test_the_token_is_void_when_the_row_is_not_running(world: World, state: str):
    world.set(state=state)

    assert tokens.caller(world.token) is None


def test_a_wrong_token_and_a_turn_without_tools_have_no_server(world: World):
    assert tokens.caller("svct_" + "0" * 64) is None
    assert tokens.caller("") is None
    world.set(tools=[])
    assert tokens.caller(world.token) is None
    world.set(tools=["Read"])
    assert tokens.caller(world.token) is not None
    world.switch(self_mcp=False)
    assert tokens.caller(world.token) is None


def test_the_scope_of_its_client_is_looked_up_at_each_call(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    def seen() -> tuple[list[str], list[bool], int, str | None]:
        found = tokens.caller(world.token)
        assert found is not None
        names = [operation.name for operation in REGISTRY.visible_to(found)]
        return (
            names,
            [found.reaches(slug) for slug in ("alpha", "beta")],
            found.spawn_limit,
            (found.mode_cap),
        )

    assert seen() == ([operation.name for operation in REGISTRY], [True, True], 3, "acceptEdits")

    narrow = Scope(("alpha",), ("read_chat", "archive_chat"), max_spawn_depth=1)
    configure(monkeypatch, ci=narrow)
    assert seen() == (["read_chat", "archive_chat"], [True, False], 1, "acceptEdits")

    configure(monkeypatch, other=Scope(allow=("*",)))
    assert seen() == ([], [False, False], 0, "plan")


def test_a_turn_that_descends_from_two_clients_stays_within_both(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    configure(
        monkeypatch,
        ci=Scope(("alpha", "beta"), ("*",)),
        ops=Scope(("alpha", "gamma"), ("read_*", "set_trigger"), permission_mode="default"),
    )
    world.set(clients=["ci", "ops"])

    found = tokens.caller(world.token)

    assert found is not None
    assert found.clients == ("ci", "ops")
    assert [found.reaches(slug) for slug in ("alpha", "beta", "gamma")] == [True, False, False]
    assert [one.name for one in REGISTRY.visible_to(found)] == ["read_chat", "set_trigger"]
    assert found.mode_cap == "default"


def test_a_turn_of_a_person_is_bound_by_no_client(world: World, monkeypatch: pytest.MonkeyPatch):
    configure(monkeypatch)
    world.set(client="")

    found = tokens.caller(world.token)

    assert found is not None
    assert (found.clients, found.mode_cap, found.reaches("beta")) == ((), None, True)
    assert len(REGISTRY.visible_to(found)) == 14


def test_the_project_may_open_and_shut_its_trigger_tools(world: World):
    file = Path(world.settings.PROJECTS_DIR) / "alpha/project.yaml"
    world.switch(hooks_mcp=False)
    for text, expected in (("true", True), ("false", False), ("maybe", False)):
        file.write_text(f"name: Alpha\nhooksMcpEnabled: {text}\n")
        found = tokens.caller(world.token)
        assert found is not None
        assert found.gates.project_hooks("alpha") is {"true": True, "false": False}.get(text)
        assert bool(found.gates.project_hooks("alpha")) is expected
    assert tokens.gates("alpha").project_hooks("nope") is None


@pytest.mark.parametrize(
    ("changes", "is_carried"),
    [
        ({}, True),
        ({"peer": "::1"}, True),
        ({"peer": "10.0.0.1"}, False),
        ({"peer": None}, False),
        ({"headers": (("x-forwarded-for", "1.2.3.4"),)}, False),
        ({"headers": (("x-forwarded-proto", "https"),)}, False),
        ({"headers": (("forwarded", "for=1.2.3.4"),)}, False),
        ({"headers": (("authorization", "Bearer x"),)}, False),
        ({"token": "svc_home_" + "0" * 64}, False),
        ({"token": "svct_" + "0" * 63}, False),
        ({"token": "svct_" + "G" * 64}, False),
    ],
)
def test_only_this_machine_without_a_proxy_carries_a_token(
    changes: dict[str, Any], is_carried: bool
):
    scope = scope_of(**({"token": "svct_" + "0" * 64} | changes))

    assert (tokens.token_of(scope) is not None) is is_carried


async def ask(scope: dict[str, Any], body: dict[str, Any]) -> tuple[int, bytes]:
    sent: list[dict[str, Any]] = []
    parts = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()  # the caller stays
        return parts.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    await TurnEndpoint()(scope, receive, send)
    await sync_to_async(audit.flush)()  # later its rows would be found by the tests behind this
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


@pytest.mark.django_db(transaction=True)
async def test_the_endpoint_serves_the_turn_and_is_not_found_for_others(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    world = await sync_to_async(World)(settings, tmp_path)
    headers = tuple(HEADERS.items())
    scope = scope_of(token=world.token, path="/_svc/mcp", headers=headers)

    status, body = await ask(scope, request("tools/list"))
    tools = json.loads(body.split(b"data: ")[1])["result"]["tools"]
    assert status == 200
    assert len(tools) == 14
    assert all("required" not in t["inputSchema"] for t in tools if t["name"] == "archive_chat")
    called = request("tools/call", {"name": "list_projects"})
    assert b'"slug":"alpha"' in (await ask(scope, called))[1]

    monkeypatch.setattr(consumers, "management", Management)
    foreign = (*headers, ("origin", "https://evil.example"))
    status, body = await ask(scope_of(token=world.token, headers=foreign), called)
    assert (status, json.loads(body)["code"]) == (403, "origin_not_allowed")

    for other in (
        scope_of(path="/_svc/mcp", headers=headers),
        scope_of(token="svct_" + "0" * 64, headers=headers),
        scope_of(token=world.token, peer="10.0.0.1", headers=headers),
        scope_of(token=world.token, headers=(*headers, ("x-forwarded-for", "1.2.3.4"))),
    ):
        assert await ask(other, called) == (404, b'{"error":"not found"}')
    await sync_to_async(world.set)(state="done")
    assert await ask(scope, called) == (404, b'{"error":"not found"}')


@pytest.mark.django_db(transaction=True)
async def test_over_http_a_turn_of_a_client_is_shown_and_may_do_what_both_allow(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    configure(monkeypatch, ci=Scope(("alpha",), ("list_*",)))
    world = await sync_to_async(World)(settings, tmp_path)
    (tmp_path / "beta").mkdir()
    (tmp_path / "beta/project.yaml").write_text("name: Beta\n")
    scope = scope_of(token=world.token, path="/_svc/mcp", headers=tuple(HEADERS.items()))

    async def told(name: str, **arguments: Any) -> str:
        body = request("tools/call", {"name": name, "arguments": arguments})
        text: str = json.loads((await ask(scope, body))[1].split(b"data: ")[1])["result"][
            "content"
        ][0]["text"]
        return text

    listed = json.loads((await ask(scope, request("tools/list")))[1].split(b"data: ")[1])
    assert [tool["name"] for tool in listed["result"]["tools"]] == [
        "list_projects", "list_chats", "list_triggers",
    ]  # fmt: skip
    assert [one["slug"] for one in json.loads(await told("list_projects"))["projects"]] == ["alpha"]
    assert {one["project"] for one in json.loads(await told("list_chats"))["chats"]} == {"alpha"}
    for name in ("list_chats", "list_triggers"):
        assert await told(name, project="beta") == (
            f"not permitted: operation {name} is outside this client's scope (project beta)"
        )
    assert await told("read_chat", session_id=world.chat) == "Unknown tool: read_chat"
