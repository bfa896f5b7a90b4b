"""Servers of tools that people give to agents, as an ACP agent is told of them."""

from __future__ import annotations

import sys

import pytest

from tests.workspace.engines.tool_servers import BWRAP, STUB, mine, said
from workspace.engines.mcp.server import Server

REMOTE = Server("far", url="https://mcp.example.com/mcp", headers={"Authorization": "Bearer k"})


@pytest.mark.slow
def test_a_session_is_given_programs_and_where_the_agent_takes_them_urls(world):
    near = mine(env={"KEY": "v"})

    world.play({"say": "ok"}, servers=(near, REMOTE), can={"http": True})
    world.play({"say": "ok"}, servers=(near, REMOTE), can={"http": False})

    first, second = (one["given"] for one in world.log("new_session"))
    program = {"name": "mine", "command": sys.executable, "args": [str(STUB)]}
    assert first[0] == program | {"env": [{"name": "KEY", "value": "v"}]}
    assert (first[1]["type"], first[1]["url"]) == ("http", REMOTE.url)
    assert first[1]["headers"] == [{"name": "Authorization", "value": "Bearer k"}]
    assert [one["name"] for one in second] == ["mine"]
    assert said(world.records()) == [
        "The MCP server far was left out: the agent stub takes no server at a URL."
    ]


@pytest.mark.slow
def test_in_plan_mode_an_agent_gets_no_server(world):
    if BWRAP.mode != "bwrap":
        pytest.skip("bubblewrap does not work here")
    world.play({"say": "ok"}, servers=(mine(),), mode="plan", sandbox=BWRAP)

    assert [one["servers"] for one in world.log("new_session")] == [[]]


@pytest.mark.slow
def test_a_program_that_is_not_there_is_one_line_of_the_chat(world):
    gone = Server("gone", ("no-such-program",))

    world.play({"say": "ok"}, servers=(gone,))

    assert said(world.records()) == [
        "The MCP server gone was left out: its command is not found: no-such-program."
    ]
