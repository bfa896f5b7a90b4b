"""Ends of turns that a person meets: a full disk, a late answer, no engine, an early stop."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, connections

from config.errors import Conflict, translate
from tests.workspace.chats.world import FORK, World, ended, serve, sleeps
from workspace.chats.turns import answers, jobs, queue, recovery, worker
from workspace.engines import procs
from workspace.models import Turn


def test_a_turn_whose_disk_is_full_fails_in_the_queue_and_the_next_one_heals_the_chat(
    world: World, small_disk: Path
):
    long = "x" * 5000
    chat = world.chat().chat.id
    full = world.send(chat, "#!runbook\n" + f"{long}\n```Bash\ntrue\n```\n" * 9).turn

    done = world.run(full.id)

    assert (done.state, done.reason) == (
        "failed", "the transcript could not be written: the disk is full or read-only",
    )  # fmt: skip
    assert "turn_end" not in [record["type"] for record in world.records(chat)]
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True)
    assert world.run(world.send(chat).turn.id).state == "done"
    records = world.records(chat)
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))


def test_a_clock_that_was_ahead_holds_no_turn_until_its_time_comes(world: World):
    now, ahead = datetime.now(UTC), datetime.now(UTC) + timedelta(days=1)
    running, waiting = (world.send(world.chat().chat.id).turn.id for _ in range(2))
    Turn.objects.filter(id=waiting).update(delivered=ahead)
    row = Turn.objects.filter(id=running)
    row.update(state="running", claim="another", lease_until=now + timedelta(seconds=20))

    assert recovery.sweep() == 0
    row.update(lease_until=ahead)

    assert recovery.sweep() == 1
    assert row.get().state == "interrupted"
    assert not Turn.objects.filter(id=waiting, delivered=ahead).exists()


@pytest.mark.parametrize("goes", ["at the claim", "behind it"])
def test_a_database_that_goes_while_a_turn_begins_leaves_it_in_the_queue(
    world: World, monkeypatch, goes: str
):
    turn = world.send(world.chat().chat.id).turn
    place, name = (worker, "claim") if goes == "at the claim" else (jobs, "job_for")
    step = getattr(place, name)

    def gone(*args, **more):
        step(*args, **more)
        raise OperationalError("terminating connection due to administrator command")

    with monkeypatch.context() as patched:
        patched.setattr(place, name, gone)
        left = world.run(turn.id)

    assert (left.state, left.claim, left.lease_until) == ("queued", "", None)
    assert world.records(turn.chat, "turn_start") == []
    assert world.run(turn.id).state == "done"


def test_an_answer_after_the_turn_ran_out_of_time_is_not_pending(world: World, monkeypatch):
    job_for = jobs.job_for
    monkeypatch.setattr(
        jobs,
        "job_for",
        lambda turn, **more: job_for(turn, **more)._replace(turn_seconds=1),
    )
    world.write("name: Alpha\npermissionMode: default\n")
    chat = world.chat().chat.id
    turn = world.send(chat, "#!runbook\n```Bash\ntouch ran\n```\n").turn

    assert world.run(turn.id).state == "failed"

    asked = world.records(chat, "permission")[0]
    assert asked["state"] == "asked"
    assert world.records(chat, "turn_end")[0]["status"] == "timeout"
    with pytest.raises(Conflict) as late:
        answers.answer(project=world.project, chat=chat, call=asked["call"], allow=True)
    assert late.value.code == "not_pending"
    assert not (world.folder / "alpha" / "ran").exists()


def test_a_stop_at_the_claim_leaves_no_process_and_no_step_done(world: World):
    chat = world.chat().chat.id
    turn = world.send(chat, "#!runbook\n```Bash\nsleep 5; touch ran; sleep 60\n```\n").turn
    process = world.work(turn.id)
    world.until_state(turn.id, "running")

    assert queue.stop(project=world.project, chat=chat)

    assert world.states(chat) == ["stopped"]
    ended(process)
    assert turn.id not in procs.pids_by_turn(str(jobs.run_root()))
    assert not (world.folder / "alpha" / "ran").exists()
    kinds = [record["type"] for record in world.records(chat)]
    assert (kinds[:2], kinds[-1]) == (["turn_start", "user"], "turn_end")


def test_a_second_delivery_of_a_turn_whose_worker_is_lost_kills_what_it_left_and_settles_it(
    world: World,
):
    chat = world.chat().chat.id
    turn = world.send(chat, sleeps()).turn
    assert worker.claim(turn.id, "digest") is not None
    Turn.objects.filter(id=turn.id).update(lease_until=None)
    tagged = {procs.TAG: turn.id, "TMPDIR": str(jobs.run_dir(turn.id) / "tmp")}
    left = subprocess.Popen(["sleep", "60"], env=os.environ | tagged, start_new_session=True)

    settled = world.run(turn.id)

    assert left.wait(10) == -signal.SIGKILL
    assert (settled.state, settled.token_hash) == ("interrupted", "")
    assert [record["reason"] for record in world.records(chat, "turn_end")] == ["worker_lost"]


def test_text_waits_for_an_engine_while_the_projects_runbooks_run(world: World):
    chat = world.chat().chat.id
    words = world.send(chat, "Say hello\n").turn
    assert world.run(words.id).state == "failed"
    assert world.records(chat, "turn_end")[0]["status"] == "needs_engine"

    fired = world.fired()
    assert world.run(fired.id).state == "done"

    world.write("name: Alpha\npermissionMode: bypassPermissions\nengine: runbook\n")
    again = world.send(chat, "Say hello\n\n```Bash\ntouch ran\n```\n").turn
    assert world.run(again.id).state == "done"
    assert (world.folder / "alpha" / "ran").exists()


def test_an_empty_list_of_tools_reaches_the_engine_as_an_empty_list(world: World):
    event = {"name": "onArchive", "chat": "c", "project": "alpha"}
    row = world.fired("#!runbook\n```Glob pattern=*\n```\n", tools=[], event=event)

    assert jobs.job_for(Turn.objects.get(id=row.id)).tools == []
    assert world.run(row.id).state == "failed"

    assert world.records(row.chat, "turn_start")[0]["tools"] == []
    assert world.records(row.chat, "tool_result")[0]["text"] == "No such tool available: Glob"


@pytest.mark.slow
def test_twenty_messages_at_once_to_an_idle_chat_run_one_after_the_other_on_two_workers(
    world: World,
):
    chat = world.chat().chat.id
    places: list[int] = []
    slow = "#!runbook\n```Bash\nuntil test -e go; do sleep 0.01; done\n```\n"
    everything_sent = FORK.Event()
    workers = [world._fork(serve, everything_sent) for _ in range(2)]

    def send() -> None:
        places.append(world.send(chat, slow).position)
        connections.close_all()

    senders = [threading.Thread(target=send) for _ in range(20)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(30)
    assert sorted(places) == list(range(20))
    assert world.states(chat).count("running") <= 1

    (world.folder / "alpha" / "go").touch()
    everything_sent.set()
    for one in workers:
        ended(one)

    assert world.states(chat) == ["done"] * 20
    turns = list(Turn.objects.filter(chat=chat).order_by("id").values_list("id", flat=True))
    said = [(r["type"], r["turn"]) for r in world.records(chat) if r["type"].startswith("turn_")]
    assert said == [(kind, turn) for turn in turns for kind in ("turn_start", "turn_end")]


def without_room(full: Callable[[], bool]) -> AbstractContextManager[None]:
    """The database refuses every write of this thread, and of workers made here, while `full`."""

    def write(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        if full() and not sql.lstrip().startswith("SELECT"):
            raise OperationalError("database or disk is full")
        return execute(sql, *more)

    return connection.execute_wrapper(write)


def test_a_stop_needs_no_room_in_the_database(world: World, tmp_path: Path):
    chat, full = world.chat().chat.id, tmp_path / "full"

    with without_room(full.exists):
        turn, behind = world.send(chat, sleeps()).turn, world.send(chat).turn
        work = world.work(turn.id)
        world.until_record(chat, "tool_use")
        full.touch()

        assert queue.stop(project=world.project, chat=chat)
        assert procs.pids_by_turn(str(jobs.run_root())).get(turn.id) is None
        assert world.records(chat, "turn_end")[0]["status"] == "stopped"
        full.unlink()

    ended(work)
    assert Turn.objects.get(id=turn.id).state == "stopped"
    assert Turn.objects.get(id=behind.id).state == "held"


def test_a_stop_that_reaches_no_worker_names_the_full_disk(world: World):
    chat = world.chat("hi").chat.id

    with without_room(lambda: True), pytest.raises(OperationalError) as refused:
        queue.stop(project=world.project, chat=chat)

    assert translate(refused.value).text.startswith("The disk of the database is full")
