"""Servers of tools that people give to agents, as Claude Code gets them: through our process."""

from __future__ import annotations

import pytest

from tests.stubs.anthropic import Reply, text, use
from tests.workspace.engines.claude.conftest import ended, of, results
from tests.workspace.engines.claude.stand_in import played
from tests.workspace.engines.manage import manage
from tests.workspace.engines.tool_servers import NOTE, marks, mine, said

SVC = "mcp__svc_manage__read_chat"


def test_a_tool_of_a_server_is_called_behind_the_gate(desk):
    calls = [(NOTE, {"text": "this"}), ("mcp__mine__big", {}), ("mcp__mine__fail", {})]

    records = played(desk, *calls, tools=["mcp__mine__note", "mcp__mine__big"], servers=(mine(),))

    told = results(records)
    assert told[NOTE] == (False, "noted this")
    cut = 100_000 + len("\n[200000 characters left out]")
    assert [record.get("bytes") for record in of(records, "tool_result")] == [None, cut, None]
    assert told["mcp__mine__fail"] == (True, "No such tool available: mcp__mine__fail")
    assert marks(desk.project) == (1, ["note", "big"])
    assert ended(records) == ("ok", None)


def test_the_services_own_tools_stay_in_a_file_beside_them(desk):
    with manage({"read_chat": "{}"}) as (svc, _):
        svc["ops"] = {"read_chat": {"session_id": "string"}}
        played(desk, tools=["mcp__mine", SVC], servers=(mine(),), svc=svc)

    argv = (desk.world.root / "argv").read_text()
    assert argv.count("--mcp-config") == 2
    assert svc["token"] not in argv


@pytest.mark.slow
def test_a_server_that_no_tool_of_the_turn_is_of_is_not_started(desk):
    records = played(desk, (NOTE, {"text": "x"}), tools=["Read"], servers=(mine(),))

    assert results(records)[NOTE] == (True, f"No such tool available: {NOTE}")
    assert {record["tool"] for record in of(records, "permission")} == {NOTE}
    assert marks(desk.project) == (0, [])


@pytest.mark.slow
def test_a_server_that_does_not_start_is_one_line_of_the_chat(desk):
    records = played(desk, tools=["mcp__mine"], servers=(mine("crash"),))

    assert said(records) == ["The MCP server mine was left out: the licence has run out."]
    assert ended(records) == ("ok", None)


@pytest.mark.slow
def test_claude_code_itself_offers_and_calls_the_tools_of_both_kinds_of_server(desk):
    desk.stub.say(use(NOTE, {"text": "this"}), use(SVC, {"session_id": "x"}))
    desk.stub.when(lambda asked: bool(asked.results), Reply([text("ok")]))

    with manage({"read_chat": "told"}) as (svc, _):
        svc["ops"] = {"read_chat": {"session_id": "string"}}
        records = desk.run(tools=["mcp__mine", SVC], servers=(mine(),), svc=svc)

    told = results(records)
    assert told[NOTE] == (False, "noted this")
    assert told[SVC] == (False, "told")
    assert {NOTE, SVC} < set(desk.stub.asked[0].tools)
