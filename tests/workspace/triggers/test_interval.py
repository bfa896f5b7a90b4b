"""The interval grammar."""

from __future__ import annotations

from datetime import timedelta

import pytest

from workspace.triggers.schedule import interval


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), (" 2 H ", 7200), ("1s", 1), ("366d", 366 * 86400)]
)
def test_a_whole_number_and_a_unit_is_a_duration(text, seconds):
    assert interval.parse(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["soon", "1h30m", "0m", "1.5h", "2w", "-1m", "", "m", "٣m", "007m"]
)
def test_anything_else_is_refused_with_the_forms_that_work(text):
    with pytest.raises(interval.BadInterval, match="whole number plus s, m, h or d"):
        interval.parse(text)


def test_more_than_a_year_is_refused():
    with pytest.raises(interval.BadInterval, match="longer than 366d"):
        interval.parse("367d")


def test_a_huge_number_is_refused_without_counting_it():
    with pytest.raises(interval.BadInterval):
        interval.parse("9" * 5000 + "d")
