"""The zone of a cron: its own, the project's, the instance's; never one that was not named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from config.errors import Invalid
from tests.workspace.triggers.world import NOON, World, schedule
from workspace.models import TriggerState
from workspace.projects import store
from workspace.triggers import commands, render
from workspace.triggers.entries import files
from workspace.triggers.schedule import clock

NINE = {
    "UTC": "09:00",
    "Europe/Berlin": "07:00",
    "Asia/Tokyo": "00:00",
    "America/New_York": "13:00",
}
ENTRY = (
    "    trigger: {type: schedule, cron: 0 9 * * *%s}\n    run: {prompt: x}\n    enabled: true\n"
)


def written(world: World, *, project: str = "", own: str = "") -> None:
    top = f"timezone: {project}\n" if project else ""
    more = f", timezone: {own}" if own else ""
    world.write(f"{top}triggers:\n  t:\n{ENTRY % more}")
    world.arm()


def told(world: World) -> tuple[str, str | None]:
    """When it fires next, in UTC, and the zone that is said beside it."""
    entry = render.trigger(commands.get(world.project(), "t"))["runtime"]
    return str(entry["nextRunAt"])[11:16], entry["timezone"]


@pytest.mark.parametrize(
    ("instance", "project", "own", "holds"),
    [
        ("UTC", "", "", "UTC"),
        ("Asia/Tokyo", "", "", "Asia/Tokyo"),
        ("Asia/Tokyo", "Europe/Berlin", "", "Europe/Berlin"),
        ("Asia/Tokyo", "Europe/Berlin", "America/New_York", "America/New_York"),
        ("Asia/Tokyo", "", "UTC", "UTC"),
    ],
)
def test_the_inner_zone_wins(world, settings, instance, project, own, holds):
    settings.SVC = replace(settings.SVC, timezone=instance)

    written(world, project=project, own=own)

    assert told(world) == (NINE[holds], holds)


def test_a_new_zone_arms_anew_and_the_same_zone_does_not(world):
    written(world)
    before = world.state("t")
    world.clock.step(minutes=5)

    written(world, project="UTC")
    assert world.state("t").armed_at == before.armed_at

    written(world, project="Europe/Berlin")
    assert world.state("t").armed_at == world.clock.now()
    assert told(world) == ("07:00", "Europe/Berlin")


def test_a_machine_that_moves_arms_everything_anew(world, settings):
    written(world)
    ticker = world.ticker()
    settings.SVC = replace(settings.SVC, timezone="Asia/Tokyo")
    world.clock.step(minutes=1)

    ticker.step()

    assert told(world) == ("00:00", "Asia/Tokyo")


def test_what_was_armed_before_zones_were_known_was_in_utc_and_keeps_its_grid_there(world):
    written(world, own="UTC")
    armed = world.state("t")
    assert armed.when == "cron 0 9 * * *"
    TriggerState.objects.update(armed_at=NOON.replace(month=1))

    world.arm()
    assert world.state("t").armed_at == NOON.replace(month=1)

    written(world, own="Europe/Berlin")
    assert world.state("t").armed_at == NOON


def test_the_zone_of_an_interval_changes_nothing_and_is_warned_of(world):
    saved = world.put("t", schedule(interval="1h", timezone="Asia/Tokyo", tools=["Read"]))
    before = world.state("t")

    assert saved.seen.warnings == [
        "trigger.timezone: has no effect on an interval, which counts from when it was armed"
    ]
    world.clock.step(minutes=1)
    world.put("t", schedule(interval="1h", timezone="Europe/Berlin"))
    assert (world.state("t").armed_at, world.state("t").when) == (before.armed_at, "interval 1h")
    assert render.trigger(commands.get(world.project(), "t"))["runtime"]["timezone"] == "UTC"


@pytest.mark.parametrize(("zone", "reason"), [
    ("Europe/Berln", '"Europe/Berln" is not the name of a time zone (did you mean "Europe/Berlin"'),
    ("CEST", '"CEST" is not the name of a time zone'),
    (2, "2 is not the name of a time zone in quotes"),
])  # fmt: skip
def test_a_wrong_name_is_refused_by_name_with_an_example(world, zone, reason):
    with pytest.raises(Invalid) as error:
        world.put("t", schedule(cron="0 9 * * *", timezone=zone))

    assert error.value.text.startswith(f"trigger.timezone: {reason}")
    assert error.value.text.endswith(', e.g. "Europe/Berlin"')
    with pytest.raises(Invalid) as error:
        commands.set_trigger(
            world.project(), "t", {"cron": "0 9 * * *", "prompt": "x", "timezone": zone}
        )
    assert error.value.text.startswith(f"timezone: {reason}")
    assert world.text() == "name: Alpha\n"


def test_a_wrong_name_in_the_file_leaves_the_entry_unarmed_with_the_reason(world):
    written(world, own="Europe/Berln")

    (entry,) = files.read(world.project()).invalid
    assert (entry.name, entry.line) == ("t", 2)
    assert entry.error.startswith('trigger.timezone: "Europe/Berln" is not the name of a time zone')
    assert not TriggerState.objects.exists()


def test_a_wrong_name_of_the_project_disarms_what_has_no_zone_of_its_own(world):
    written(world)
    world.write(
        "timezone: Berlin\ntriggers:\n"
        f"  t:\n{ENTRY % ''}  own:\n{ENTRY % ', timezone: Asia/Tokyo'}"
        "  grid:\n    trigger: {type: schedule, interval: 1h}\n    run: {prompt: x}\n"
        "schedules:\n  old: {type: cron, cron: 0 9 * * *, prompt: x, enabled: true}\n"
    )
    world.arm()

    entries = files.read(world.project())
    assert ([*entries.triggers], [*entries.legacy]) == (["own", "grid"], [])
    assert [one.name for one in entries.invalid] == ["t", "old"]
    assert entries.invalid[0].error == (
        'timezone: "Berlin" is not the name of a time zone (did you mean "Europe/Berlin"?); '
        'it is that of the project, e.g. "Europe/Berlin"'
    )
    assert world.state("t").next_at is None
    assert world.project().warnings == ["timezone: not usable, no cron fires by it"]


def test_a_trigger_without_a_zone_is_refused_where_the_project_names_a_wrong_one(world):
    world.write("timezone: Berlin\n")

    with pytest.raises(Invalid) as error:
        world.put("t", schedule(cron="0 9 * * *"))

    assert error.value.text == (
        "timezone: is required while the `timezone` of the project names no zone, "
        'e.g. "Europe/Berlin"'
    )
    assert world.put("t", schedule(cron="0 9 * * *", timezone="Asia/Tokyo")).created


def test_the_zone_of_a_project_is_set_like_its_other_keys(world):
    project, _ = store.update("alpha", {"timezone": "Asia/Tokyo"})
    assert (project.effective("timezone"), "timezone" in project.inherited) == ("Asia/Tokyo", False)

    with pytest.raises(Invalid) as error:
        store.update("alpha", {"timezone": "Tokio"})
    assert error.value.text.startswith('timezone: "Tokio" is not the name of a time zone')
    assert error.value.text.endswith(', e.g. "Europe/Berlin"')

    project, _ = store.update("alpha", {"timezone": None})
    assert (project.effective("timezone"), "timezone" in project.inherited) == ("UTC", True)


def test_set_trigger_sets_keeps_clears_and_drops_the_zone(world):
    def words(**given: object) -> tuple[object, object]:
        flat = render.flat(commands.set_trigger(world.project(), "t", given).seen)
        return flat["timezone"], flat["nextRunsTimezone"]

    assert words(cron="0 9 * * *", prompt="x", timezone="Asia/Tokyo") == ("Asia/Tokyo",) * 2
    assert words(cron="0 10 * * *") == ("Asia/Tokyo",) * 2
    assert words(timezone=None) == (None, "UTC")
    assert words(timezone="Europe/Berlin") == ("Europe/Berlin",) * 2
    assert words(interval="1h") == (None, "UTC")
    assert "timezone" not in world.text()


def test_a_legacy_schedule_takes_its_zone_along_when_it_is_converted(world):
    world.write(
        "schedules:\n  t: {type: cron, cron: 0 9 * * *, timezone: Asia/Tokyo, prompt: x, "
        "enabled: true}\n"
    )
    world.arm()
    before = world.state("t")
    assert told(world) == ("00:00", "Asia/Tokyo")

    commands.convert(world.project(), "t")

    assert told(world) == ("00:00", "Asia/Tokyo")
    assert world.state("t").armed_at == before.armed_at


@pytest.mark.parametrize("pattern", ["0 9 * * *", "@daily", "30 2 1-7 * mon"])
def test_what_is_armed_says_its_zone_unless_that_is_utc(pattern):
    assert clock.with_zone(f"cron {pattern}", "UTC") == f"cron {pattern}"
    armed = clock.with_zone(f"cron {pattern}", "America/Argentina/ComodRivadavia")

    assert clock.zone_of(armed) == "America/Argentina/ComodRivadavia"
    assert clock.zone_of(f"cron {pattern}") == "UTC"
    assert clock.with_zone("interval 1h", "Asia/Tokyo") == "interval 1h"
