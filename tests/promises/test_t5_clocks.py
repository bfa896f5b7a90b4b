"""T5: changes of the clock fire nothing twice and skip nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest

from tests.promises.rings import SLOW, few
from tests.workspace.triggers import test_cron
from tests.workspace.triggers.conftest import utc, world  # noqa: F401 - the small world
from tests.workspace.triggers.world import NOON
from workspace.triggers.schedule import cron

ZONES = sorted(available_timezones()) if SLOW else [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
]  # fmt: skip
YEARS = range(2024, 2029) if SLOW else (2026,)
PATTERNS = ("30 2 * * *", "0 * * * *", "*/15 * * * *", "15,45 1-3 * * *", "0 */2 * * *")


def changes(zone: ZoneInfo, year: int) -> list[datetime]:
    """The instants of the year at which the zone's offset changes, to the hour."""
    hours = [datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=n) for n in range(366 * 24)]
    offsets = [hour.astimezone(zone).utcoffset() for hour in hours]
    return [hours[n] for n in range(1, len(hours)) if offsets[n] != offsets[n - 1]]


@pytest.mark.promise("T5")
@pytest.mark.parametrize("name", ZONES)
def test_every_real_minute_around_a_change_is_judged_as_the_table_says(name):
    zone = ZoneInfo(name)
    for change in (moment for year in YEARS for moment in changes(zone, year)):
        start = change.replace(minute=0) - timedelta(hours=26)
        for text in PATTERNS:
            expected = test_cron.reference(text, start, zone, 52)[:-1]
            moment, found = start, list[datetime]()
            while len(found) < len(expected):
                moment = cron.parse(text).after(moment, zone)
                found.append(moment)
            assert found == expected, (text, change)


@pytest.mark.promise("T5")
def test_half_past_two_fires_once_on_both_change_days(world):  # noqa: F811
    berlin = ZoneInfo("Europe/Berlin")
    fired = []
    for night in ("2026-03-28T23:00", "2026-10-24T22:00"):
        world.clock.moment = datetime.fromisoformat(night).replace(tzinfo=UTC)
        world.write(
            "timezone: Europe/Berlin\ntriggers:\n  t:\n"
            "    trigger: {type: schedule, cron: 30 2 * * *}\n"
            "    run: {prompt: hi, overlap: parallel}\n    enabled: true\n"
        )
        ticker = world.ticker()
        for _ in range(24 * 4):
            world.clock.step(minutes=15)
            ticker.serving_since = world.clock.now()  # it never slept, it was only stepped
            ticker.step()
        fired = [run.scheduled_for.astimezone(berlin).isoformat() for run in world.runs()]
        world.write("name: Alpha\n")
        world.arm()

    assert fired == ["2026-03-29T03:00:00+02:00", "2026-10-25T02:30:00+02:00"]


@pytest.mark.promise("T5")
@pytest.mark.parametrize("when", few(['cron: "*/10 * * * *"', "interval: 10m"], 1))
def test_steps_of_an_hour_repeat_nothing_and_stop_nothing(world, when):  # noqa: F811
    world.write(
        f"triggers:\n  t:\n    trigger: {{type: schedule, {when}}}\n"
        "    run: {prompt: hi, overlap: parallel}\n    enabled: true\n"
    )
    ticker = world.ticker()

    def minutes(count: int) -> None:
        for _ in range(count):
            world.clock.step(minutes=1)
            ticker.step()

    minutes(25)
    world.clock.step(hours=-1)
    minutes(60)
    world.clock.step(hours=1)
    minutes(31)

    times = [(run.scheduled_for - NOON) // timedelta(minutes=1) for run in world.runs()]
    assert len(times) == len(set(times))
    assert times[:2] == [10, 20]  # before the step back
    assert times[-1] == 110  # the grid goes on as it was
    assert sum(run.missed or 0 for run in world.runs()) + len(times) == 11


@pytest.mark.promise("T5")
def test_a_leap_day_fires_in_leap_years_alone():
    zone, moment, found = ZoneInfo("Europe/Berlin"), datetime(2026, 1, 1, tzinfo=UTC), []
    for _ in range(3):
        moment = cron.parse("0 12 29 2 *").after(moment, zone)
        found.append(moment.year)

    assert found == [2028, 2032, 2036]
