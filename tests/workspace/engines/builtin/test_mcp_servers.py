"""Servers of tools that people give to agents: real programs, started for a turn of a model."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.stubs.openai import text, use
from tests.workspace.chats.turns.world import until
from tests.workspace.engines.builtin.talk import end, of, result
from tests.workspace.engines.manage import manage
from tests.workspace.engines.test_sandbox import failing_once, inside
from tests.workspace.engines.tool_servers import BWRAP, NOTE, brought, marks, mine, said
from workspace.engines.mcp.server import Server
from workspace.engines.network import Network
from workspace.engines.sandbox import Sandbox


@pytest.mark.slow
def test_a_tool_of_a_server_is_offered_and_answers(talk, stub, world):
    stub.say(use(NOTE, {"text": "this"}))
    stub.say(text("ok"))

    records = talk.run(servers=(mine(),))

    assert stub.asked[0].schemas[NOTE]["required"] == ["text"]
    assert result(records) == (False, "noted this")
    assert of(records, "tool_use")[0]["target"] == '{"text": "this"}'
    assert marks(world.project) == (1, ["note"])
    assert end(records) == ("ok", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("crash", "the licence has run out"),
        ("garbage", "it does not speak the protocol: '<html>hello</html>'"),
        ("flood", "it sent a message of over 16777216 bytes"),
        ("silent", "it did not answer within 1 s (startSeconds)"),
    ],
)
def test_a_server_that_fails_is_one_line_of_a_turn_that_goes_on(talk, stub, way, reason):
    stub.say(text("ok"))

    seconds = 1 if way == "silent" else 20
    bad = mine(way, name="bad", start_seconds=seconds)
    records = talk.run(servers=(bad, mine()))

    told = said(records)
    assert told == [f"The MCP server bad was left out: {reason}."]
    assert NOTE in stub.asked[0].tools
    assert end(records) == ("ok", None)


@pytest.mark.slow
def test_a_call_that_hangs_ends_at_its_time_and_the_next_one_works(talk, stub):
    stub.say(use("mcp__mine__hang", {}), use("mcp__mine__fail", {}))
    stub.say(text("ok"))

    records = talk.run(servers=(mine(call_seconds=1),))

    first, second = of(records, "tool_result")
    limit = "did not answer within 1 s (callSeconds of its server)"
    assert (first["is_error"], first["text"]) == (True, f"mcp__mine__hang {limit}")
    assert second["is_error"]
    assert end(records) == ("ok", None)


@pytest.mark.slow
def test_a_person_who_attends_is_asked_about_a_call(talk, stub, world):
    stub.say(use(NOTE, {"text": "one"}), use(NOTE, {"text": "two"}))
    stub.say(text("ok"))
    running = talk.start(servers=(mine(),), mode="acceptEdits", attended=True)
    for number, allow in ((1, False), (2, True)):
        found = running.until(lambda seen, n=number: len(asked(seen)) == n)
        running.send({"type": "answer", "call": asked(found)[-1]["call"], "allow": allow})

    assert running.end()[0] == 0

    texts = [record["text"] for record in of(world.records(), "tool_result")]
    assert texts == [f"{NOTE} was denied by the user", "noted two"]
    assert marks(world.project) == (1, ["note"])


def asked(records) -> list[dict[str, Any]]:
    return [record for record in of(records, "permission") if record["state"] == "asked"]


def test_stop_ends_a_call_that_hangs_and_the_server(talk, stub, world):
    stub.say(use("mcp__mine__hang", {}))
    running = talk.start(servers=(mine(),))
    until(lambda: marks(world.project)[1], lambda called: called == ["hang"])

    running.stop()

    assert running.end()[0] == 0
    assert end(world.records()) == ("stopped", "user")
    assert not alive(world)


@pytest.mark.slow
@inside
def test_a_socket_that_goes_away_while_the_sandbox_starts_costs_no_server(
    talk, stub, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", failing_once(tmp_path))
    stub.say(text("ok"))

    records = talk.run(servers=(mine(),), sandbox=Sandbox("bwrap"))

    assert (tmp_path / "tried").exists()
    assert said(records) == []
    assert NOTE in stub.asked[0].tools


# Killed without a sandbox it is found by its tag: tests/workspace/chats/turns/test_worker.py.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "killed"), [("off", False), ("bwrap", False), ("bwrap", True)], ids=str
)
def test_no_process_of_a_server_outlives_its_turn(talk, stub, world, mode, killed):
    if mode == "bwrap" and BWRAP.mode != "bwrap":
        pytest.skip("bubblewrap does not work here")
    stub.say(use("mcp__mine__leave", {}))
    stub.say(*([use("mcp__mine__hang", {})] if killed else [text("ok")]))

    running = talk.start(servers=(mine(),), sandbox=Sandbox(mode))
    if killed:
        until(lambda: marks(world.project)[1], lambda called: called == ["leave", "hang"])
        assert running.child.pid
        inside = tagged(running.job.turn)
        assert inside
        running.child.kill()
    running.end()

    until(lambda: tagged(running.job.turn), lambda found: not found)


@pytest.mark.slow
def test_answers_names_and_descriptions_of_a_server_are_bounded(talk, stub):
    stub.say(use("mcp__mine__big", {}))
    stub.say(text("ok"))

    records = talk.run(servers=(mine("odd"),))

    told = said(records)
    assert len(told) == 1
    assert "'' (it has no name)" in told[0]
    assert "'a_b' (its name becomes mcp__mine__a_b, as that of another tool does)" in told[0]
    assert {"mcp__mine__a_b", "mcp__mine__" + "x" * 53} < set(stub.asked[0].tools)
    sent = stub.asked[0].body["tools"]
    words = next(t for t in sent if t["function"]["name"] == "mcp__mine__a_b")
    assert words["function"]["description"] == "y" * 2000
    assert next(iter(stub.asked[1].results.values()))[1].endswith("[200000 characters left out]")


@pytest.mark.slow
def test_a_server_sees_the_variables_it_is_given_and_no_command_does(talk, stub):
    stub.say(use("mcp__mine__env", {"text": "KEY_OF_MINE"}), use("Bash", {"command": "env"}))
    stub.say(text("ok"))

    given = mine(env={"KEY_OF_MINE": "value-0123456789"})
    records = talk.run(servers=(given,), sandbox=BWRAP)

    first, second = of(records, "tool_result")
    assert first["text"] == "value-0123456789"
    assert "KEY_OF_MINE" not in second["text"]


@pytest.mark.slow
def test_no_variable_of_a_server_acts_on_what_starts_its_sandbox(talk, stub, world):
    if BWRAP.mode != "bwrap":
        pytest.skip("bubblewrap does not work here")
    own = world.project / "bin"
    own.mkdir()
    (own / "bwrap").write_text(f"#!/bin/sh\ntouch {world.root}/escaped\n")
    (own / "bwrap").chmod(0o700)
    stub.say(use("mcp__mine__env", {"text": "PATH"}))
    stub.say(text("ok"))

    program = ("python3", brought(world.project))
    strange = mine(ours=False, expands=True, env={"PATH": f"{own}:${{PATH}}"}, command=program)
    records = talk.run(servers=(strange,), sandbox=BWRAP)

    failed, told = result(records)
    assert (failed, told.endswith(f"{own}:{os.environ['PATH']}")) == (False, True)
    assert not (world.root / "escaped").exists()


@pytest.mark.slow
def test_variables_in_a_servers_own_file_are_those_of_the_turn(talk, stub, world):
    stub.say(use("mcp__mine__env", {"text": "WHERE"}))
    stub.say(text("ok"))

    reads = mine(env={"WHERE": "${HOME}/${NONE:-of it}"}, expands=True)
    lacks = mine(name="other", env={"X": "${SECRET_OF_THE_SERVICE}"}, expands=True)
    records = talk.run(servers=(reads, lacks))

    assert result(records) == (False, f"{world.home}/of it")
    told = said(records)[0]
    assert "needs the variable SECRET_OF_THE_SERVICE, which turns here do not have" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("closed", "127.0.0.1:{port} is on this machine: open it with network.hostPorts: [{port}]"),
        ("own", "127.0.0.1:{port} is this service: no turn reaches it"),
        ("denied", "127.0.0.1 is denied by network.deny"),
        ("open", None),
    ],
)
def test_a_server_at_a_url_is_reached_as_far_as_the_network_allows(talk, stub, way, reason):
    with manage({"ask": "told"}) as (svc, calls):
        port = int(svc["url"].split(":")[2].split("/")[0])
        far = Server("far", url=svc["url"], headers={"Authorization": f"Bearer {svc['token']}"})
        ports = () if way == "closed" else (port,)
        own, deny = ((port,), ()) if way == "own" else ((), ("127.0.0.0/8",))
        deny = deny if way == "denied" else ()
        stub.say(use("mcp__far__ask", {"given": "x"}))
        stub.say(text("ok"))

        records = talk.run(
            servers=(far,),
            network=Network(ports=ports, deny=deny, own=own),
            secrets=(svc["token"],),
        )

    heard = [call for call in calls if call[0] != "GET"]  # others look at every port
    if reason is None:
        assert result(records) == (False, "told")
        assert heard == [("ask", {"given": "x"})]
        assert said(records) == []
    else:
        left_out = f"The MCP server far was left out: {reason.format(port=port)}."
        assert said(records) == [left_out]
        assert heard == []
    hosts = [{"host": "127.0.0.1", "port": port, "refused": reason is not None}]
    assert records[-1]["hosts"] == hosts


@pytest.mark.slow
def test_what_became_of_each_server_is_remembered(talk, stub, world):
    stub.say(text("ok"))
    seen = world.root / "state" / "alpha.json"

    talk.run(servers=(mine(), mine("crash", name="bad")), servers_seen=str(seen))

    kept = json.loads(seen.read_text())
    assert kept["bad"]["error"] == "the licence has run out"
    assert (kept["mine"]["error"], kept["mine"]["tools"][0]) == (None, "note")


def tagged(turn: str) -> list[int]:
    """Processes of a turn that still run, but for the turn process itself."""
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("SVC_TURN_ID") == turn
            if ours and "workspace.chats.turns.process" not in process.cmdline():
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def alive(world) -> list[int]:
    pids = [int(pid) for pid in (world.project / "started").read_text().split()]
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and pid != os.getpid()]
