"""Held-back events: few while an app flaps, none lost, none held without flapping."""

from __future__ import annotations

import pytest

from dashboard.health.evidence import Started, Stopped, Stopping, Woke
from dashboard.health.record import Port, State
from dashboard.health.result import Kind
from tests.dashboard.health.world import App, up


def flap(app: App, changes: int) -> list[str]:
    """That many changes between up and down, a second apart."""
    notices = []
    for turn in range(changes):
        notices += app.probe(Kind.TIMEOUT if turn % 2 == 0 else Kind.OK)
        app.wait(0)
    return notices


@pytest.mark.parametrize("run", [1, 3, 5, 20])
@pytest.mark.parametrize("kinds", [(Kind.TIMEOUT, Kind.OK), (Kind.SERVER_ERROR, Kind.OK)])
def test_an_app_that_flaps_for_ten_minutes_makes_at_most_20_events(run, kinds):
    app = App(always=True, failures=1)
    app.probe(Kind.OK)

    for second in range(600):
        app.wait(1 - 1e-6)
        app.probe(kinds[second // run % 2], after=1e-6)
    app.wait(1200)

    assert 1 <= len(app.notices) <= 20
    assert app.notices[-1] == app.record.state.value
    assert not app.record.flapping


def test_a_listener_that_comes_and_goes_every_second_makes_at_most_20_events():
    app = App(always=True, failures=1)
    app.scan(Port.OWN)
    app.probe(Kind.OK)

    for _ in range(300):
        app.probe(Kind.REFUSED)
        app.now -= 1.5
        app.scan(Port.EMPTY)
        app.now -= 1.5
        app.scan(Port.OWN)
        app.probe(Kind.OK, after=0.01)
        app.wait(0)
    app.wait(1200)

    assert len(app.notices) <= 20
    assert app.notices[-1] == app.record.state.value


def test_six_changes_in_ten_minutes_are_flapping_and_five_are_not():
    calm, wild = up(always=True, failures=1), up(always=True, failures=1)

    assert len(flap(calm, 5)) == 5
    assert not calm.record.flapping
    flap(wild, 6)
    assert wild.record.flapping


def test_six_changes_in_more_than_ten_minutes_are_not_flapping():
    app = up(always=True, failures=1)
    flap(app, 5)
    app.wait(600)

    assert app.probe(Kind.OK) == ["up"]
    assert not app.record.flapping


def test_restarts_that_end_where_they_began_are_not_flapping():
    app = up(should_run=True)
    for _ in range(10):
        app.tell(Started(by_user=False))
        app.probe(Kind.OK)

    assert not app.record.flapping
    assert len(app.notices) == 20


def test_while_flapping_one_event_a_minute_comes_with_the_newest_state():
    app = up(always=True, failures=1)
    flap(app, 6)
    told_at = app.record.heard_at

    assert app.record.state is State.UP
    assert app.record.heard is State.DOWN
    assert app.wait(told_at + 59 - app.now) == []
    assert app.wait(2) == ["up"]


def test_a_change_that_was_taken_back_while_held_is_not_told():
    app = up(always=True, failures=1)
    flap(app, 6)
    app.probe(Kind.TIMEOUT)

    assert app.record.state is app.record.heard is State.DOWN
    assert app.wait(2000) == []


def test_flapping_ends_when_ten_minutes_have_fewer_than_three_changes():
    app = up(always=True, failures=1)
    flap(app, 7)
    fourth_last = app.record.changes[-3]

    app.wait(fourth_last + 599 - app.now)
    assert app.record.flapping
    app.wait(2)
    assert not app.record.flapping


def test_three_successes_are_needed_while_flapping():
    app = up(always=True, failures=1)
    flap(app, 7)

    app.probes(Kind.OK, Kind.OK)
    assert app.is_ == ("down", "timeout")
    app.probe(Kind.OK)
    assert app.is_ == ("up", "ok")


def test_after_a_users_action_nothing_is_held_back():
    app = up(always=True, failures=1)
    flap(app, 7)

    assert app.tell(Stopping()) == ["stopping"]
    assert app.tell(Stopped()) == ["stopped"]
    assert app.tell(Started()) == ["starting"]
    assert app.probe(Kind.OK) == ["up"]
    assert app.probe(Kind.TIMEOUT) == ["down"]


def test_a_start_by_the_user_is_told_and_one_by_the_restart_policy_is_held():
    by_user, by_policy = up(always=True, failures=1), up(always=True, failures=1)
    for app in (by_user, by_policy):
        flap(app, 7)

    assert by_policy.tell(Started(by_user=False)) == []
    assert by_user.tell(Started()) == ["starting"]


def test_changes_by_the_user_are_not_flapping():
    app = up(always=True)
    for _ in range(10):
        app.tell(Stopping())
        app.tell(Stopped())
        app.tell(Started())
        app.probe(Kind.OK)

    assert not app.record.flapping
    assert len(app.notices) == 40


def test_one_lost_probe_in_an_hour_is_no_event():
    app = up()
    for probe in range(120):
        app.probe(Kind.TIMEOUT if probe == 60 else Kind.OK, after=30)

    assert app.events == []


@pytest.mark.parametrize("kinds", [[Kind.OK], [Kind.TIMEOUT, Kind.REFUSED, Kind.OK]])
def test_an_hour_of_sleep_is_no_event(kinds):
    app = up(always=True)
    app.probe(Kind.TIMEOUT)
    app.tell(Woke())
    app.scan(Port.OWN)
    app.probes(*kinds)
    app.wait(300)

    assert app.events == []
    assert app.is_ == ("up", "ok")
