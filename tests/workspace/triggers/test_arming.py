"""Arming: what sets a grid, what keeps it, what takes it away."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from tests.workspace.triggers.world import NOON, hook
from workspace.models import InvalidEntry, TriggerState
from workspace.triggers.schedule import alive

HOURLY = """\
triggers:
  t:
    trigger: {type: schedule, interval: 1h}
    run: {prompt: hi}
    enabled: true
"""
HOUR = timedelta(hours=1)


@pytest.fixture
def armed(world):
    world.write(HOURLY)
    world.arm()
    return world


def test_enabling_never_fires_at_once(armed):
    assert armed.state("t").next_at == NOON + HOUR


def test_disabling_and_enabling_again_arms_from_now(armed):
    armed.write(HOURLY.replace("true", "false"))
    armed.clock.step(minutes=20)
    armed.arm()
    assert armed.state("t").next_at is None

    armed.write(HOURLY)
    armed.clock.step(minutes=20)
    armed.arm()

    assert armed.state("t").next_at == NOON + timedelta(minutes=40) + HOUR


@pytest.mark.parametrize(
    ("old", "new"),
    [("hi", "other"), ("1h", "' 1H '"), ("prompt: hi", "prompt: hi, overlap: queue")],
)
def test_an_edit_that_leaves_the_when_keeps_the_grid(armed, old, new):
    armed.clock.step(minutes=20)
    armed.write(HOURLY.replace(old, new))

    armed.arm()

    assert armed.state("t").next_at == NOON + HOUR


def test_an_edit_of_the_when_starts_a_new_grid(armed):
    armed.clock.step(minutes=20)
    armed.write(HOURLY.replace("1h", "30m"))

    armed.arm()

    assert armed.state("t").next_at == NOON + timedelta(minutes=50)


def test_a_file_that_cannot_be_read_disarms_and_its_repair_keeps_the_grid(armed):
    armed.write(HOURLY + "  broken: [")
    armed.arm()
    assert armed.state("t").next_at is None
    assert armed.state("t").last_error.startswith("project.yaml cannot be read: ")

    armed.clock.step(minutes=90)
    armed.write(HOURLY)
    armed.arm()

    assert armed.state("t").next_at == NOON + 2 * HOUR
    assert armed.state("t").last_error == ""


def test_an_entry_that_becomes_invalid_is_disarmed_and_listed_once(armed, caplog):
    armed.write(HOURLY.replace("1h", "soon"))

    armed.arm()
    armed.arm()
    assert InvalidEntry.objects.get().line == 2
    armed.write("# moved down\n" + HOURLY.replace("1h", "soon"))
    armed.arm()

    assert armed.state("t").next_at is None
    assert InvalidEntry.objects.get().line == 3
    warned = [record.getMessage() for record in caplog.records if "not armed" in record.message]
    assert len(warned) == 1
    assert warned[0].startswith("trigger alpha/t: invalid, not armed: trigger.interval: ")
    assert warned[0].endswith("(line 2)")


def test_removal_forgets_the_arming_state_and_the_owned_chat(armed):
    TriggerState.objects.update(owned_chat="x")
    armed.write("name: Alpha\n")
    armed.arm()
    armed.write(HOURLY)
    armed.clock.step(minutes=5)

    armed.arm()

    assert (armed.state("t").owned_chat, armed.state("t").armed_at) == (
        "", NOON + timedelta(minutes=5),
    )  # fmt: skip


def test_a_project_that_is_gone_leaves_no_row(armed):
    (armed.folder / "alpha" / "project.yaml").unlink()

    armed.arm()

    assert not TriggerState.objects.exists()


def test_events_have_a_row_and_no_time(world):
    world.put("tidy", hook())

    assert (world.state("tidy").enabled, world.state("tidy").next_at) == (True, None)


def test_a_scheduler_is_alive_as_long_as_its_lock_is_held(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    (tmp_path / "state").mkdir()
    assert not alive.scheduler_alive()

    lock = alive.hold()
    assert alive.scheduler_alive()
    os.close(lock)

    assert not alive.scheduler_alive()
