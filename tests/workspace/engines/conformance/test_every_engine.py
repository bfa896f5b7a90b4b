"""What holds on every engine.

A row that an engine's flags deny asserts its refusal instead, or says why there is nothing to
assert.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.promises.rings import few
from tests.workspace.chats.turns.world import only, until
from tests.workspace.engines.conformance.drivers import ALL, Driver, Say, Use, driving
from tests.workspace.engines.manage import manage
from workspace.engines import procs, select

READ_CHAT = "mcp__svc_manage__read_chat"
LIST_THREADS = "mcp__svc_review__list_threads"
pytestmark = pytest.mark.timeout(180)
Record = dict[str, Any]
# The engine whose tools are ours, and in the whole ring all: what is ours is the same for each.
ours_first = pytest.mark.parametrize(
    "driver", few(sorted(ALL, key="builtin".__ne__), 1), indirect=True
)


@pytest.fixture(params=ALL)
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    missing = ALL[request.param].missing()
    if missing:
        pytest.skip(missing)
    with driving(request.param, tmp_path) as made:
        yield made


def flags(driver: Driver) -> dict[str, Any]:
    """What GET /api/engines says of the engine."""
    rows = select.engines_listing()["engines"]
    found: dict[str, Any] = next(row for row in rows if row["name"] == driver.name)
    return found


def end(records: list[Record]) -> tuple[str, str | None]:
    return records[-1]["status"], records[-1]["reason"]


def said(records: list[Record]) -> list[str]:
    return [record["text"] for record in records if record["type"] == "assistant"]


def refused_instead(driver: Driver, why: str, **fields: Any) -> bool:
    """Whether the engine cannot hold this; then it says so and starts nothing."""
    if flags(driver)["allowListEnforced"]:
        return False
    records = driver.run(**fields)
    assert end(records) == ("error", "refused")
    assert why in records[-1]["text"]
    assert not (driver.world.project / "ran").exists()
    return True


def test_text_is_a_record_and_the_turn_completes(driver):
    driver.expect(Say("All is well."))
    records = driver.run()
    assert [words.strip() for words in said(records)] == ["All is well."]
    start = records[0]
    assert (start["type"], start["engine"]) == ("turn_start", driver.name)
    assert end(records) == ("ok", None)


@ours_first
def test_a_tool_runs_between_its_call_and_its_result(driver):
    driver.expect(Use("Bash", {"command": "echo out > ran; echo seen"}), Say("Done."))
    records = driver.run()
    call, result = only(records, "tool_use"), only(records, "tool_result")
    assert (call["tool"], call["call"]) == ("Bash", result["call"])
    assert (result["is_error"], "seen" in result["text"]) == (False, True)
    assert (driver.world.project / "ran").read_text() == "out\n"
    assert end(records) == ("ok", None)


def test_an_unlisted_tool_is_denied_and_recorded(driver):
    driver.expect(Use("Bash", {"command": "touch ran"}), Say("Well."))
    if refused_instead(driver, "cannot enforce a tool list", tools=["Read"]):
        return
    records = driver.run(tools=["Read"])
    result = only(records, "tool_result")
    assert (only(records, "tool_use")["tool"], result["is_error"]) == ("Bash", True)
    assert "No such tool available: Bash" in result["text"]
    assert not (driver.world.project / "ran").exists()
    assert end(records) == ("ok", None)


@pytest.mark.slow
def test_an_empty_list_offers_no_tool(driver):
    driver.expect(Use("Bash", {"command": "touch ran"}), Say("Well."))
    if refused_instead(driver, "cannot enforce a tool list", tools=[]):
        return
    records = driver.run(tools=[])
    assert driver.offered() == []
    assert only(records, "tool_result")["is_error"]
    assert not (driver.world.project / "ran").exists()


@ours_first
def test_plan_mode_changes_nothing(driver):
    driver.expect(Use("Write", {"file_path": "ran", "content": "x"}), Say("I would write."))
    if refused_instead(driver, "plan mode", mode="plan", attended=True):
        return
    records = driver.run(mode="plan", attended=True)
    assert only(records, "tool_result")["is_error"]
    assert not (driver.world.project / "ran").exists()


@ours_first
def test_a_turn_stops_at_its_bound(driver):
    if not flags(driver)["maxTurnsEnforced"]:
        pytest.skip("its flags say that it holds no bound")
    driver.expect(*(Use("Bash", {"command": f"echo {n} >> ran"}) for n in range(3)))
    records = driver.run(max_turns=2)
    assert (end(records), records[-1]["turns"]) == (("max_turns", "max_turns"), 2)
    assert "2" not in (driver.world.project / "ran").read_text()


@ours_first
def test_a_stop_during_text_keeps_what_was_said(driver):
    if not driver.streams:
        pytest.skip("its text is there at once")
    driver.expect(Say("It was a dark and stormy night", held=True))
    running = driver.start()
    live = driver.world.transcript.with_suffix(".live")
    until(lambda: live.exists() and "dark" in live.read_text(), bool)
    running.stop()
    assert running.end()[0] == 0
    assert said(driver.world.records()) == ["It was a dark an"]
    assert end(driver.world.records()) == ("stopped", "user")


def test_a_stop_during_a_command_leaves_no_process(driver):
    driver.expect(Use("Bash", {"command": "setsid sleep 600 & echo > begun; sleep 600"}), Say("x"))
    running = driver.start()
    until((driver.world.project / "begun").exists, bool)
    running.stop()
    assert running.end()[0] == 0
    records = driver.world.records()
    assert (only(records, "tool_result")["is_error"], end(records)) == (True, ("stopped", "user"))
    assert procs.pids_by_turn(str(driver.world.root)) == {}


@pytest.mark.slow
def test_the_next_turn_knows_the_one_before(driver):
    driver.expect(Say("Noted."))
    driver.run("The word is plum.")
    driver.expect(Say("Plum."))
    records = driver.run("Which word?")
    assert end(records) == ("ok", None)
    if driver.remembers:
        told = driver.told()
        assert told.index("plum") < told.index("Which word?")


@ours_first
def test_a_fork_knows_its_source_and_leaves_it_alone(driver):
    driver.expect(Say("Noted."))
    driver.run("The word is plum.")
    source = driver.world.transcript
    before = source.read_bytes()
    driver.fork()
    driver.expect(Say("Plum."))
    records = driver.run("Which word?")
    assert end(records) == ("ok", None)
    assert source.read_bytes() == before
    if driver.remembers:
        told = driver.told()
        assert told.index("plum") < told.index("Which word?")


def test_an_operation_of_the_service_is_called(driver):
    driver.expect(Use(READ_CHAT, {"session_id": "x"}), Say("Read."))
    with manage({"read_chat": "what was said"}) as (svc, calls):
        svc["ops"] = {"read_chat": {"session_id": "string"}}
        records = driver.run(svc=svc)
    assert calls == [("read_chat", {"session_id": "x"})]
    assert end(records) == ("ok", None)


@pytest.mark.slow
def test_an_operation_of_another_part_is_called_at_its_own_address(driver):
    driver.expect(Use(LIST_THREADS, {"state": "open"}), Say("Read."))
    with manage({"list_threads": "two threads"}) as (svc, calls):
        svc["ops"] = {}
        arguments = {"state": "string"}
        svc["parts"] = {"review": {"list_threads": {"kind": "R", "arguments": arguments}}}
        records = driver.run(svc=svc)
    assert calls == [("list_threads", {"state": "open"})]
    assert end(records) == ("ok", None)


def test_a_failure_of_the_other_side_is_never_a_success(driver):
    driver.refuse()
    records = driver.run()
    assert end(records) == driver.failure
    assert records[-1]["text"]
