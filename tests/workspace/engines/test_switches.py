"""A chat that changes its engine: what the others did meanwhile is told to the one that returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import World
from tests.workspace.engines.conformance.drivers import ALL, Driver, Say, driving
from workspace import ids
from workspace.engines import history

pytestmark = pytest.mark.timeout(180)
BOOK = '#!runbook\nRUNBOOKWORD\n```TodoWrite\n{"todos": []}\n```\n'
Record = dict[str, Any]
Talk = Callable[..., list[Record]]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Callable[[str, str, str], list[Record]]]:
    """(engine, message, answer) -> the records of that turn, all in one chat."""
    world = World(tmp_path / "world")
    drivers: dict[str, Driver] = {}
    with ExitStack() as stack:

        def say(engine: str, message: str, answer: str = "ok") -> list[Record]:
            if ALL[engine].missing():
                pytest.skip(str(ALL[engine].missing()))
            if engine not in drivers:
                drivers[engine] = stack.enter_context(driving(engine, tmp_path / engine))
                drivers[engine].world = world
            driver = drivers[engine]
            if engine == "runbook":
                return world.run(message)
            driver.expect(Say(answer))
            own = {"engine_ref": ref(world, engine)}
            records = driver.run(message, **own)
            assert records[-1]["status"] == "ok", records
            return records

        say.drivers = drivers  # type: ignore[attr-defined]
        say.world = world  # type: ignore[attr-defined]
        yield say


def ref(world: World, engine: str) -> Any:
    """What that engine last said of itself, as the worker keeps it for each."""
    said = [one for one in world.records() if one["type"] == "engine" and one["engine"] == engine]
    return next((one["state"] for one in reversed(said) if "state" in one), None)


def told(talk: Any, engine: str) -> str:
    found: str = talk.drivers[engine].told()
    return found


def said(records: list[Record]) -> list[str]:
    return [one["text"] for one in records if one.get("code") == "engine_told"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["claude", "builtin", "acp"])
def test_an_engine_that_comes_back_is_told_what_the_others_did(talk: Any, engine: str):
    other = "builtin" if engine == "claude" else "claude"
    talk(engine, "MINE", "first")
    talk(other, "THEIRS", "ANSWER OF THEIRS")
    talk("runbook", BOOK)

    records = talk(engine, "BACK", "second")

    words = told(talk, engine)
    missed = words.partition(history.SINCE)[2].partition("BACK")[0]
    assert words.count(history.HEAD) == 1
    assert missed.splitlines()[1:4] == [
        "user: THEIRS",
        "assistant: ANSWER OF THEIRS",
        "user: #!runbook",
    ]
    assert "assistant: RUNBOOKWORD" in missed
    assert "MINE" not in missed
    assert said(records) == [
        f"What happened in this chat since the last turn of {engine} was given to it as text: "
        f"2 turns of {other}, runbook."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["claude", "builtin", "acp"])
def test_what_was_told_is_not_told_again(talk: Any, engine: str):
    talk(engine, "MINE")
    talk("runbook", BOOK)
    talk(engine, "BACK")

    records = talk(engine, "ON")

    assert told(talk, engine).count("assistant: RUNBOOKWORD") == 1
    assert said(records) == []


@pytest.mark.slow
def test_two_engines_that_take_turns_each_know_all_of_it_once(talk: Any):
    """local, claude, local, claude, runbook, local: as a person does it."""
    talk("builtin", "first local")
    talk("claude", "now claude")
    talk("builtin", "local again")
    talk("claude", "claude again")
    talk("runbook", BOOK)
    talk("builtin", "what did the runbook say?")

    for engine in ("builtin", "claude"):
        words = told(talk, engine)
        for message in ("first local", "now claude", "local again", "claude again"):
            assert words.count(message) == 1, (engine, message)
    assert told(talk, "builtin").count("assistant: RUNBOOKWORD") == 1


@pytest.mark.slow
def test_a_message_that_nothing_ran_is_not_told(talk: Any):
    talk("builtin", "MINE")
    world = talk.world
    world.run("NOBODY", engine=None, refusal="no model is set up")

    records = talk("builtin", "BACK")

    assert "NOBODY" not in told(talk, "builtin")
    assert said(records) == []


@pytest.mark.slow
def test_a_fork_is_told_what_another_engine_did_before_its_point(talk: Any):
    talk("claude", "MINE")
    talk("builtin", "THEIRS")
    world = talk.world
    data = world.transcript.read_bytes()
    world.chat = ids.session_id()
    world.transcript.write_bytes(data)

    records = talk("claude", "FORKED")

    assert "user: THEIRS" in told(talk, "claude")
    assert len(said(records)) == 1
