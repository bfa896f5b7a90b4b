"""`run.network` of a trigger: stored, carried by each of its turns, and by no other."""

from __future__ import annotations

import dataclasses

import pytest

from config.network import NetworkSetting
from tests.workspace.triggers.world import USER, hook, schedule
from workspace.chats import actions, forks
from workspace.chats.turns import jobs
from workspace.engines import policy, sandbox, select
from workspace.engines.sandbox import Sandbox
from workspace.models import Turn
from workspace.triggers import commands, firing, render
from workspace.triggers.entries import files

BOOK = "#!runbook\n```Glob pattern=*\n```\n"


@pytest.fixture(autouse=True)
def confined(monkeypatch):
    """Bubblewrap works, so `off` can be had."""
    select.probe_again()
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("bwrap", "auto"))
    yield
    select.probe_again()


def quiet(network: str = "off", **run: object):
    body = schedule(BOOK, interval="1h")
    body["run"] |= {"network": network, **run}
    return body


def fire(world, name="t") -> Turn:
    trigger = files.read(world.project()).triggers[name]
    run = firing.fire(
        project=world.project(), trigger=trigger, cause="manual", actor={"kind": "user"}
    )
    chat = firing.start(run.id).run.session_id
    return Turn.objects.filter(chat=chat).order_by("-id")[0]


def test_the_word_is_stored_and_told_by_both_surfaces(world):
    saved = world.put("t", quiet())

    assert saved.seen.warnings == []
    assert render.trigger(saved.seen)["run"]["network"] == "off"
    assert render.flat(saved.seen)["network"] == "off"
    assert 'network: "off"' in world.text()  # which every reader of YAML takes for text


def test_a_word_written_by_hand_without_quotes_is_no_boolean(world):
    world.write(
        "name: Alpha\ntriggers:\n  t:\n    trigger: {type: schedule, interval: 1h}\n"
        "    run: {prompt: hi, network: off}\n"
    )

    assert files.read(world.project()).triggers["t"].run.network == "off"


def test_a_partial_edit_leaves_it_alone_and_null_clears_it(world):
    world.put("t", quiet())

    kept = commands.set_trigger(world.project(), "t", {"enabled": False}).seen
    cleared = commands.set_trigger(world.project(), "t", {"network": None}).seen

    assert (kept.trigger.run.network, cleared.trigger.run.network) == ("off", None)
    assert "network" not in world.text()


def test_each_turn_of_it_carries_it_to_its_process(world):
    world.put("t", quiet())
    world.put("e", hook(BOOK, network="off"))

    for name in ("t", "e"):
        turn = fire(world, name)
        assert turn.network == "off"
        assert jobs.job_for(turn).network.mode == "off"


def test_a_chat_it_goes_on_with_has_it_in_its_own_turns_alone(world):
    world.put("t", quiet(session="resume", overlap="queue"))
    first = fire(world)
    Turn.objects.update(state="done")
    second = fire(world)
    sent = actions.send(
        principal=USER, project=world.project(), session_id=first.chat, prompt=BOOK
    ).turn

    assert (first.chat, first.network) == (second.chat, second.network)
    assert (second.network, sent.network) == ("off", "")
    assert jobs.job_for(sent).network.mode == "guarded"


def test_a_fork_of_its_chat_inherits_none(world):
    world.put("t", quiet())
    turn = fire(world)

    forked = forks.fork(principal=USER, project=world.project(), session_id=turn.chat, prompt=BOOK)

    assert forked.turn is not None
    assert forked.turn.network == ""


def test_a_trigger_never_widens_its_project_and_is_told_so(world):
    world.write('name: Alpha\nnetwork: "off"\n')

    saved = world.put("t", quiet("guarded"))

    assert saved.seen.warnings == [
        'run.network: "guarded" is wider than the project\'s "off": not used'
    ]
    assert jobs.job_for(fire(world)).network.mode == "off"


def test_host_is_told_which_key_would_let_it(world, settings):
    only = "; only an instance with `engines.network: host` lets a project or trigger have it"

    assert world.put("t", quiet("host")).seen.warnings == [
        f'run.network: "host" is wider than the project\'s "guarded"{only}: not used'
    ]
    settings.SVC = dataclasses.replace(settings.SVC, network=NetworkSetting("host"))
    assert world.put("t", quiet("host")).seen.warnings == []
    assert jobs.job_for(fire(world)).network.mode == "host"


def test_what_cannot_be_held_is_said_when_it_is_saved_and_fires_nothing(world, monkeypatch):
    select.probe_again()
    monkeypatch.setattr(sandbox, "probe", lambda *a, **k: Sandbox("off", "auto", "none here"))

    saved = world.put("t", quiet())
    run = firing.fire(
        project=world.project(), trigger=saved.seen.trigger, cause="manual", actor={"kind": "user"}
    )

    assert saved.seen.warnings == [f"run.network: {policy.NETWORK}"]
    assert firing.start(run.id).run.reason == policy.NETWORK
    assert not Turn.objects.exists()


def test_a_legacy_schedule_has_none(world):
    world.write(
        "name: Alpha\nschedules:\n  old:\n    type: interval\n    interval: 1h\n"
        "    prompt: hi\n    network: off\n    enabled: true\n"
    )

    trigger = files.read(world.project()).legacy["old"]

    assert trigger.run.network is None
    assert trigger.warnings == ("network: unknown key, kept without effect",)
