"""The History record: buckets, figures, transitions (cases D36 and D37)."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import Invalid
from dashboard.history.recorder import Recorder
from dashboard.history.windows import history
from dashboard.models import Slug
from tests.dashboard.history.world import NOON, probes, started

pytestmark = pytest.mark.django_db
DAY = 86_400


def seconds_of(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@pytest.mark.parametrize(
    ("window", "buckets", "size", "source"),
    [("24h", 96, 900, "raw"), ("7d", 168, 3600, "hourly"), ("90d", 90, DAY, "hourly")],
)
def test_a_slug_without_history_has_empty_buckets(window, buckets, size, source):
    answer = history("shop", window, now=NOON + 1)

    assert (len(answer["buckets"]), answer["bucketSeconds"]) == (buckets, size)
    assert (answer["source"], answer["window"], answer["slug"]) == (source, window, "shop")
    assert (answer["uptime"], answer["latency"], answer["transitions"]) == (None, None, [])
    assert set(answer["seconds"].values()) == {0}
    assert answer["buckets"][0] == {
        "at": answer["from"], "seconds": None, "uptime": None, "checks": 0, "failed": 0,
        "avg": None, "p95": None, "max": None,
    }  # fmt: skip
    assert seconds_of(answer["to"]) - seconds_of(answer["from"]) == buckets * size


def test_the_day_is_the_default():
    assert history("shop", now=NOON)["window"] == "24h"


def test_an_app_that_is_probed_every_second_has_no_gaps_between_its_samples():
    recorder = started(NOON)
    recorder.pace("shop", 1)
    probes(recorder, "shop", NOON, NOON + 120, every=1)
    recorder.flush(NOON + 120)

    answer = history("shop", "24h", now=NOON + 120)

    assert (answer["seconds"]["unknown"], answer["uptime"]) == (0, 1.0)


@pytest.mark.parametrize("window", ["1y", "", "24H", "24h,7d", " 7d"])
def test_another_window_is_refused(window):
    with pytest.raises(Invalid) as refused:
        history("shop", window, now=NOON)

    assert refused.value.body() == {
        "error": 'Query "window" must be 24h, 7d or 90d.',
        "code": "bad_query",
    }


@pytest.mark.parametrize(("window", "step"), [("24h", 900), ("7d", 3600), ("90d", 3600)])
@pytest.mark.parametrize("late", [0, 0.001, 1, 899.5, 3599])
def test_a_window_ends_at_now_rounded_up(window, step, late):
    answer = history("shop", window, now=NOON + late)

    assert seconds_of(answer["to"]) == NOON + math.ceil(late / step) * step


@pytest.mark.parametrize("window", ["24h", "7d", "90d"])
def test_the_buckets_add_up_to_the_window(window):
    recorder = started(NOON - 20 * DAY)
    for day in range(20):
        probes(recorder, "shop", NOON - day * DAY - 5000, NOON - day * DAY - 3000)
        probes(recorder, "shop", NOON - day * DAY - 3000, NOON - day * DAY, state="down")
    recorder.flush(NOON)
    answer: Any = history("shop", window, now=NOON)

    for key in ("checks", "failed"):
        assert answer[key] == sum(bucket[key] for bucket in answer["buckets"])
    for state, whole in answer["seconds"].items():
        parts = [bucket["seconds"][state] for bucket in answer["buckets"] if bucket["seconds"]]
        assert whole == pytest.approx(sum(parts))
    assert (
        max(sum((b["seconds"] or {}).values()) for b in answer["buckets"])
        <= answer["bucketSeconds"]
    )


def test_uptime_counts_degraded_as_up_and_leaves_out_what_was_not_meant_to_run():
    recorder = started()
    at = float(NOON)
    for state, length in (
        ("up", 60), ("degraded", 30), ("down", 10), ("stopped", 500), ("starting", 40)
    ):  # fmt: skip
        probes(recorder, "shop", at, at + length, state=state, every=5)
        at += length
    recorder.add("shop", at, "up", 900, 200, ok=True)
    recorder.flush(at)

    for window in ("24h", "7d", "90d"):
        assert history("shop", window, now=at)["uptime"] == 90 / 100


def test_only_what_counts_makes_an_uptime():
    recorder = started()
    probes(recorder, "shop", NOON, NOON + 300, state="stopped")
    recorder.flush(NOON + 300)

    for window in ("24h", "7d", "90d"):
        assert history("shop", window, now=NOON + 300)["uptime"] is None


def test_percentiles_of_90_days_are_within_11_percent():
    rnd = random.Random(7)
    recorder = started(NOON - 80 * DAY)
    values = []
    for day in range(80):
        for number in range(40):
            us = int(min(10_000_000, max(500, rnd.lognormvariate(10, 1.5))))
            values.append(us)
            at = NOON - 80 * DAY + day * DAY + number * 600
            recorder.add("shop", at, "up", us, 200, ok=True)
        recorder.flush(NOON - 80 * DAY + day * DAY + 30_000)
    latency: Any = history("shop", "90d", now=NOON)["latency"]
    values.sort()

    for share in (50, 95, 99):
        exact = values[math.ceil(share / 100 * len(values)) - 1] / 1000
        assert latency[f"p{share}"] == pytest.approx(exact, rel=0.11)
    assert latency["avg"] == pytest.approx(sum(values) / len(values) / 1000, abs=0.001)
    assert (latency["min"], latency["max"]) == (values[0] / 1000, values[-1] / 1000)


def test_the_day_has_exact_percentiles():
    recorder = started()
    for number in range(100):
        recorder.add("shop", NOON + 30 * number, "up", (number + 1) * 1000, 200, ok=True)
    recorder.flush(NOON + 3000)
    latency = history("shop", now=NOON + 3000)["latency"]

    assert latency == {"avg": 50.5, "min": 1, "p50": 50, "p95": 95, "p99": 99, "max": 100}


def test_the_last_200_transitions_say_how_long_each_lasted():
    recorder = started()
    for number in range(250):
        words = ("up", "down") if number % 2 else ("down", "up")
        recorder.edge("shop", NOON + number * 60, *words, "refused")
    recorder.flush(NOON + 250 * 60)
    transitions = history("shop", now=NOON + 250 * 60 + 15)["transitions"]

    assert len(transitions) == 200
    assert [row["seconds"] for row in transitions] == [60] * 199 + [75]
    assert transitions[-1] == {
        "at": history("shop", now=NOON)["to"].replace(":00:00.000", ":09:00.000").replace(
            "T12", "T16"
        ),
        "from": "up", "to": "down", "reason": "refused", "seconds": 75,
    }  # fmt: skip


def test_hours_are_those_of_utc_whatever_the_clocks_of_the_place_do():
    autumn = int(datetime(2026, 10, 25, tzinfo=UTC).timestamp())  # Europe sets its clocks back
    recorder = started(autumn)
    probes(recorder, "shop", autumn - 7200, autumn + 5 * 3600, every=60)
    recorder.flush(autumn + 5 * 3600)
    buckets: Any = history("shop", "7d", now=autumn + 5 * 3600)["buckets"]

    starts = [seconds_of(bucket["at"]) for bucket in buckets]
    assert [late - early for early, late in pairwise(starts)] == [3600] * 167
    assert [bucket["seconds"]["up"] for bucket in buckets[-7:-1]] == [3600] * 6


def test_a_change_within_ten_seconds_is_exact_although_its_sample_is_the_worst():
    recorder = started()
    recorder.add("shop", NOON, "up", 900, 200, ok=True)
    recorder.edge("shop", NOON + 4, "up", "down", "refused")
    recorder.add("shop", NOON + 4, "down", None, None, ok=False)
    recorder.edge("shop", NOON + 7, "down", "up", "ok")
    recorder.add("shop", NOON + 20, "up", 900, 200, ok=True)
    recorder.flush(NOON + 20)

    for window in ("24h", "7d"):
        found = history("shop", window, now=NOON + 20)["seconds"]
        assert (found["up"], found["down"]) == (17, 3)


WORDS = st.sampled_from(["up", "degraded", "down", "stopped", "unknown", "starting", "stopping"])
EVENT = st.tuples(
    st.sampled_from(["probe", "probe", "probe", "edge", "flush", "restart", "crash"]),
    st.one_of(st.integers(1, 4), st.integers(1, 400)).map(lambda slots: slots * 10_000),
    WORDS,
)


@settings(max_examples=40, deadline=None)
@given(events=st.lists(EVENT, max_size=25))
def test_samples_and_hours_tell_the_same_story(events):
    Slug.objects.all().delete()
    ts = NOON * 1000
    recorder, state = started(NOON), "unknown"
    for kind, passed, word in events:
        ts += passed
        if kind == "probe":
            recorder.add("shop", ts / 1000, state, 900, 200, ok=state == "up")
        elif kind == "edge" and word != state:
            recorder.edge("shop", ts / 1000, state, word, "ok")
            state = word
        else:
            recorder = _interrupted(recorder, kind, ts / 1000)
    recorder.close(ts / 1000)
    end = NOON + DAY - 3600
    raw, hourly = (history("shop", window, now=end)["seconds"] for window in ("24h", "7d"))

    if ts / 1000 < end:
        assert raw == pytest.approx(hourly, abs=0.05)


def _interrupted(recorder: Recorder, kind: str, now: float) -> Recorder:
    if kind == "restart":
        recorder.close(now)
        return started(now)
    if kind == "crash":
        recorder.flush(now)
        return started(now)
    recorder.flush(now)
    return recorder
