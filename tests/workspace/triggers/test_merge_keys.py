"""Merge keys in a hand-written project.yaml: what they mix in holds, and is never dropped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from config.errors import Conflict
from tests.workspace.triggers.world import World, schedule
from workspace.triggers import commands, pausing
from workspace.triggers.entries import files

SAFE = """\
name: Alpha
x-safe: &safe {tools: [Read], maxTurns: 2}
x-daily: &daily {type: schedule, interval: 1d}
triggers:
  merged:
    trigger:
      <<: *daily
      interval: 2h
    run:
      <<: *safe
      maxTurns: 5
      prompt: Look
    enabled: true
"""


def test_a_merge_key_limits_the_tools_as_if_they_were_written_out(world):
    world.write(SAFE)

    seen = commands.get(world.project(), "merged")

    assert (seen.trigger.run.tools, seen.trigger.own_agent) == (("Read",), False)
    assert seen.trigger.run.max_turns == 5  # what the mapping says itself wins
    assert seen.trigger.when.when == "interval 2h"
    assert seen.warnings == []


def test_the_first_of_several_wins_and_what_they_mix_in_is_mixed_in_too(world):
    world.write(
        "a: &a {tools: [Read], model: runbook}\nb: &b {<<: *a, tools: [Grep], maxTurns: 3}\n"
        "triggers:\n  t:\n    trigger: {type: schedule, interval: 1h}\n"
        "    run: {prompt: x, <<: [*b, {maxTurns: 9, session: resume}]}\n"
    )

    run = commands.get(world.project(), "t").trigger.run
    assert (run.tools, run.max_turns, run.model, run.session) == (("Grep",), 3, "runbook", "resume")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("run: {prompt: x, <<: 5}", "run.<<: must name a mapping, or a list of them, to mix in"),
        ("run: {prompt: x}\n    <<: [1]", "<<: must name a mapping, or a list of them, to mix in"),
    ],
)
def test_a_merge_key_that_names_no_mapping_makes_the_entry_invalid(world, body, error):
    world.write(f"triggers:\n  t:\n    trigger: {{type: schedule, interval: 1h}}\n    {body}\n")

    (entry,) = files.read(world.project()).invalid
    assert (entry.name, entry.error) == ("t", error)


def test_legacy_schedules_and_whole_projects_are_mixed_too(world):
    world.write(
        "x: &x\n  triggersPaused: true\n  schedules:\n    old: {type: cron, cron: '@daily', <<: &p "
        "{prompt: x}, enabled: true}\n<<: *x\n"
    )

    entries = files.read(world.project())
    assert (entries.legacy["old"].run.prompt, entries.held) == ("x", pausing.PAUSED)
    world.write("schedules:\n  old: {type: cron, cron: '@daily', prompt: x, <<: no}\n")
    (entry,) = files.read(world.project()).invalid
    assert entry.error == "<<: must name a mapping, or a list of them, to mix in"


HOW: dict[str, Callable[[World, str], object]] = {
    "put": lambda world, name: world.put(name, schedule(interval="3h")),
    "remove": lambda world, name: commands.remove(world.project(), name),
    "convert": lambda world, name: commands.convert(world.project(), name),
}


def refused(world: World, name: str, how: str) -> str:
    before = world.text()
    with pytest.raises(Conflict) as error:
        HOW[how](world, name)
    assert world.text() == before
    return error.value.text


def test_what_is_mixed_in_is_changed_by_hand_alone(world):
    world.write(SAFE)

    assert "a merge key mixes in what is written elsewhere" in refused(world, "merged", "put")
    assert "a merge key mixes in" in refused(world, "merged", "remove")


@pytest.mark.parametrize("how", ["put", "remove"])
def test_an_entry_that_is_mixed_in_whole_is_armed_and_refuses_every_write(world, how):
    world.write(
        "x: &x\n  t:\n    trigger: {type: schedule, interval: 1h}\n    run: {prompt: x}\n"
        "    enabled: true\ntriggers:\n  <<: *x\n"
    )
    world.arm()

    assert world.state("t").next_at is not None
    assert "merge key" in refused(world, "t", how)
    assert files.read(world.project()).triggers["t"].line == 6


def test_a_legacy_schedule_that_is_mixed_in_is_not_converted(world):
    world.write(
        "x: &x\n  t: {type: interval, interval: 1h, prompt: x, enabled: true}\n"
        "schedules:\n  <<: *x\n"
    )

    assert '"t" is mixed in by a merge key' in refused(world, "t", "convert")
