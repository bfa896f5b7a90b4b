"""Engines on an event loop, in real turn processes: questions, stops, crashes, streamed text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from tests.workspace.chats.turns.world import BASE, Running, World, kinds, only
from workspace.engines import procs
from workspace.engines.base import Job

PLAY = """\
import asyncio, os, subprocess, sys, time
from workspace.chats.turns import process
from workspace.engines import looped, runbook
from workspace.engines.base import End, Notice, State, Text, ToolResult, ToolUse

class Player:
    name, looped = "runbook", True
    def preflight(self, job):
        return None
    async def run(self, job, io):
{body}

runbook.ENGINE = Player()
os._exit(process.main(sys.argv))  # as the turn process ends
"""
SPEAK = 'io.delta("b1", "text", "Half of "); io.delta("b1", "text", "it")\n'
WAIT = "await asyncio.sleep(600)\n"
IN = 'def enter(): open(job.cwd + "/in", "w").close()\n'
ASK = (
    'yield ToolUse("Bash", "c1", {"command": "x"})\n'
    'denied = await io.gate("Bash", {"command": "x"}, "c1")\n'
    'yield ToolResult("c1", denied is not None, denied or "ran", 1)\n'
)
ASKING = {"mode": "default", "attended": True}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def play(world: World, body: str, **fields: object) -> Running:
    """A turn whose engine is this body of an asynchronous generator."""
    script = world.root / "play.py"
    script.write_text(PLAY.format(body=indent(body + "yield End('ok', turns=1)\n", " " * 8)))
    job: Job = world.job("Go", **fields)
    child = subprocess.Popen(
        [sys.executable, str(script), job.chat, job.turn],
        env=world.environ(job) | {"PYTHONPATH": str(BASE)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    running = Running(world, job, child)
    running.send(job.to_json())
    return running


def ended(running: Running) -> list[dict[str, object]]:
    code, log = running.end()
    assert code == 0, log
    return running.world.records()


def live(world: World) -> str:
    """The text that a watcher of the chat has so far."""
    path = world.transcript.with_suffix(".live")
    lines = path.read_text().splitlines() if path.exists() else []
    return "".join(json.loads(line)["s"] for line in lines)


def test_events_become_records_and_text_that_was_streamed_is_not_told_twice(world):
    body = SPEAK + 'yield Text("Half of it, then all.", "b1")\nyield State({"session": "s1"})\n'

    records = ended(play(world, body, mode="default"))

    assert kinds(records) == ["turn_start", "user", "assistant", "engine", "turn_end"]
    assert only(records, "assistant")["text"] == "Half of it, then all."
    assert only(records, "engine")["state"] == {"session": "s1"}


def test_streamed_text_is_seen_before_the_engine_says_more(world):
    running = play(world, SPEAK + WAIT)
    running.until(lambda records: live(world) == "Half of it")
    running.stop()
    ended(running)


@pytest.mark.parametrize(
    ("reason", "status"),
    [("user", "stopped"), ("timeout", "timeout"), ("shutdown", "interrupted")],
)
def test_stop_keeps_what_was_said_closes_calls_and_kills_what_runs(world, reason, status):
    sleeper = 'subprocess.Popen(["setsid", "sleep", "600"], start_new_session=True)\n'
    use = 'yield ToolUse("Bash", "c1", {})\n'
    running = play(world, SPEAK + use + sleeper + WAIT)
    running.until(lambda records: "tool_use" in kinds(records))

    running.stop(reason)
    records = ended(running)

    said = only(records, "assistant")
    assert (said["text"], said["partial"]) == ("Half of it", True)
    assert only(records, "tool_result")["text"] == "stopped"
    assert records[-1]["status"] == status
    assert procs.pids_by_turn(str(world.root)) == {}


def stopped_inside(world: World, body: str, *, signalled: bool = True) -> str:
    """The status of a turn that is stopped once its body has made the file "in"."""
    running = play(world, IN + body)
    running.until(lambda records: (world.project / "in").exists())
    running.stop(signalled=signalled)
    return str(ended(running)[-1]["status"])


def test_a_stop_while_one_of_our_tools_works_ends_the_turn(world):
    works = "with io.stoppable():\n    enter(); time.sleep(600)\n"

    assert stopped_inside(world, works, signalled=False) == "stopped"


def test_an_engine_that_waits_for_its_child_to_end_need_not_wait(world):
    waiting = (
        "child = await asyncio.create_subprocess_exec('sleep', '600')\n"
        "enter()\n"
        "try:\n    await asyncio.sleep(600)\n"
        'finally:\n    await child.wait(); open(job.cwd + "/closed", "w").close()\n'
    )

    assert stopped_inside(world, waiting) == "stopped"
    assert (world.project / "closed").exists()


def test_an_engine_that_does_not_close_is_left_behind(world):
    stubborn = (
        "enter()\ntry:\n    await asyncio.sleep(600)\nfinally:\n    await asyncio.sleep(600)\n"
    )

    assert stopped_inside(world, stubborn) == "stopped"


def test_a_stop_that_makes_the_engine_fail_is_still_a_stop(world):
    failing = (
        "enter()\n"
        "try:\n    await asyncio.sleep(600)\n"
        'except asyncio.CancelledError:\n    raise BaseExceptionGroup("x", [OSError("gone")])\n'
    )

    assert stopped_inside(world, failing) == "stopped"


def test_the_end_of_the_turns_time_ends_it(world):
    assert ended(play(world, WAIT, turn_seconds=1))[-1]["status"] == "timeout"


def test_a_worker_that_closes_the_channel_is_lost(world):
    running = play(world, 'yield Notice("info", "begun", "x")\n' + WAIT)
    running.until(lambda records: "notice" in kinds(records))
    assert running.child.stdin
    running.child.stdin.close()
    assert ended(running)[-1]["reason"] == "worker_lost"


@pytest.mark.parametrize(("allow", "text"), [(True, "ran"), (False, "Bash was denied by the user")])
def test_a_person_answers_while_the_engine_goes_on(world, allow, text):
    beside = (
        "async def beside():\n"
        '    while not os.path.exists(job.cwd + "/answered"):\n'
        '        io.delta("b1", "text", "."); await asyncio.sleep(0.01)\n'
        "task = asyncio.ensure_future(beside())\n"
    )
    running = play(world, beside + ASK + "task.cancel()\n", **ASKING)
    running.until(lambda records: "permission" in kinds(records))
    before = len(live(world))
    running.until(lambda records: len(live(world)) > before)

    running.send({"type": "answer", "call": "c1", "allow": allow})
    records = ended(running)

    assert only(records, "tool_result")["text"] == text
    states = [one["state"] for one in records if one["type"] == "permission"]
    assert states == ["asked", "allowed" if allow else "denied"]


def test_a_question_nobody_answers_is_denied_and_the_turn_goes_on(world):
    records = ended(play(world, ASK, **ASKING, ask_seconds=1))

    assert only(records, "tool_result")["text"] == "nobody answered within 1 s"
    assert records[-1]["status"] == "ok"


def test_a_stop_while_a_question_waits_ends_the_turn(world):
    running = play(world, ASK, **ASKING)
    running.until(lambda records: "permission" in kinds(records))
    running.stop()
    records = ended(running)
    assert (records[-1]["status"], only(records, "tool_result")["text"]) == ("stopped", "stopped")


def test_a_gate_that_raises_denies(world):
    broken = "looped._Performance._ask = None\nio.turn.judge = lambda use: 1 / 0\n"
    records = ended(play(world, broken + ASK))
    assert only(records, "tool_result")["text"] == "Bash was denied: the permission check failed"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("raise OSError('gone')\n", "The engine failed: OSError: gone"),
        ("return\n", "The engine ended without a word."),
    ],
)
def test_an_engine_that_fails_or_ends_without_a_word_is_a_crash(world, body, text):
    records = ended(play(world, SPEAK + body))

    assert (records[-1]["status"], records[-1]["reason"]) == ("error", "engine_crashed")
    assert records[-1]["text"] == text
    assert (only(records, "assistant")["text"], only(records, "assistant")["partial"]) == (
        "Half of it",
        True,
    )


def test_a_service_call_does_not_hold_the_engine(world):
    body = (
        "call = asyncio.ensure_future(io.svc('list_chats', {}))\n"
        "await asyncio.sleep(0)\n"
        "failed, text = await call\n"
        'yield Text(text, "b1")\n'
    )
    assert only(ended(play(world, body)), "assistant")["text"] == "svc_manage is not reachable"
