"""What the recorder keeps: hours, samples, changes of state, and what a restart finds again."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.history import store
from dashboard.history.recorder import Recorder
from dashboard.history.store import Standing
from dashboard.history.timeline import HOUR
from dashboard.history.windows import history
from dashboard.models import Edge, Hour, Sample, Slug
from tests.dashboard.history.world import NOON, probes, started

pytestmark = pytest.mark.django_db
HALF = 1800


def seconds(slug: str) -> dict[str, float]:
    """What the hour rows of a slug say, all together."""
    found = dict.fromkeys(("up", "degraded", "down", "stopped", "unknown"), 0.0)
    for row in Hour.objects.filter(app__slug=slug):
        for name in found:
            found[name] += getattr(row, name) / 1000
    return found


def known(recorder: Recorder) -> Standing:
    standing = recorder.find_standing("shop")
    assert standing is not None
    return standing


def test_time_belongs_to_the_state_until_the_next_word():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 600)
    recorder.edge("shop", NOON + 600, "up", "down", "refused")
    probes(recorder, "shop", NOON + 600, NOON + 900.5, state="down")

    assert recorder.flush(NOON + 900)
    assert seconds("shop") == {"up": 600, "degraded": 0, "down": 300, "stopped": 0, "unknown": 0}
    assert recorder.summary("shop", NOON + 900).uptime["90d"] == 600 / 900


def test_time_is_cut_at_the_hour():
    recorder = started()
    probes(recorder, "shop", NOON + 3590, NOON + 3630)
    recorder.flush(NOON + 3630)

    assert list(Hour.objects.values_list("up", "n")) == [(10_000, 1), (20_000, 1)]


def test_four_intervals_without_a_word_are_unknown():
    recorder = started()
    for at, state in ((0, "up"), (90, "down"), (180, "up"), (271, "up"), (300, "up")):
        recorder.add("shop", NOON + at, state, 900, 200, ok=True)
    recorder.flush(NOON + 300)

    assert seconds("shop") == {"up": 119, "degraded": 0, "down": 90, "stopped": 0, "unknown": 91}


def test_a_slow_pace_makes_gaps_longer():
    recorder = started()
    recorder.pace("shop", 3600)
    for hour in range(4):
        recorder.add("shop", NOON + hour * 3600, "up", 900, 200, ok=True)
    recorder.flush(NOON + 10_800)

    assert seconds("shop")["up"] == 10_800
    assert history("shop", now=NOON + 10_800)["seconds"]["up"] == 10_800


def test_starting_counts_as_unknown_and_stopping_as_stopped():
    recorder = started()
    for at, before, after in (
        (0, "unknown", "starting"),
        (10, "starting", "up"),
        (30, "up", "stopping"),
        (33, "stopping", "stopped"),
        (40, "stopped", "starting"),
    ):
        recorder.edge("shop", NOON + at, before, after, "user")
    recorder.flush(NOON + 40)

    assert seconds("shop") == {"up": 20, "degraded": 0, "down": 0, "stopped": 10, "unknown": 10}
    assert known(recorder).state == "starting"


@pytest.mark.parametrize("state", ["stopped", "down", "unknown"])
def test_a_state_that_nobody_probes_lasts_while_the_daemon_lives(state):
    recorder = started()
    recorder.edge("shop", NOON, "up", state, "user")
    for second in range(0, 7200, 20):
        recorder.flush(NOON + second)

    assert seconds("shop")[state] == pytest.approx(7200, abs=450)
    answer: Any = history("shop", now=NOON + 7200)
    assert (answer["seconds"][state], answer["checks"]) == (7200, 0)


def test_up_is_not_believed_without_probes():
    recorder = started()
    recorder.edge("shop", NOON, "starting", "up", "ok")
    for second in range(0, 600, 20):
        recorder.flush(NOON + second)

    assert seconds("shop")["up"] == 0
    assert history("shop", now=NOON + 600)["seconds"] | {"unknown": 0} == {
        "up": 0, "degraded": 0, "down": 0, "stopped": 0, "unknown": 0
    }  # fmt: skip
    assert history("shop", now=NOON + 600)["seconds"]["unknown"] == 600


def test_ten_seconds_keep_their_worst_sample_and_the_hour_counts_all():
    recorder = started()
    for second in range(30):
        down = second == 14
        recorder.add(
            "shop", NOON + second, "down" if down else "up", None if down else 900 + second,
            None if down else 200, ok=not down,
        )  # fmt: skip
        recorder.flush(NOON + second)

    rows = Sample.objects.values_list("ts", "state", "us", "ok")
    assert list(rows) == [
        (NOON * 1000, 3, 909, True),
        (NOON * 1000 + 10_000, 5, None, False),
        (NOON * 1000 + 20_000, 3, 929, True),
    ]
    assert list(Hour.objects.values_list("n", "failed", "up", "down")) == [(30, 1, 28_000, 1_000)]


def test_latency_is_that_of_passed_checks_alone():
    recorder = started()
    recorder.add("shop", NOON, "up", 1_000, 200, ok=True)
    recorder.add("shop", NOON + 30, "degraded", 90_000, 500, ok=False)
    recorder.add("shop", NOON + 60, "up", 3_000, 200, ok=True)
    recorder.flush(NOON + 60)

    for window in ("24h", "7d"):
        answer: Any = history("shop", window, now=NOON + 61)
        assert answer["latency"]["avg"] == 2.0
        assert (answer["latency"]["min"], answer["latency"]["max"]) == (1.0, 3.0)
        assert (answer["checks"], answer["failed"]) == (3, 1)


def test_a_check_that_fails_while_an_app_starts_or_is_stopped_is_none():
    recorder = started()
    for second, state in enumerate(("stopped", "starting", "starting", "stopping")):
        recorder.add("shop", NOON + second, state, None, None, ok=False)
    recorder.add("shop", NOON + 4, "up", 900, 200, ok=True)
    recorder.add("shop", NOON + 30, "down", None, None, ok=False)
    recorder.add("shop", NOON + 60, "degraded", 900, 500, ok=False)
    recorder.flush(NOON + 60)

    for window in ("24h", "7d"):
        answer: Any = history("shop", window, now=NOON + 61)
        assert (answer["checks"], answer["failed"]) == (3, 2)


def test_two_changes_in_one_millisecond_are_both_kept():
    recorder = started()
    recorder.edge("shop", NOON, "up", "stopping", "user")
    recorder.edge("shop", NOON, "stopping", "stopped", "user")
    recorder.flush(NOON)

    assert list(Edge.objects.values_list("to_state", flat=True)) == ["stopping", "stopped"]


def test_a_restart_finds_bars_checks_uptime_and_the_last_state():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + HALF)
    recorder.edge("shop", NOON + HALF, "up", "down", "refused")
    probes(recorder, "shop", NOON + HALF, NOON + 2 * HALF, state="down")
    recorder.close(NOON + 2 * HALF)
    before = recorder.summary("shop", NOON + 3 * HALF)

    again = started(NOON + 3 * HALF)

    assert again.summary("shop", NOON + 3 * HALF) == before
    assert before.bar24 == "-" * 44 + "ud--"
    assert before.uptime == {"24h": 0.5, "7d": 0.5, "90d": 0.5}
    assert len(before.recent) == 30
    assert known(again).state == "down"
    assert known(again).since == (NOON + HALF) * 1000


def test_a_check_says_what_the_app_was_with_it_also_after_a_restart():
    recorder = started()
    for at, state, ok in ((0, "starting", False), (10, "up", True), (20, "stopped", False)):
        recorder.add("shop", NOON + at, state, 900, None, ok=ok)
    recorder.close(NOON + 30)
    before = recorder.summary("shop", NOON + 30).recent

    assert [check["state"] for check in before] == ["unknown", "up", "stopped"]
    assert started(NOON + 60).summary("shop", NOON + 60).recent == before


def test_the_time_between_two_runs_is_outside():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60.5)
    recorder.close(NOON + 70)
    again = started(NOON + 100)
    probes(again, "shop", NOON + 100, NOON + 160.5)
    again.flush(NOON + 160)

    expected = {"up": 130, "degraded": 0, "down": 0, "stopped": 0, "unknown": 0}
    assert seconds("shop") == expected
    assert history("shop", now=NOON + 160)["seconds"] == expected


def test_after_a_crash_a_run_ends_with_the_last_word_about_any_app():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60.5)
    probes(recorder, "blog", NOON + 80, NOON + 81)
    recorder.flush(NOON + 80)
    again = started(NOON + 100)
    probes(again, "shop", NOON + 100, NOON + 130.5)
    again.flush(NOON + 130)

    assert seconds("shop")["up"] == pytest.approx(110, abs=0.002)
    raw = history("shop", now=NOON + 130)["seconds"]
    assert raw == seconds("shop")


def test_a_second_start_within_ten_seconds_overwrites_no_sample():
    for at in (0, 3, 6):
        recorder = started(NOON + at)
        recorder.add("shop", NOON + at, "up", 900, 200, ok=True)
        recorder.flush(NOON + at)

    assert Sample.objects.filter(ok=True).count() == 3
    assert sum(Hour.objects.values_list("n", flat=True)) == 3


def test_a_clock_set_back_counts_no_time_twice():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 600.5)
    probes(recorder, "shop", NOON + 300, NOON + 900.5)
    recorder.flush(NOON + 900)

    assert seconds("shop")["up"] == 900


def test_an_hour_never_holds_more_than_an_hour():
    recorder = started()
    for _ in range(3):
        probes(recorder, "shop", NOON, NOON + 7300)
        recorder.flush(NOON + 7300)

    assert [row.up for row in Hour.objects.order_by("hour")][:2] == [HOUR, HOUR]


def test_a_clock_that_was_years_ahead_fills_no_hours():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 60)
    probes(recorder, "shop", NOON + 10 * 365 * 86_400, NOON + 10 * 365 * 86_400 + 60)
    probes(recorder, "shop", NOON + 60, NOON + 120.5)
    recorder.flush(NOON + 120)

    assert Hour.objects.count() == 2
    assert history("shop", "7d", now=NOON + 120)["seconds"]["up"] == 90


def test_who_asks_while_the_history_is_loaded_sees_none_or_all_of_it(monkeypatch):
    recorder = started()
    every = {f"o-{number}": f"shop-{number}" for number in range(3)}
    for observed_id, slug in every.items():
        recorder.bind(slug, observed_id)
    recorder.flush(NOON)
    again, seen, recent = Recorder(), [], store.recent

    def asked(pk: int):
        seen.append(again.bound_slugs())
        return recent(pk)

    monkeypatch.setattr(store, "recent", asked)
    again.load(NOON)

    assert seen == [{}, {}, {}]
    assert again.bound_slugs() == every


def test_a_removed_app_keeps_its_history_and_gets_it_back():
    recorder = started()
    recorder.bind("shop", "o-0123456789ab")
    probes(recorder, "shop", NOON, NOON + 60.5)
    recorder.remove("shop", NOON + 75)
    recorder.flush(NOON + 80)

    assert Slug.objects.get().removed_at == (NOON + 75) * 1000
    again = started(NOON + 86_400)
    assert again.bound_slugs() == {"o-0123456789ab": "shop"}
    assert history("shop", "7d", now=NOON + 86_400)["seconds"]["up"] == 75

    probes(again, "shop", NOON + 86_400, NOON + 86_430)
    again.flush(NOON + 86_430)
    assert (Slug.objects.get().removed_at, Slug.objects.get().observed_id) == (
        None, "o-0123456789ab"
    )  # fmt: skip


def test_uptime_in_memory_is_that_of_the_windows():
    recorder = started()
    for day in range(0, 100, 5):
        at = NOON - 100 * 86_400 + day * 86_400
        probes(recorder, "shop", at, at + 4000, state="up" if day % 10 else "down")
        recorder.flush(at + 4000)
    probes(recorder, "shop", NOON, NOON + 300)
    recorder.flush(NOON + 300)

    for one in (recorder, started(NOON + 300)):
        one.flush(NOON + 300)
        uptime = one.summary("shop", NOON + 300).uptime
        for window in ("7d", "90d"):
            assert uptime[window] == history("shop", window, now=NOON + 300)["uptime"]


def test_hours_leave_memory_when_they_are_settled():
    recorder = started()
    for second in range(0, 6 * 3600, 600):
        recorder.add("shop", NOON + second, "up", 900, 200, ok=True)
        recorder.flush(NOON + second)

    assert len(recorder._tracks["shop"].hours) <= 2


def test_an_app_nobody_knows_has_an_empty_summary():
    summary = started().summary("nobody", NOON)

    assert (summary.recent, summary.bar24) == ([], "-" * 48)
    assert summary.uptime == {"24h": None, "7d": None, "90d": None}


def test_a_second_down_colours_no_half_hour_and_three_minutes_do():
    recorder = started()
    for half, lasts in ((NOON, 1), (NOON + HALF, 180)):
        probes(recorder, "shop", half, half + 100)
        recorder.edge("shop", half + 100, "up", "down", "refused")
        probes(recorder, "shop", half + 101, half + 100 + lasts, state="down")
        recorder.edge("shop", half + 100 + lasts, "down", "up", "ok")
        probes(recorder, "shop", half + 100 + lasts, half + HALF)

    bar = recorder.summary("shop", NOON + 2 * HALF).bar24

    assert bar.strip("-") == "ud"


def test_that_nothing_answers_before_the_first_start_is_no_outage():
    recorder = started()
    recorder.edge("shop", NOON, "unknown", "down", "refused")
    probes(recorder, "shop", NOON, NOON + 300, state="down")
    recorder.edge("shop", NOON + 300, "down", "starting", "spawned")
    recorder.edge("shop", NOON + 302, "starting", "up", "ok")
    probes(recorder, "shop", NOON + 302, NOON + 600)
    recorder.edge("shop", NOON + 600, "up", "down", "refused")
    recorder.edge("shop", NOON + 660, "down", "up", "ok")
    recorder.flush(NOON + 660)

    assert seconds("shop")["down"] == 60
    for window in ("24h", "7d"):
        answer = history("shop", window, now=NOON + 661)
        assert (answer["seconds"]["down"], answer["failed"]) == (60, 0)
    assert [edge.to_state for edge in Edge.objects.all()] == ["starting", "up", "down", "up"]
