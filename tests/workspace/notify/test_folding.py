"""One message for each cause and window: nothing is told twice, and nothing is lost."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
from django_q.models import OrmQ
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TransactionTestCase

from tests.promises.rings import ring
from tests.workspace.notify.world import START, cause
from workspace.notify import folding
from workspace.notify.tables import NotifyCause, NotifyDelivery, NotifyMessage

MINUTE = timedelta(minutes=1)
MANY = ring(fast=100, slow=1000)


def told() -> list[dict[str, Any]]:
    return list(NotifyMessage.objects.values_list("body", flat=True))


@pytest.fixture(autouse=True)
def database(transactional_db: None) -> None:
    """Committed rows: a message is handed over when it is stored."""


def test_the_first_of_a_cause_is_told_at_once_and_the_rest_together_when_its_window_ends():
    for minute in (0, 1, 3):
        folding.note(cause(text=f"try {minute}"), START + minute * MINUTE)
    assert [one["count"] for one in told()] == [1]

    folding.close_windows(START + 9 * MINUTE)
    assert len(told()) == 1
    folding.close_windows(START + 10 * MINUTE)

    first, rest = told()
    assert (first["title"], first["text"]) == ("shop is down", "try 0")
    assert (rest["title"], rest["text"]) == ("shop is down (2 times)", "Last: try 3")
    assert (rest["count"], rest["at"]) == (2, "2026-03-29T00:31:00.000Z")


def test_a_window_in_which_nothing_came_ends_without_a_word():
    folding.note(cause(), START)

    folding.close_windows(START + 10 * MINUTE)

    assert len(told()) == 1
    assert not NotifyCause.objects.exists()


def test_what_came_in_a_window_that_nobody_closed_is_told_with_the_next():
    for minute in (0, 1, 30):
        folding.note(cause(), START + minute * MINUTE)

    assert [one["count"] for one in told()] == [1, 2]


def test_a_clock_that_was_set_back_keeps_no_window_open():
    folding.note(cause(), START + timedelta(hours=3))
    folding.note(cause(), START)
    assert len(told()) == 2

    folding.note(cause("other"), START + timedelta(hours=3))
    folding.note(cause("other"), START + timedelta(hours=3))
    folding.close_windows(START)

    assert sum(one["count"] for one in told()) == 4


def test_any_number_of_one_cause_are_one_message_and_one_task():
    for second in range(MANY):
        folding.note(cause(), START + timedelta(milliseconds=second))

    assert (NotifyMessage.objects.count(), OrmQ.objects.count()) == (1, 1)
    folding.close_windows(START + timedelta(minutes=11))
    assert [one["count"] for one in told()] == [1, MANY - 1]


def test_many_causes_at_once_share_a_window_beyond_the_twentieth():
    for number in range(MANY):
        folding.note(cause(f"app_down:{number}", text=str(number)), START)

    assert NotifyMessage.objects.count() == folding.MANY + 1
    assert OrmQ.objects.count() == folding.MANY + 1
    folding.close_windows(START + timedelta(minutes=11))
    assert sum(one["count"] for one in told()) == MANY
    assert len(told()) == folding.MANY + 2


def test_a_channel_gets_what_it_wants_and_nothing_else(settings):
    from tests.workspace.notify.world import channels

    channels(settings, {"name": "a", "command": ["a"], "events": ["app_down"]},
             {"name": "b", "command": ["b"], "events": ["asked"]})  # fmt: skip

    folding.note(cause(), START)

    assert [one.channel for one in NotifyDelivery.objects.all()] == ["a"]


class Property(TransactionTestCase):
    """Whatever comes when, and whenever windows are looked at."""

    steps = st.lists(
        st.tuples(st.sampled_from(["a", "b", "look"]), st.integers(0, 900)), max_size=30
    )

    @given(steps)
    @settings(max_examples=ring(fast=30, slow=1000))
    def test_no_cause_is_lost_and_none_is_told_twice_in_a_window(self, steps):
        for table in (NotifyCause, NotifyMessage):
            table.objects.all().delete()
        now, came = START, {"a": 0, "b": 0}
        for what, seconds in steps:
            now += timedelta(seconds=seconds)
            if what == "look":
                folding.close_windows(now)
            else:
                came[what] += 1
                folding.note(cause(what), now)
        folding.close_windows(now + folding.WINDOW)

        for key, count in came.items():
            rows = NotifyMessage.objects.filter(cause=key).order_by("at")
            times = list(rows.values_list("at", flat=True))
            assert sum(row.body["count"] for row in rows) == count
            assert all(
                later - before >= folding.WINDOW for before, later in itertools.pairwise(times)
            )
