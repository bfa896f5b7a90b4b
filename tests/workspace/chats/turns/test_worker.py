"""One turn from delivery to end: claimed once, watched, ended by whatever ends it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest
from django.conf import settings as django_settings

from tests.service import until
from tests.workspace.access.world import configure
from tests.workspace.chats.world import FAILS, HELLO, World, delivered, ended, sleeps
from workspace.access.policy import Scope
from workspace.chats import live, transcript
from workspace.chats.turns import jobs, queue, recovery, tokens, worker
from workspace.engines.base import AGAIN
from workspace.mcp.catalogue import REGISTRY
from workspace.models import Turn


def started(world: World, prompt: str = HELLO) -> Turn:
    turn = world.chat(prompt).turn
    assert turn is not None
    return turn


def turn_process(worker: BaseProcess) -> psutil.Process:
    """The turn process below a worker."""
    (found,) = [
        child
        for child in psutil.Process(worker.pid).children()
        if child.status() != "zombie" and "workspace.chats.turns.process" in child.cmdline()
    ]
    return found


def test_a_turn_runs_and_its_row_is_done(world: World):
    turn = started(world)

    done = world.run(turn.id)

    assert (done.state, done.reason, done.token_hash) == ("done", "", "")
    assert (world.folder / "alpha" / "hello.txt").read_text() == "hello\n"
    kinds = [record["type"] for record in world.records(turn.chat)]
    assert kinds[0] == "turn_start"
    assert kinds[-1] == "turn_end"
    assert not jobs.run_dir(turn.id).exists()


def test_delivered_to_three_workers_at_once_it_runs_once(world: World):
    turn = started(world)

    for process in [world.work(turn.id) for _ in range(3)]:
        ended(process)

    assert len(world.records(turn.chat, "turn_start")) == 1
    assert Turn.objects.get(id=turn.id).state == "done"


@pytest.mark.parametrize("state", ["held", "done", "failed", "stopped", "interrupted", "deleted"])
def test_a_delivery_of_a_row_that_does_not_wait_does_nothing(world: World, state: str):
    turn = started(world)
    Turn.objects.filter(id=turn.id).update(state=state)

    assert world.run(turn.id).state == state
    assert world.records(turn.chat) == []


def test_an_unknown_id_is_acknowledged(world: World):
    ended(world.work("msg_00000000000000000000000000"))


def test_a_later_message_waits_for_the_earlier_one(world: World):
    first = started(world)
    second = world.send(first.chat).turn

    world.run(second.id)
    assert world.states(first.chat) == ["queued", "queued"]
    world.run(first.id)
    world.run(second.id)

    assert world.states(first.chat) == ["done", "done"]


def test_plain_text_without_an_engine_fails_with_a_notice(world: World):
    turn = started(world, "Please help")

    done = world.run(turn.id)

    assert done.state == "failed"
    assert done.reason.startswith("No engine can run this message")
    assert world.records(turn.chat, "notice")[0]["code"] == "needs_engine"


def test_an_engine_of_the_project_that_is_not_known_is_the_reason(world: World):
    world.write("name: Alpha\nengine: claud\n")

    done = world.run(started(world, "Please help").id)

    assert done.state == "failed"
    assert done.reason.startswith('No engine can run this message: "claud" names no engine')


def test_what_a_client_that_is_gone_sent_runs_nothing_and_holds_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """Whatever the turn descends from it by; a scope that leaves the project out is the same."""
    configure(monkeypatch, elsewhere=Scope(projects=("beta",)), ci=Scope(allow=("*",)))
    chat = world.chat().chat.id
    rows = [
        world.send(chat, f"#!runbook\n```Bash\ntouch ran{number}\n```\n") for number in range(5)
    ]
    sent, caused, narrowed, known, _ = [row.turn for row in rows]
    row = Turn.objects.filter
    row(id=sent.id).update(client="gone")
    row(id=caused.id).update(client="ci", clients=["ci", "gone"])
    row(id=narrowed.id).update(client="elsewhere")
    row(id=known.id).update(client="ci")

    world.cluster(1)

    assert world.states(chat) == ["failed", "failed", "failed", "done", "done"]
    assert sorted(path.name for path in (world.folder / "alpha").glob("ran*")) == ["ran3", "ran4"]
    said = "Client gone caused this and may not act in this project any more"
    assert Turn.objects.get(id=sent.id).reason == f"{said}; send it yourself."
    notices = [one for one in world.records(chat, "notice") if one["code"] == "out_of_scope"]
    assert [(one["code"], one["text"].split(" caused ")[0]) for one in notices] == [
        ("out_of_scope", "Client gone"),
        ("out_of_scope", "Client gone"),
        ("out_of_scope", "Client elsewhere"),
    ]
    assert [one["text"].count("ran") for one in world.records(chat, "user")] == [1] * 5


def test_a_held_message_of_a_client_that_is_gone_is_refused_when_it_goes_on(world: World):
    chat = world.chat(FAILS).chat.id
    Turn.objects.filter(id=world.send(chat).turn.id).update(client="gone")
    world.cluster(1)
    assert world.states(chat) == ["failed", "held"]

    queue.resume(project=world.project, chat=chat)
    world.cluster(1)

    assert world.states(chat) == ["failed", "failed"]
    assert not (world.folder / "alpha" / "hello.txt").exists()


def test_a_chat_whose_writer_lock_is_held_waits_unchanged(world: World):
    turn = started(world)
    with transcript.Writer(str(world.transcript(turn.chat))):
        assert world.run(turn.id).state == "queued"

    assert world.records(turn.chat) == []
    assert world.run(turn.id).state == "done"


def test_a_turn_the_transcript_knows_already_is_not_run_again(world: World):
    turn = started(world)
    with transcript.Writer(str(world.transcript(turn.chat))) as writer:
        writer.append("turn_start", turn.id, engine="runbook")
        writer.append("user", turn.id, text="x", sender={"kind": "user"})
        writer.append("turn_end", turn.id, status="ok", reason=None, text=None)
    before = world.transcript(turn.chat).read_bytes()

    assert world.run(turn.id).state == "done"

    assert world.transcript(turn.chat).read_bytes() == before


def test_a_turn_process_that_is_killed_ends_the_turn_as_failed(world: World):
    turn = started(world, sleeps())
    process = world.work(turn.id)
    world.until_record(turn.chat, "tool_use")
    child = turn_process(process)

    child.kill()

    done = world.until_state(turn.id, "failed")
    assert "turn process" in done.reason
    assert world.records(turn.chat, "turn_end")[0]["reason"] == "engine_crashed"
    notices = world.records(turn.chat, "notice")
    (notice,) = (one for one in notices if one["level"] == "error")
    assert (notice["code"], notice["text"]) == (
        "engine_crashed", "The turn process ended without saying why.",
    )  # fmt: skip
    process.join(10)


def test_nothing_a_turn_started_outlives_it(world: World):
    mark = f"daemon-{os.getpid()}"
    daemon = f"setsid bash -c 'trap \"\" TERM; touch up; exec -a {mark} sleep 300' &"
    turn = started(
        world, f"#!runbook\n```Bash\n{daemon}\nuntil test -e up; do sleep 0.01; done\n```\n"
    )

    assert world.run(turn.id).state == "done"

    assert not [process for process in psutil.process_iter(["cmdline"])
                if mark in (process.info["cmdline"] or [])]  # fmt: skip


def test_a_turn_past_its_time_ends_as_timeout(world: World, monkeypatch):
    job_for = jobs.job_for
    monkeypatch.setattr(
        jobs, "job_for", lambda turn, **more: job_for(turn, **more)._replace(turn_seconds=1)
    )
    turn = started(world, sleeps())

    done = world.run(turn.id)

    assert done.state == "failed"
    assert world.records(turn.chat, "turn_end")[0]["status"] == "timeout"


def test_a_turn_process_that_ignores_stop_is_killed_after_its_grace(world: World, monkeypatch):
    monkeypatch.setattr(worker, "GRACE_S", 0.3)
    turn = started(world, sleeps())
    process = world.work(turn.id)
    world.until_record(turn.chat, "tool_use")
    child = turn_process(process)
    os.kill(child.pid, signal.SIGSTOP)

    Turn.objects.filter(id=turn.id).update(stop="user")

    assert world.until_state(turn.id, "stopped").reason == "stopped by a user"
    assert not psutil.pid_exists(child.pid)
    process.join(10)


def test_a_worker_that_dies_leaves_a_chat_that_the_sweep_settles(world: World):
    turn = started(world, sleeps())
    behind = world.send(turn.chat).turn
    process = world.work(turn.id)
    world.until_record(turn.chat, "tool_use")

    assert recovery.sweep() == 0
    process.kill()
    process.join(10)

    assert recovery.sweep() == 1  # also while the turn process still follows its worker
    assert world.states(turn.chat) == ["interrupted", "queued"]
    assert [record["status"] for record in world.records(turn.chat, "turn_end")] == ["interrupted"]
    world.run(behind.id)
    assert world.states(turn.chat) == ["interrupted", "done"]


def names(process: psutil.Process) -> set[str]:
    """What runs below it; a child between fork and exec still has its parent's name and files."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return {child.name() for child in process.children(recursive=True)}
    return set()


def test_worker_and_turn_process_killed_together_keep_the_message(world: World):
    turn = started(world, sleeps())
    process = world.work(turn.id)
    world.until_record(turn.chat, "tool_use")
    until(lambda: "sleep" in names(turn_process(process)), what="the step's own process")
    family = [turn_process(process), *turn_process(process).children(recursive=True)]
    for member in (psutil.Process(process.pid), *family):
        member.suspend()
    for member in (psutil.Process(process.pid), family[0]):
        member.kill()
    process.join(10)
    until(lambda: not family[0].is_running() or family[0].status() == "zombie")
    Turn.objects.filter(id=turn.id).update(lease_until=None)

    assert recovery.sweep() == 1

    assert world.states(turn.chat) == ["interrupted"]
    assert not any(member.is_running() and member.status() != "zombie" for member in family)
    assert world.records(turn.chat, "user")[0]["text"] == turn.message
    assert world.records(turn.chat, "turn_end")[-1]["reason"] == "worker_lost"


def test_what_was_streamed_and_asked_before_everything_was_killed_is_in_the_chat(world: World):
    world.write("name: Alpha\npermissionMode: default\n")
    turn = started(world, "#!runbook\n```Bash\ntrue\n```\n")
    process = world.work(turn.id)
    world.until_record(turn.chat, "permission")
    streamed = live.Appender(str(world.transcript(turn.chat).with_suffix(".live")), turn.id)
    for block, kind, text in (("1", "text", "Half of "), ("1", AGAIN, ""), ("1", "text", "The ti"),
                              ("1", "text", "de"), ("2", "thinking", "Hm")):  # fmt: skip
        streamed.add(block, kind, text)
    streamed.flush()
    child = turn_process(process)
    for member in (psutil.Process(process.pid), child):
        member.suspend()
    for member in (psutil.Process(process.pid), child):
        member.kill()
    process.join(10)
    until(lambda: not child.is_running() or child.status() == "zombie")
    Turn.objects.filter(id=turn.id).update(lease_until=None)

    assert recovery.sweep() == 1

    [said] = world.records(turn.chat, "assistant")
    assert (said["text"], said["block"], said["partial"]) == ("The tide", "1", True)
    assert [thought["text"] for thought in world.records(turn.chat, "thinking")] == ["Hm"]
    states = [asked["state"] for asked in world.records(turn.chat, "permission")]
    assert states == ["asked", "denied"]
    assert recovery.sweep() == 0


def test_killed_between_claim_and_start_the_turn_is_written_down_once(world: World):
    turn = started(world)
    assert worker.claim(turn.id, "digest") is not None
    Turn.objects.filter(id=turn.id).update(lease_until=None)

    assert recovery.sweep() == 1
    assert recovery.sweep() == 0

    kinds = [record["type"] for record in world.records(turn.chat)]
    assert kinds == ["turn_start", "user", "notice", "turn_end"]
    begun, _, notice, _ = world.records(turn.chat)
    assert (begun["depth"], begun["trigger"], begun["sandbox"]) == (0, None, None)
    assert (notice["level"], notice["code"]) == ("warn", "worker_lost")


def test_the_sweep_removes_scratch_of_turns_that_do_not_run(world: World):
    stale = jobs.run_dir("msg_gone")
    (stale / "tmp").mkdir(parents=True)

    recovery.sweep()

    assert not stale.exists()


def test_the_sweep_delivers_again_what_nobody_took(world: World):
    turn = started(world)
    Turn.objects.filter(id=turn.id).update(delivered=None)

    recovery.sweep()
    recovery.sweep()

    assert delivered() == [turn.id, turn.id]  # the first was made by the send


def test_a_chat_deleted_while_its_turn_waits_ends_the_turn(world: World):
    turn = started(world)
    (world.folder / "alpha" / ".chats" / f"{turn.chat}.yaml").unlink()

    done = world.run(turn.id)

    assert done.state == "failed"
    assert "Chat not found" in done.reason or "refused" in done.reason


def test_the_environment_of_a_turn_holds_nothing_of_the_service(world: World, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent.sock")
    monkeypatch.setenv("PRIVATE", "no")
    world.write(
        "name: Alpha\nturnEnv: [SSH_AUTH_SOCK, SVC_DATA_DIR, ANTHROPIC_API_KEY, DATABASE_URL]\n"
        "permissionMode: bypassPermissions\n"
    )
    turn = started(world, "#!runbook\n```Bash\nenv -0 > env.bin\n```\n")

    world.run(turn.id)

    found = dict(
        entry.split("=", 1)
        for entry in (world.folder / "alpha" / "env.bin").read_text().split("\0")
        if "=" in entry
    )
    assert found["SSH_AUTH_SOCK"] == "/tmp/agent.sock"
    assert found["HOME"] == str(Path(django_settings.DATA_DIR) / "home" / "alpha")
    assert found["SVC_TURN_ID"] == turn.id
    assert found["GIT_AUTHOR_EMAIL"]
    secret = {"SVC_DATA_DIR", "ANTHROPIC_API_KEY", "PRIVATE", "DJANGO_SETTINGS_MODULE"}
    assert not secret & found.keys()


def test_the_job_carries_what_the_firing_decided(world: World):
    row = world.fired(
        tools=["Read"], max_turns=7, spawn_limit=0, mode="plan",
        event={"name": "onArchive", "chat": "c", "project": "alpha"},
    )  # fmt: skip

    job = jobs.job_for(row)

    assert (job.tools, job.max_turns, job.mode, job.may_spawn) == (["Read"], 7, "plan", False)
    assert (job.attended, job.trigger, job.origin) == (False, "nightly", "scheduled")
    assert job.event == {"name": "onArchive", "chat": "c", "project": "alpha"}
    assert json.loads(job.to_json())["svc"] is None


def test_a_running_turn_is_offered_the_tools_its_token_grants(world: World):
    turn = started(world)
    token, digest = tokens.new_token()
    claimed = worker.claim(turn.id, digest)
    assert claimed is not None

    job = jobs.job_for(claimed, token=token, registry=REGISTRY)

    assert job.svc is not None
    assert set(job.svc["ops"]) == {"list_projects", "list_chats", "read_chat"}
    assert job.svc["ops"]["read_chat"]["limit"] == "integer"
    assert job.secrets == (token,)


def test_naming_an_engine_pins_it_to_the_chat(world: World):
    started_chat = world.chat("plain words", model="runbook")
    assert started_chat.turn is not None

    world.run(started_chat.turn.id)

    assert world.record(started_chat.chat.id)["engine"] == "runbook"


def test_a_failing_follower_does_not_stop_the_queue(world: World):
    turn = started(world)
    world.send(turn.chat)

    def explode(_turn: Turn) -> None:
        raise RuntimeError("follower")

    process = world._fork(lambda: worker.run(turn.id, on_change=explode))
    ended(process)

    assert world.states(turn.chat) == ["done", "queued"]
    until(lambda: Turn.objects.filter(chat=turn.chat, delivered=None).count() == 0)
