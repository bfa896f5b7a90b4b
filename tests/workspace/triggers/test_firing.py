"""From a firing to its chat and turn: the start check, provenance, first message, at most once."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError
from django_q.models import OrmQ

from config.errors import Conflict, Unavailable
from config.storage import homes
from tests.workspace.triggers.world import USER, World, hook, schedule
from workspace.chats import files as chat_files
from workspace.chats import index
from workspace.engines import select
from workspace.engines.base import Probe
from workspace.models import Run, Turn
from workspace.triggers import commands, firing, runs
from workspace.triggers.entries import files


def run_now(world: World, name: str = "t") -> firing.Outcome:
    return commands.run(world.project(), name, principal=USER)


def refused(world: World, name: str = "t") -> Run:
    with pytest.raises(commands.NotStarted) as error:
        run_now(world, name)
    return runs.get(error.value.extra["runId"])


pytestmark = pytest.mark.usefixtures("serving")


def test_a_manual_run_makes_a_chat_and_a_turn_that_name_each_other(world):
    world.put("t", schedule(interval="1h", enabled=False, tools=["Read"], maxTurns=5))

    outcome = run_now(world)

    turn = Turn.objects.get()
    record = chat_files.read(world.project(), outcome.run.session_id)
    assert (turn.chat, turn.run_id, outcome.state) == (record.id, outcome.run.id, "started")
    assert (record.origin, record.trigger, record.depth) == ("scheduled", "t", 0)
    name = index.get(world.project(), record.id).name
    assert re.fullmatch(r"t, \w{3} \d+ \w{3} \d\d:\d\d", name)
    assert (turn.prompt, turn.message, turn.tools, turn.max_turns) == (
        "Say hi", "Say hi", ["Read"], 5,
    )  # fmt: skip
    assert turn.sender == {
        "kind": "trigger", "name": "t", "cause": "manual", "runId": outcome.run.id,
    }  # fmt: skip
    assert (outcome.run.cause, outcome.run.actor) == (
        "manual", {"kind": "user", "id": "anonymous"},
    )  # fmt: skip


def test_a_schedule_without_tools_runs_as_the_project_and_an_event_without_tools_has_none(world):
    world.put("s", schedule(interval="1h"))
    world.put("e", hook())

    run_now(world, "s")
    run_now(world, "e")

    assert [turn.tools for turn in Turn.objects.order_by("id")] == [None, []]
    assert [turn.max_turns for turn in Turn.objects.all()] == [30, 30]


def test_the_run_keys_apply_to_every_firing(world):
    body = schedule(interval="1h", model="runbook", maxSpawnDepth=0)
    body["run"]["permissionMode"] = "plan"
    world.put("t", body)

    run_now(world)

    turn = Turn.objects.get()
    assert (turn.model, turn.mode, turn.spawn_limit) == ("runbook", "plan", 0)


def test_a_manual_run_of_an_event_trigger_says_that_nothing_happened(world):
    world.put("tidy", hook())

    run_now(world, "tidy")

    assert Turn.objects.get().message == (
        "Manual run of event trigger `tidy` in project `alpha`; no event occurred.\n\nLook at it"
    )


def test_the_prompt_file_is_read_fresh_at_each_firing(world):
    folder = world.folder / "alpha" / ".svc" / "triggers"
    folder.mkdir(parents=True)
    world.put("t", schedule(interval="1h", promptFile="a.md", overlap="parallel"))

    for text in ("first", "second"):
        (folder / "a.md").write_text(text)
        run_now(world)

    assert [turn.prompt for turn in Turn.objects.order_by("id")] == ["first", "second"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_text("  \n"), "is blank"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "is not UTF-8 text"),
        (lambda path: path.write_text("x" * (256 * 1024 + 1)), "is larger than 256 KiB"),
        (lambda path: path.symlink_to("/etc/hostname"), "leads outside .svc/triggers/"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.mkdir(), "is not a regular file"),
        (lambda path: path.write_bytes(b"a\0b"), "holds a NUL"),
    ],
    ids=["missing", "blank", "encoding", "size", "symlink", "fifo", "folder", "nul"],
)
def test_a_bad_prompt_file_ends_the_run_failed_without_a_chat(world, make, reason):
    folder = world.folder / "alpha" / ".svc" / "triggers"
    folder.mkdir(parents=True)
    make(folder / "a.md")
    world.put("t", schedule(interval="1h", promptFile="a.md"))

    run = refused(world)

    assert (run.status, run.reason) == ("failed", f"prompt file .svc/triggers/a.md {reason}")
    assert not Turn.objects.exists()
    assert not [*world.folder.glob("alpha/.chats/*.yaml")]
    assert world.state("t").last_error == run.reason


def test_a_large_prompt_file_within_the_bound_is_run(world):
    folder = world.folder / "alpha" / ".svc" / "triggers"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("x" * 200_000)
    world.put("t", schedule(interval="1h", promptFile="a.md"))

    assert run_now(world).state == "started"


def test_a_missing_working_directory_fails_without_its_path(world):
    world.put("t", schedule(interval="1h"))
    world.write(world.text() + "repo: https://example.com/gone.git\n")

    run = refused(world)

    assert run.reason == "the working directory does not exist"


class Loose:
    """An engine that cannot hold a list of tools, and must therefore never run under one."""

    name = "acp"
    looped = True

    def probe(self, cfg):
        return Probe(True)

    def default_model(self, cfg):
        return None

    def preflight(self, job):
        return None if job.tools is None else 'the engine "acp" cannot enforce a tool list'

    def run(self, job, io):
        raise AssertionError("it was started")


@pytest.mark.parametrize("tools", [[], ["Read"]])
def test_an_engine_that_cannot_hold_the_list_of_tools_is_never_started(world, monkeypatch, tools):
    world.put("t", hook(tools=tools, model="acp:loose"))  # what stands in the file by now
    monkeypatch.setitem(select.ENGINES, "acp", Loose())
    select.probe_again()

    run = refused(world)

    assert (run.status, run.reason) == ("failed", 'the engine "acp" cannot enforce a tool list')
    assert not Turn.objects.exists()
    assert not [*world.folder.glob("alpha/.chats/*.yaml")]


def test_webhooks_and_the_curators_entry_are_not_runnable(world):
    world.put("w", {"trigger": {"type": "webhook"}, "run": {"prompt": "x"}, "enabled": True})
    world.put(
        "c",
        {"trigger": {"type": "event", "on": "afterTurn"}, "run": {"prompt": "x"}, "enabled": True},
    )

    found = []
    for name in ("w", "c"):
        with pytest.raises(Conflict) as error:
            run_now(world, name)
        found.append((error.value.code, error.value.text))

    assert found == [
        ("not_runnable", 'Trigger "w" is a webhook trigger: stored, never fired.'),
        (
            "not_runnable",
            'Trigger "c" adds instructions for the overview and changelog and cannot be run.',
        ),
    ]
    assert not Run.objects.exists()


def test_without_any_scheduler_nothing_is_recorded_or_run(world, monkeypatch):
    from workspace.triggers.schedule import alive

    monkeypatch.setattr(alive, "scheduler_alive", lambda: False)
    world.put("t", schedule(interval="1h"))

    with pytest.raises(Unavailable):
        run_now(world)

    assert not Run.objects.exists()


def test_resume_goes_on_in_the_chat_it_owns_and_makes_another_when_that_is_gone(world):
    world.put("t", schedule(interval="1h", session="resume"))
    first = run_now(world).run.session_id
    again = run_now(world).run.session_id
    chat_files.record_path(world.project(), first).unlink()

    third = run_now(world).run.session_id

    assert again == first != third
    assert world.state("t").owned_chat == third


def test_a_run_is_started_once_however_often_it_is_delivered(world):
    world.put("t", schedule(interval="1h"))
    run = queued(world)

    for _ in range(3):
        firing.start(run.id)

    assert Turn.objects.count() == 1


def test_a_queued_run_of_a_removed_trigger_is_cancelled_at_its_start(world):
    world.put("t", schedule(interval="1h"))
    run = queued(world)
    world.write("name: Alpha\n")

    outcome = firing.start(run.id)

    assert (outcome.run.status, outcome.run.reason) == ("cancelled", "its trigger was removed")


def test_a_time_that_waits_behind_another_starts_nothing_once_the_schedule_is_off(world):
    world.put("t", schedule(interval="1h", overlap="queue"))
    run = queued(world, cause="interval")
    world.put("t", schedule(interval="1h", overlap="queue", enabled=False))

    outcome = firing.start(run.id)

    assert (outcome.run.status, outcome.run.reason) == ("cancelled", "its trigger was switched off")


def test_a_start_whose_lease_was_lost_queues_nothing(world, monkeypatch):
    world.put("t", schedule(interval="1h"))
    run = queued(world)
    real = firing._check

    def slow(run):
        Run.objects.update(lease_until=datetime.now(UTC) - timedelta(seconds=1))
        return real(run)

    monkeypatch.setattr(firing, "_check", slow)
    outcome = firing.start(run.id)

    assert (outcome.run.status, outcome.run.reason) == ("failed", "no chat within 60 s")
    assert not Turn.objects.exists()


@pytest.mark.parametrize(("cause", "waits"), [("interval", 1), ("manual", 0)])
def test_a_start_that_the_database_leaves_waits_again_unless_somebody_is_told(
    world, monkeypatch, cause, waits
):
    world.put("t", schedule(interval="1h"))
    run = queued(world, cause=cause)

    def gone(*_args, **_more):
        raise OperationalError("terminating connection due to administrator command")

    with monkeypatch.context() as patched:
        patched.setattr(firing, "_name_chat", gone)
        with pytest.raises(OperationalError):
            firing.start(run.id)

    assert not Turn.objects.exists()
    assert chat_files.session_ids(world.project()) == []
    assert runs.waiting().count() == waits
    if waits:
        assert firing.start(run.id).state == "started"


def test_a_broken_project_file_fails_the_start_with_its_sentence(world):
    world.put("t", schedule(interval="1h"))
    run = queued(world)
    world.write("triggers: [")

    outcome = firing.start(run.id)

    assert outcome.run.status == "failed"
    assert outcome.run.reason.startswith("project.yaml of alpha cannot be read: ")


@pytest.mark.parametrize("typo", [("1h", "soon"), ("triggers:", "triggers: ["), ("t:", "t: [")])
def test_a_firing_of_nobody_waits_until_its_entry_can_be_read_again(world, typo):
    world.put("t", schedule(interval="1h", overlap="queue"))
    run = queued(world, cause="interval")
    text = world.text()

    world.write(text.replace(*typo))
    world.arm()
    assert firing.start(run.id).run.status == "queued"
    world.write(text)
    world.arm()
    runs.recover(datetime.now(UTC))

    assert homes.queue("svc") in {row.key for row in OrmQ.objects.all()}
    assert firing.start(run.id).run.session_id != ""


def test_a_waiting_run_starts_when_the_one_before_it_ends(world):
    world.put("t", schedule(interval="1h", overlap="queue"))
    first, second = queued(world, cause="interval"), queued(world, cause="interval")
    firing.start(first.id)
    assert firing.start(second.id).run.session_id == ""

    runs.finish(first.id, status="completed")

    assert firing.start(second.id).run.session_id != ""


def test_a_full_chat_queue_fails_the_run_with_the_queues_sentence(world):
    world.put("t", schedule(interval="1h", session="resume"))
    for _ in range(50):
        run_now(world)
    Turn.objects.filter(id=Turn.objects.order_by("id")[0].id).update(state="queued")

    run = refused(world)

    assert run.reason == "Queue full: 50 messages already wait in this chat"


def queued(world: World, *, cause: str = "manual", name: str = "t") -> Run:
    trigger = files.read(world.project()).triggers[name]
    now = datetime.now(UTC)
    run = firing.new_run("alpha", trigger, cause=cause, now=now)
    run.save(force_insert=True)
    return run
