"""Latencies in bins: small, exact to add, at most 11 % off."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.history.hist import Histogram, unpack

LATENCIES = st.lists(st.integers(500, 10_000_000), min_size=1, max_size=300)


def of(values: list[int]) -> Histogram:
    histogram = Histogram()
    for us in values:
        histogram.add(us)
    return histogram


@given(values=LATENCIES, share=st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_within_11_percent_of_the_exact_one(values, share):
    exact = sorted(values)[math.ceil(share * len(values)) - 1]

    assert of(values).percentile(share) == pytest.approx(exact, rel=0.11)


@given(parts=st.lists(LATENCIES, min_size=1, max_size=6))
def test_hours_added_are_the_histogram_of_all_their_values(parts):
    added = Histogram()
    for values in parts:
        added.merge(of(values))

    assert added == of([us for values in parts for us in values])


@given(parts=st.lists(st.lists(st.integers(0, 100_000_000), max_size=400), max_size=6))
def test_bytes_of_several_hours_read_together_are_their_sum(parts):
    whole = of([us for values in parts for us in values])

    assert unpack(of(values).pack() for values in parts) == whole.counts


def test_counts_that_take_more_than_a_byte_survive():
    counts = Histogram(counts=[0, 127, 128, 16_383, 16_384, *[0] * 42, 3_600_000])

    assert unpack([counts.pack(), counts.pack()]) == [2 * count for count in counts.counts]


def test_an_hour_of_a_usual_app_takes_few_bytes():
    assert len(of([2_000 + 37 * number for number in range(120)]).pack()) <= 40


def test_values_outside_the_bins_keep_their_extremes():
    histogram = of([90, 42_000_000])

    assert (histogram.low, histogram.high, histogram.count) == (90, 42_000_000, 2)
    assert histogram.percentile(0.99) == pytest.approx(10_000_000, rel=0.11)


def test_nothing_measured_has_no_percentile():
    assert Histogram().percentile(0.5) is None


@pytest.mark.parametrize("blob", [b"\x01", b"\x30\x01", b"\x01\x80", b"\xff\xff"])
def test_bytes_that_are_no_histogram_count_nothing(blob):
    assert unpack([blob]) == Histogram().counts
