"""When a picture is due."""

from __future__ import annotations

import pytest

from dashboard.pictures.due import RETRIES, RETRY_S, Allowance, Due


def test_nothing_is_due_before_something_asked_for_it():
    assert Due().next(None) is None
    assert Due().next(60.0) is None
    assert Due(last=100.0).next(None) is None


def test_what_was_asked_for_comes_before_the_interval_and_once():
    turn = Due(wanted=103.0, last=90.0)
    assert (turn.next(60.0), turn.next(None)) == (103.0, 103.0)

    turn.record_try(104.0, done=True)

    assert (turn.next(60.0), turn.next(None)) == (164.0, None)


def test_a_failure_is_tried_again_ever_later_and_not_for_ever():
    turn, now, waits = Due(wanted=0.0), 0.0, []
    while (at := turn.next(None)) is not None:
        waits.append(at - now)
        now = at
        turn.record_try(now, done=False)

    assert waits == [0.0, *(RETRY_S * 4**n for n in range(RETRIES))]


def test_a_success_forgives_the_failures_before_it():
    turn = Due()
    turn.record_try(0.0, done=False)
    turn.record_try(1.0, done=False)
    turn.record_try(2.0, done=True)

    turn.record_try(3.0, done=False)

    assert turn.next(None) == 3.0 + RETRY_S


def test_fresh_is_what_was_made_within_the_time():
    assert not Due().fresh(100.0, 60.0)
    assert Due(last=41.0).fresh(100.0, 60.0)
    assert not Due(last=40.0).fresh(100.0, 60.0)


def test_what_is_spent_at_once_is_earned_again_at_the_rate():
    allowance = Allowance(10.0, 0.05)
    assert allowance.wait(1000.0) == 0.0

    allowance.spend(12.0)

    assert allowance.wait(1000.0) == pytest.approx(40.0)
    assert allowance.wait(1030.0) == pytest.approx(10.0)
    assert allowance.wait(1041.0) == 0.0


def test_a_pause_earns_no_more_than_may_be_spent_at_once():
    allowance = Allowance(10.0, 0.05)
    allowance.wait(0.0)
    allowance.wait(100_000.0)

    allowance.spend(15.0)

    assert allowance.wait(100_000.0) == pytest.approx(100.0)
