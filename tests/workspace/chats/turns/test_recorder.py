"""What the records of a turn say of its calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest

from workspace.chats import transcript
from workspace.chats.turns import recorder
from workspace.engines.base import End, Job, ToolResult, ToolUse

USE = ToolUse("Bash", "call_1", {"command": "make"})


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """(moment, act), … → the ms that the result of the call has."""
    job = Job(
        turn="msg_a", chat="c", project="alpha", cwd="/", chats_dir="/", run_dir="/", worker_pid=1,
        prompt="x", message="x", sender={}, engine="runbook",
    )  # fmt: skip
    path = tmp_path / ".chats" / "c.jsonl"
    path.parent.mkdir()
    records = recorder.Recorder(transcript.Writer(str(path)), job)
    clock: SimpleNamespace = SimpleNamespace(now=0.0, time=lambda: 0.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(recorder, "time", clock)
    records.take(USE)

    def play(*acts: tuple[float, Callable[[recorder.Recorder], object]]) -> int:
        for clock.now, act in acts:
            act(records)
        lines = map(orjson.loads, path.read_bytes().splitlines())
        return next(int(one["ms"]) for one in lines if one["type"] == "tool_result")

    return play


def asked(records: recorder.Recorder) -> None:
    records.question(USE, 600)


def allowed(records: recorder.Recorder) -> None:
    records.permission(USE, "allowed", "user", None)


def done(ms: int) -> Callable[[recorder.Recorder], object]:
    return lambda records: records.take(ToolResult(USE.call, False, "", ms))


def test_what_a_person_thought_about_is_not_the_time_of_a_call(told: Callable[..., int]) -> None:
    assert told((1, asked), (71, allowed), (73, done(73_000))) == 3000


def test_nor_is_a_second_question_about_it(told: Callable[..., int]) -> None:
    assert told((1, asked), (2, allowed), (3, asked), (9, allowed), (10, done(10_000))) == 3000


def test_nor_is_what_nobody_answered_before_the_turn_was_stopped(told: Callable[..., int]) -> None:
    assert told((2, asked), (62, lambda records: records.finish(End("stopped", "user")))) == 2000
