"""When apps are asked: spread, steady, soon when in doubt, and never two rhythms for one app."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from dashboard.health import schedule
from dashboard.health.evidence import Exited, Started, Stopping, Woke
from dashboard.health.record import Port
from dashboard.health.result import Kind
from tests.dashboard.health.world import START, App, stopped, up

SLUGS = [f"app-{number}" for number in range(500)]


def times(app: App, count: int, kind: Kind = Kind.OK, took: float = 0.01) -> list[float]:
    """The moments of the next probes, each answered after `took` seconds."""
    found = []
    for _ in range(count):
        after = app.next_probe()
        assert after is not None
        app.now += max(0.0, after)
        found.append(app.now)
        app.probe(kind, after=0.0)
        app.now += took
    return found


def test_after_a_daemon_start_every_first_probe_begins_within_three_seconds_and_spread():
    first = sorted(App(slug=slug).next_probe() or 0.0 for slug in SLUGS)

    assert first[0] >= 0
    assert first[-1] < 3
    assert max(sum(low <= at < low + 0.25 for at in first) for low in first) < 120


@pytest.mark.parametrize("interval", [1.0, 30.0, 3600.0])
def test_a_steady_app_is_asked_once_an_interval_with_a_little_jitter(interval):
    app = up(interval=interval)
    times(app, 2)

    gaps = [later - sooner for sooner, later in pairwise(times(app, 40))]

    assert all(0.9 * interval <= gap <= 1.1 * interval for gap in gaps)
    assert len({round(gap / interval, 3) for gap in gaps}) > 4
    assert abs(sum(gaps) / len(gaps) - interval) < 0.01 * interval


def test_many_apps_are_asked_some_together_and_never_all_at_once():
    moments = Counter(time for slug in SLUGS for time in times(up(slug=slug), 2)[1:])

    assert len(moments) <= 70  # half seconds
    assert max(moments.values()) < 25


def test_the_phase_of_an_app_is_always_the_same_and_apps_differ():
    early, late = up(slug="shop"), up(slug="shop")
    late.now += 7.3
    late.probe(Kind.OK)
    other = up(slug="blog")

    rhythm = {round(at, 6) for at in times(early, 5)}
    assert len(rhythm & {round(at, 6) for at in times(late, 5)}) >= 4
    assert not rhythm & {round(at, 6) for at in times(other, 5)}


def test_500_apps_do_not_ask_in_the_same_second():
    apps = [up(slug=slug) for slug in SLUGS]
    at = [times(app, 3)[-1] for app in apps]

    assert max(sum(low <= one < low + 1 for one in at) for low in at) < 50


def test_a_starting_app_is_asked_ten_times_each_half_second_and_then_every_two():
    app = App(should_run=True)
    app.tell(Started())

    gaps = [b - a for a, b in pairwise(times(app, 14, Kind.REFUSED, took=0.0))]

    assert gaps == pytest.approx([0.5] * 9 + [2.0] * 4)


def test_a_second_start_is_asked_as_often_as_the_first():
    app = App(should_run=True)
    for _ in range(2):
        app.tell(Started())
        times(app, 14, Kind.REFUSED)
        app.tell(Exited(1))
    app.tell(Started())
    times(app, 1, Kind.REFUSED, took=0.0)

    assert app.next_probe() == 0.5


def test_a_failing_app_is_asked_after_two_and_four_seconds_and_then_at_its_interval():
    app = up(failures=20)
    app.probe(Kind.TIMEOUT)

    gaps = [b - a for a, b in pairwise([app.now, *times(app, 5, Kind.TIMEOUT, took=0.0)])]

    assert gaps[:2] == pytest.approx([2.0, 4.0])
    assert all(gap > 10 for gap in gaps[2:])


def test_no_delay_is_longer_than_the_interval():
    app = up(interval=1, failures=20)
    app.probe(Kind.TIMEOUT)

    assert app.next_probe() == 1


@pytest.mark.parametrize(("alarm", "state"), [(True, "down"), (False, "stopped")])
def test_a_killed_app_has_its_state_within_five_seconds(alarm, state):
    app = up(always=alarm)
    killed, scans = app.now, app.now + 1.999

    while app.record.state.value != state:
        ask = schedule.next_probe(app.slug, app.record, app.policy)
        assert ask is not None
        if ask <= scans:
            app.now = max(app.now, ask)
            app.probe(Kind.REFUSED, after=0)
        else:
            app.now, scans = scans - 2.0, scans + 2.0
            app.scan(Port.EMPTY)

    assert app.now - killed <= 5


def test_evidence_that_changes_nothing_does_not_put_the_next_probe_off():
    app = up()
    app.probe(Kind.TIMEOUT)
    at = app.now + (app.next_probe() or 0)

    app.scan(Port.OWN)

    assert app.now + (app.next_probe() or 0) == at


def test_the_first_scan_asks_nobody_again_who_has_just_answered():
    app = App()
    app.probe(Kind.OK)
    at = app.now + (app.next_probe() or 0)

    app.scan(Port.OWN)
    assert app.now + (app.next_probe() or 0) == at
    app.scan(Port.EMPTY)
    app.probe(Kind.OK)
    app.scan(Port.OWN)
    assert app.next_probe() == 0


def test_a_stopped_app_is_asked_while_nobody_scans():
    app = App()
    app.probe(Kind.REFUSED)

    assert 0 < (app.next_probe() or 0) <= 46


def test_nobody_asks_while_a_stop_is_under_way():
    app = up()
    app.tell(Stopping())

    assert app.next_probe() is None


def test_after_a_sleep_the_probes_are_spread_over_five_seconds():
    at = []
    for slug in SLUGS:
        app = up(slug=slug)
        app.now = START + 100
        app.tell(Woke())
        at.append(app.next_probe() or 0.0)

    assert min(at) >= 0
    assert 4 < max(at) <= 5


def test_a_stopped_app_without_a_listener_is_asked_once_after_a_sleep():
    app = stopped()
    app.tell(Woke())

    assert (app.next_probe() or 99) <= 5
    app.probe(Kind.REFUSED)
    assert app.next_probe() is None
