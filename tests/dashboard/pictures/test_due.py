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

    turn.tried(104.0, done=True)

    assert (turn.next(60.0), turn.next(None)) == (164.0, None)


def test_a_failure_is_tried_again_ever_later_and_not_for_ever():
    turn, now, waits = Due(wanted=0.0), 0.0, []
    while (at := turn.next(None)) is not None:
        waits.append(at - now)
        now = at
        turn.tried(now, done=False)

    assert waits == [0.0, *(RETRY_S * 4**n for n in range(RETRIES))]


def test_a_success_forgives_the_failures_before_it():
    turn = Due()
    turn.tried(0.0, done=False)
    turn.tried(1.0, done=False)
    turn.tried(2.0, done=True)

    turn.tried(3.0, done=False)

    assert turn.next(None) == 3.0 + RETRY_S


def test_fresh_is_what_was_made_within_the_time():
    assert not Due().fresh(100.0, 60.0)
    assert Due(last=41.0).fresh(100.0, 60.0)
    assert not Due(last=40.0).fresh(100.0, 60.0)


def spent(allowance: Allowance, until: float, rest: float) -> list[float]:
    """When pictures are made up to `until` when all that may be made are made."""
    made, now = [], allowance.seen
    while (now := now + allowance.wait(now, rest)) <= until:
        if not allowance.wait(now, rest):
            allowance.spend()
            made.append(now)
    return made


def test_some_are_made_at_once_then_one_per_rest():
    assert spent(Allowance(3), 100.0, 30.0) == [0.0, 0.0, 0.0, 30.0, 60.0, 90.0]


def test_a_pause_earns_a_new_row_and_no_more_than_that():
    allowance = Allowance(2)
    assert spent(allowance, 1.0, 30.0) == [0.0, 0.0]

    assert allowance.wait(1000.0, 30.0) == 0.0
    assert spent(allowance, 1010.0, 30.0) == [1000.0, 1000.0]


def test_somebody_who_looks_need_not_wait_for_a_rest_that_began_before():
    allowance = Allowance(1)
    allowance.wait(0.0, 30.0)
    allowance.spend()
    assert allowance.wait(1.0, 30.0) == pytest.approx(29.0)

    assert allowance.wait(1.0, 2.0) < 2.0
    assert allowance.wait(1.0, 0.0) == 0.0
