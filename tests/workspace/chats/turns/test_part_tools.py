"""The tools that other parts give to a turn: offered in its job, served to its token alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.config.mcp_world import HEADERS, request
from tests.review.repos import Repo
from tests.workspace.access.world import scope_of
from tests.workspace.chats.world import World
from workspace.access import audit
from workspace.api import instance
from workspace.chats.turns import jobs, tokens, worker
from workspace.consumers import ManagementEndpoint, PartEndpoint
from workspace.mcp.catalogue import REGISTRY
from workspace.models import AuditEntry, ClientUse, Turn

OWN = {"list_threads", "read_thread", "read_diff", "list_stacks", "reply", "propose_resolved"}


@pytest.fixture
def repo(world: World, tmp_path: Path) -> Repo:
    """A repository under review in which the project alpha works."""
    repo = Repo(tmp_path / "api")
    repo.commit({"a.py": "1\n"}, "Begin")
    text = f"name: Alpha\npath: {repo.path}\nrepos: [{{name: api, path: {repo.path}}}]\n"
    world.write(f"{text}permissionMode: bypassPermissions\n")
    return repo


def claimed(world: World, **changes: Any) -> tuple[Turn, str]:
    """A running turn and its token."""
    turn = world.chat("plain words").turn
    assert turn is not None
    token, digest = tokens.new_token()
    Turn.objects.filter(id=turn.id).update(**changes)
    found = worker.claim(turn.id, digest)
    assert found is not None
    return found, token


def served(token: str, body: dict[str, Any], part: str = "review", **scope: Any) -> Any:
    """(status, what the body holds) of one request to a part's endpoint."""
    scope = scope_of(token=token, path=f"/_svc/mcp/{part}", headers=tuple(HEADERS.items()), **scope)
    sent: list[dict[str, Any]] = []
    parts = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        return parts.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    routed = scope | {"url_route": {"kwargs": {"part": part}}}
    asyncio.run(PartEndpoint()(routed, receive, send))
    audit.flush()  # later its rows would be found by the tests behind this
    data = b"".join(message.get("body", b"") for message in sent[1:])
    status = sent[0]["status"]
    return status, json.loads(data.split(b"data: ")[-1])


def test_the_job_names_them_with_their_class_and_arguments(world: World, repo: Repo):
    turn, token = claimed(world)

    job = jobs.job_for(turn, token=token, registry=REGISTRY)

    assert job.svc is not None
    found = job.svc["parts"]["review"]
    assert set(found) == OWN
    assert {name: one["kind"] for name, one in found.items() if one["kind"] != "R"} == {
        "reply": "P", "propose_resolved": "P",
    }  # fmt: skip
    assert found["reply"]["arguments"]["body"] == "text"


@pytest.mark.parametrize(
    ("tools", "named"),
    [
        (["mcp__svc_review__*"], OWN),
        (["mcp__svc_review"], OWN),
        (["mcp__svc_review__reply"], {"reply"}),
        (["mcp__svc_manage__*", "Read"], set()),
    ],
)
def test_a_tool_list_grants_them_by_name_or_star(
    world: World, repo: Repo, tools: list[str], named: set[str]
):
    turn, token = claimed(world, tools=tools)

    job = jobs.job_for(turn, token=token, registry=REGISTRY)
    status, answer = served(token, request("tools/list"))

    assert job.svc is not None
    assert set(job.svc["parts"].get("review", {})) == named
    assert (status, {one["name"] for one in answer["result"]["tools"]}) == (200, named)


def test_a_turn_calls_them_over_http_and_is_held_to_its_repository(world: World, repo: Repo):
    _, token = claimed(world)

    _, stacks = served(token, request("tools/call", {"name": "list_stacks"}))
    unknown = {"name": "read_thread", "arguments": {"thread": "t-other"}}
    _, refused = served(token, request("tools/call", unknown))

    assert str(repo.path) in stacks["result"]["content"][0]["text"]
    assert refused["result"]["isError"]
    assert "a turn reaches the threads of the repository" in refused["result"]["content"][0]["text"]


def test_nobody_but_a_running_turn_of_this_machine_reaches_them(world: World, repo: Repo):
    turn, token = claimed(world)
    call = request("tools/call", {"name": "list_stacks"})

    assert served(token, call, part="nope")[0] == 404
    assert served(token, call, peer="10.0.0.1")[0] == 404
    assert served("svct_" + "0" * 64, call)[0] == 404
    Turn.objects.filter(id=turn.id).update(state="done")
    assert served(token, call)[0] == 404
    names = {one.name for one in ManagementEndpoint.registry or ()}
    assert not OWN & names


def test_each_call_is_a_row_of_the_audit_that_names_the_chat_and_the_turn(world: World, repo: Repo):
    turn, token = claimed(world)
    unknown = {"name": "read_thread", "arguments": {"thread": "t-other"}}

    served(token, request("tools/list"))
    served(token, request("tools/call", {"name": "list_stacks"}))
    served(token, request("tools/call", unknown))
    audit.flush()

    rows = [instance.entry(row) for row in AuditEntry.objects.filter(turn=turn.id).order_by("id")]
    assert [(row["operation"], row["outcome"]) for row in rows] == [
        ("mcp__svc_review__list_stacks", "ok"),
        ("mcp__svc_review__read_thread", "error"),
    ]
    for row in rows:
        assert (row["clientId"], row["turnId"]) == (None, turn.id)
        assert (row["project"], row["sessionId"]) == ("alpha", turn.chat)
    assert not ClientUse.objects.filter(client="").exists()
