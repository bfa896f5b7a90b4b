"""The MCP servers of a project over REST, and a person's word about a file of a checkout."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from config.errors import Denied
from workspace import ids
from workspace.access.policy import Scope
from workspace.access.principals import Client
from workspace.api.servers import FileState, ServerState
from workspace.chats.turns import tokens
from workspace.models import Turn
from workspace.projects import store
from workspace.servers import consent, offered

URL = "/api/projects/alpha/servers"
ONE = {"mcpServers": {"mine": {"command": "node", "args": ["server.js"], "env": {"MODE": "dev"}}}}


def write(alpha: Path, value: Any = ONE) -> str:
    """The project's own file; its sha256."""
    data = json.dumps(value).encode()
    (alpha / ".mcp.json").write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def used() -> list[str]:
    return [server.name for server in offered.of_turn(store.get("alpha"))]


def row(api: Any, name: str = "mine") -> dict[str, Any]:
    found: dict[str, Any] = next(
        one for one in api.get(URL).json()["servers"] if one["name"] == name
    )
    return found


def test_servers_of_the_projects_own_file_are_shown_and_not_used(api, alpha):
    sha256 = write(alpha)

    answer = api.get(URL).json()

    assert answer["file"] == {"sha256": sha256, "state": "asks", "error": None}
    shown = answer["servers"][0]
    assert (shown["source"], shown["state"], shown["shown"]) == ("file", "asks", "node server.js")
    assert shown["env"] == [{"name": "MODE", "value": "dev"}]
    assert used() == []


def test_a_person_lets_exactly_this_content_be_used_until_it_changes(api, alpha):
    sha256 = write(alpha)

    assert api.post(f"{URL}/use", {"sha256": sha256}).json()["file"]["state"] == "used"
    assert used() == ["mine"]

    write(alpha, {"mcpServers": {"mine": {"command": "sh"}}})
    assert api.get(URL).json()["file"]["state"] == "changed"
    assert used() == []
    stale = api.post(f"{URL}/use", {"sha256": sha256})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale")

    write(alpha)
    assert used() == ["mine"]
    assert api.delete(f"{URL}/use").json()["file"]["state"] == "asks"
    assert used() == []


def test_no_turn_and_no_client_gives_a_persons_word(api, alpha, chat):
    sha256 = write(alpha)
    token, digest = tokens.new_token()
    Turn.objects.create(
        id=ids.turn_id(),
        project="alpha",
        sender={},
        max_turns=1,
        created=datetime.now(UTC),
        spawn_limit=0,
        token_hash=digest,
        state="running",
    )

    refused = api.ask(
        "POST", f"{URL}/use", {"sha256": sha256}, {"Authorization": f"Bearer {token}"}
    )

    assert (refused.status_code, refused.json()["error"]) == (403, consent.NOT_A_PERSON)
    client = Client("ops", Scope(allow=("*",)))
    with pytest.raises(Denied):
        consent.give(store.get("alpha"), sha256, principal=client)
    assert used() == []


def test_what_a_person_said_is_kept_where_no_sandbox_of_a_turn_shows_it(api, alpha, projects_dir):
    api.post(f"{URL}/use", {"sha256": write(alpha)})

    assert (projects_dir / ".svc/servers/alpha.json").is_file()
    assert sorted(path.name for path in alpha.iterdir() if path.name != ".chats") == [
        ".mcp.json", "project.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["link", "fifo", "large", "text"])
def test_a_file_that_is_none_is_named_and_never_read(api, alpha, tmp_path, kind):
    path = alpha / ".mcp.json"
    if kind == "link":
        (tmp_path / "elsewhere.json").write_text(json.dumps(ONE))
        path.symlink_to(tmp_path / "elsewhere.json")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.write_text("x" * (300_000 if kind == "large" else 5))

    answer = api.get(URL).json()

    assert (answer["servers"], answer["file"]["state"]) == ([], "unreadable")
    assert answer["file"]["error"].startswith(".mcp.json ")
    wrong = api.post(f"{URL}/use", {"sha256": answer["file"]["sha256"] or "x"})
    assert wrong.status_code == 409


def test_of_equal_names_the_projects_own_entry_is_used(api, alpha, settings):
    near, far = {"command": "near"}, {"command": "far"}
    settings.SVC = replace(settings.SVC, mcp_servers={"mine": far, "other": far})
    (alpha / "project.yaml").write_text(f"name: Alpha\nmcpServers: {json.dumps({'mine': near})}\n")
    api.post(f"{URL}/use", {"sha256": write(alpha, {"mcpServers": {"other": near, "third": near}})})

    found = [(one["name"], one["source"], one["state"]) for one in api.get(URL).json()["servers"]]

    assert found == [
        ("mine", "project", "used"), ("mine", "instance", "off"), ("other", "instance", "used"),
        ("other", "file", "off"), ("third", "file", "used"),
    ]  # fmt: skip
    commands = {one.name: one.command for one in offered.of_turn(store.get("alpha"))}
    assert commands == {"mine": ("near",), "other": ("far",), "third": ("near",)}


def test_a_server_is_set_by_the_api_and_a_bad_one_changes_nothing(api, alpha):
    good = {"mine": {"command": "node", "args": ["a"], "env": ["MY_TOKEN"], "callSeconds": 90}}
    bad = {"far": {"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer abc"}}}

    assert api.patch("/api/projects/alpha", {"mcpServers": good}).status_code == 200
    before = (alpha / "project.yaml").read_bytes()
    refused = api.patch("/api/projects/alpha", {"mcpServers": good | bad})

    assert (refused.status_code, (alpha / "project.yaml").read_bytes()) == (400, before)
    why = refused.json()["errors"][0]
    assert why["field"] == "mcpServers"
    assert 'write "env:VARIABLE" (or "Bearer env:VARIABLE")' in why["reason"]
    assert api.get("/api/projects/alpha").json()["project"]["mcpServers"] == good


def test_one_bad_server_of_the_file_disables_itself_alone(api, alpha):
    (alpha / "project.yaml").write_text(
        "name: Alpha\nmcpServers:\n  bad: {command: x, env: {KEY: literal}}\n  good: {command: y}\n"
    )

    warnings = api.get("/api/projects/alpha").json()["project"]["warnings"]

    assert len(warnings) == 1
    assert warnings[0].startswith("mcpServers.bad: env: values are refused; write a list of names")
    assert row(api, "bad")["state"] == "off"
    assert used() == ["good"]


def test_values_of_the_services_environment_reach_the_turn_and_no_page(api, alpha, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "value-0123456789")
    entry = {"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer env:MY_TOKEN"}}
    other = {"command": "y", "env": ["MY_TOKEN", "NOT_SET_HERE"]}
    api.patch("/api/projects/alpha", {"mcpServers": {"far": entry, "near": other}})

    far, near = offered.of_turn(store.get("alpha"))

    assert far.headers == {"Authorization": "Bearer value-0123456789"}
    assert near.lacks.startswith("it needs the variable NOT_SET_HERE, which the service does not")
    assert offered.secrets((far, near)) == ("value-0123456789",)
    assert "value-0123456789" not in api.get(URL).content.decode()
    assert row(api, "near")["reason"] == near.lacks


def test_a_trigger_that_names_a_server_nobody_knows_is_warned_of(api, alpha):
    write(alpha)
    api.patch("/api/projects/alpha", {"mcpServers": {"good": {"command": "y"}}})
    run = {"prompt": "x", "tools": ["mcp__good", "mcp__nope__x", "mcp__mine__*"]}
    body = {"trigger": {"type": "schedule", "interval": "24h"}, "run": run, "enabled": False}

    warnings = api.put("/api/projects/alpha/triggers/t", body).json()["warnings"]

    about = [one for one in warnings if one.startswith("run.tools")]
    assert len(about) == 2
    assert "mcp__nope__x grants nothing: there is no MCP server of that name" in about[0]
    assert "the MCP server mine is not used, no one has said yet that it may be used" in about[1]
    listed = api.get("/api/projects/alpha/triggers").json()["grantableTools"]
    assert [one["name"] for one in listed if one["group"] == "servers"] == ["mcp__good__*"]


def test_the_words_of_the_states_are_those_of_the_schema():
    assert {offered.USED, offered.ASKS, offered.OFF} == set(get_args(ServerState))
    assert "changed" in get_args(FileState)
