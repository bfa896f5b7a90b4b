"""The cron grammar, and its instants against a brute-force walk over real minutes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.promises.rings import ring
from workspace.triggers.schedule import cron

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "UTC"]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def walk(text: str, start: datetime, zone: ZoneInfo, count: int) -> list[str]:
    found, moment = [], start
    for _ in range(count):
        moment = cron.parse(text).after(moment, zone)
        found.append(moment.astimezone(zone).isoformat(timespec="minutes"))
    return found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 0 3 * * *", '"0 0 3 * * *" has 6 fields, 5 are needed'),
        ("5", '"5" has 1 field, 5 are needed'),
        ("75 * * * *", '"75 * * * *" field 1 (minute): 75 is not within 0-59'),
        ("* 24 * * *", '"* 24 * * *" field 2 (hour): 24 is not within 0-23'),
        ("* * 0 * *", '"* * 0 * *" field 3 (day of month): 0 is not within 1-31'),
        ("* * * 13 *", '"* * * 13 *" field 4 (month): 13 is not within 1-12'),
        ("* * * * 8", '"* * * * 8" field 5 (day of week): 8 is not within 0-7'),
        ("*/0 * * * *", '"*/0 * * * *" field 1 (minute): /0 is not a step of 1 or more'),
        ("30-10 * * * *", '"30-10 * * * *" field 1 (minute): 30-10 runs backwards'),
        ("0 0 30 2 *", '"0 0 30 2 *" never occurs'),
        ("0 0 31 4,6,9,11 *", '"0 0 31 4,6,9,11 *" never occurs'),
        ("0 0 L * *", '"L" is not a number'),
        ("0 0 ? * *", '"?" is not a number'),
        ("0 0 * * 5#2", '"5#2" is not a number'),
        ("0 0 15W * *", '"15W" is not a number'),
        ("@reboot", "is not one of @yearly"),
        ("1,,2 * * * *", '"" is not a number'),
        ("", '"" has 0 fields'),
        ("0" + ",0" * 100 + " * * * *", "is longer than 150 characters"),
        ("H * * * *", '"H" is not a number'),
        ("TZ=Europe/Berlin 0 9 * * *", "leave it out and give timezone: Europe/Berlin"),
        ("CRON_TZ=UTC @daily", "leave it out and give timezone: UTC"),
        ("@Reboot", '"@Reboot" is not one of @yearly'),
        ("٣ * * * *", "is not a number"),
    ],
)
def test_a_bad_pattern_is_refused_with_its_field_and_reason(text, reason):
    with pytest.raises(cron.BadCron) as error:
        cron.parse(text)

    assert reason in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["@Daily", "@HOURLY", "0 0 29 2 *", "0 0 30 2 1", "0 0 * JAN-MAR Mon-fri", "5/15 * * * 7"],
)
def test_a_good_pattern_is_accepted_in_any_case(text):
    assert cron.parse(text).after(at("2026-01-01"), BERLIN) > at("2026-01-01")


@settings(max_examples=ring(fast=40, slow=750), deadline=None)
@given(st.text(alphabet="0123456789*/,-@ ?LW#JANmon٣", max_size=30))
def test_any_text_is_either_refused_or_has_a_next_time(text):
    try:
        pattern = cron.parse(text)
    except cron.BadCron:
        return

    assert pattern.after(at("2026-01-01"), UTC) > at("2026-01-01")


def test_both_day_fields_restricted_means_either_matches():
    assert walk("0 0 13 * 5", at("2026-02-01"), ZoneInfo("UTC"), 4) == [
        "2026-02-06T00:00+00:00",
        "2026-02-13T00:00+00:00",
        "2026-02-20T00:00+00:00",
        "2026-02-27T00:00+00:00",
    ]


def test_a_fixed_time_in_the_gap_runs_at_its_end_and_one_that_exists_twice_runs_once():
    assert walk("30 2 * * *", at("2026-03-28T00:00"), BERLIN, 3) == [
        "2026-03-28T02:30+01:00",
        "2026-03-29T03:00+02:00",
        "2026-03-30T02:30+02:00",
    ]
    assert walk("30 2 * * *", at("2026-10-24T00:00"), BERLIN, 3) == [
        "2026-10-24T02:30+02:00",
        "2026-10-25T02:30+02:00",
        "2026-10-26T02:30+01:00",
    ]


def test_several_fixed_times_in_one_gap_run_once_together():
    assert walk("*/20 2,3 * * *", at("2026-03-29T00:30"), BERLIN, 3) == [
        "2026-03-29T03:00+02:00",
        "2026-03-29T03:20+02:00",
        "2026-03-29T03:40+02:00",
    ]


def test_a_wildcard_hour_runs_on_every_real_quarter_of_both_change_days():
    for day, hours in (("2026-03-28T23:00", 23), ("2026-10-24T22:00", 25)):
        start = at(day) - timedelta(seconds=1)
        found = walk("*/15 * * * *", start, BERLIN, hours * 4)
        instants = [datetime.fromisoformat(moment) for moment in found]

        assert [b - a for a, b in pairwise(instants)] == [timedelta(minutes=15)] * (hours * 4 - 1)


def test_a_yearly_pattern_with_a_step_hour_takes_both_passes_of_a_doubled_hour():
    assert walk("30 2/24 25 10 *", at("2026-01-05"), BERLIN, 2) == [
        "2026-10-25T02:30+02:00",
        "2026-10-25T02:30+01:00",
    ]


def test_leap_days_are_found_across_years():
    assert walk("0 12 29 2 *", at("2026-01-01"), ZoneInfo("UTC"), 2) == [
        "2028-02-29T12:00+00:00",
        "2032-02-29T12:00+00:00",
    ]


def test_an_instant_with_seconds_leads_to_the_next_whole_minute():
    moment = at("2026-01-01T10:00:30.250")

    assert cron.parse("* * * * *").after(moment, BERLIN) == at("2026-01-01T10:01")


# The reference: for fixed hours place every wall-clock minute, for others filter real minutes.


def expand(word: str, least: int, most: int) -> set[int]:
    found: set[int] = set()
    for part in word.split(","):
        span, _, step = part.partition("/")
        first, _, last = (f"{least}-{most}" if span == "*" else span).partition("-")
        end = int(last) if last else (most if step else int(first))
        found |= set(range(int(first), end + 1, int(step or 1)))
    return found


def reference(text: str, start: datetime, zone: ZoneInfo, hours: int) -> list[datetime]:
    minute, hour, *_ = text.split()
    minutes, chosen = expand(minute, 0, 59), expand(hour, 0, 23)
    real = [start + timedelta(minutes=n) for n in range(1, hours * 60)]
    if "*" in hour or "/" in hour:
        local = [(moment, moment.astimezone(zone)) for moment in real]
        return [m for m, wall in local if wall.minute in minutes and wall.hour in chosen]
    exists: dict[datetime, datetime] = {}
    for moment in real:
        exists.setdefault(moment.astimezone(zone).replace(tzinfo=None), moment)
    walls = sorted(exists)
    found, wall = set(), walls[0]
    while wall <= walls[-1]:
        if wall.minute in minutes and wall.hour in chosen:
            found.add(exists[wall] if wall in exists else exists[min(w for w in walls if w > wall)])
        wall += timedelta(minutes=1)
    return sorted(found)


CHANGES = {
    "Europe/Berlin": ["2026-03-29T01:00", "2026-10-25T01:00"],
    "America/New_York": ["2026-03-08T07:00", "2026-11-01T06:00"],
    "Australia/Lord_Howe": ["2026-10-03T15:30", "2026-04-04T15:00"],
    "Pacific/Chatham": ["2026-09-26T14:00", "2026-04-04T14:00"],
    "UTC": ["2026-03-29T01:00"],
}
minute_fields = st.sampled_from(["0", "30", "*/15", "5,45", "*/7", "59", "0-10/5"])
hour_fields = st.sampled_from(["*", "2", "1-3", "*/2", "2,3", "1,2", "0-23/3", "3", "1"])


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(ZONES), minute_fields, hour_fields, st.data())
def test_every_zone_agrees_with_a_walk_over_real_minutes(name, minute, hour, data):
    zone, text = ZoneInfo(name), f"{minute} {hour} * * *"
    start = at(data.draw(st.sampled_from(CHANGES[name]))) - timedelta(hours=26)
    expected = reference(text, start, zone, 52)

    moment, found = start, list[datetime]()
    while len(found) < len(expected):
        moment = cron.parse(text).after(moment, zone)
        found.append(moment)

    # The walk begins inside a day: a doubled or skipped wall time at its very edge is not judged.
    assert found[: len(expected) - 1] == expected[: len(expected) - 1]


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("*/60 * * * *", '"*/60" (minute) is 0 alone: no further step fits in'),
        ("*/100 * * * *", '"*/100" (minute) is 0 alone: no further step fits in'),
        ("0 9-12/5 * * *", '"9-12/5" (hour) is 9 alone: no further step fits in'),
        (
            "0 9 1-7 * MON",
            'fires on every day that fits "1-7" (day of month) or "MON" (day of week), '
            "not only where both do",
        ),
    ],
)
def test_a_pattern_that_is_seldom_meant_so_is_warned_of(text, warning):
    assert cron.parse(text).warnings == (warning,)


@pytest.mark.parametrize("text", ["*/30 * * * *", "0 */12 * * *", "0 9 1-7 * *", "@weekly"])
def test_a_plain_pattern_is_not_warned_of(text):
    assert cron.parse(text).warnings == ()
