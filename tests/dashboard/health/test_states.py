"""Every row of the table, T1 to T15, with a clock that the test moves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.health.evidence import (
    Changed,
    Edge,
    Exited,
    Probed,
    Ready,
    Scanned,
    Silenced,
    Started,
    StopFailed,
    Stopped,
    Stopping,
    Woke,
)
from dashboard.health.record import Policy, Port, Reason, State, stale
from dashboard.health.result import Kind
from tests.dashboard.health.world import EPOCH, START, App, down, found, stopped, up

UP = ("up", "ok")
STARTING = ("starting", "listener-seen")
NOT_RUNNING = ("stopped", "not-running")


@pytest.mark.parametrize(
    ("kind", "state", "reason"),
    [
        (Kind.OK, "up", "ok"),
        (Kind.REDIRECT, "up", "redirect"),
        (Kind.AUTH, "up", "auth-required"),
        (Kind.SERVER_ERROR, "degraded", "http-5xx"),
        (Kind.GATEWAY, "degraded", "http-5xx"),
        (Kind.STATUS, "degraded", "status-mismatch"),
        (Kind.BODY, "degraded", "body-mismatch"),
        (Kind.TLS, "degraded", "tls"),
        (Kind.NOT_HTTP, "degraded", "not-http"),
    ],
)
def test_t1_the_first_answer_makes_an_unknown_app_up_or_degraded(kind, state, reason):
    app = App()

    assert app.is_ == ("unknown", "new")
    assert app.probe(kind) == [state]
    assert app.is_ == (state, reason)
    assert app.record.since == EPOCH + app.now


@pytest.mark.parametrize("kind", [Kind.REFUSED, Kind.TIMEOUT, Kind.DNS])
def test_t2_the_first_failure_is_down_for_an_alarm_app_and_stopped_for_a_quiet_one(kind):
    alarm, service, quiet = App(always=True), App(should_run=True), App()

    assert alarm.probe(kind) == service.probe(kind) == ["down"]
    assert quiet.probe(kind) == ["stopped"]
    assert alarm.is_ == service.is_ == ("down", kind.value)
    assert quiet.is_ == NOT_RUNNING


def test_t2_a_quiet_app_that_takes_the_connection_and_keeps_silent_is_down():
    connected, listening = App(), App()
    listening.tell(Scanned(Port.OWN))

    connected.probe(Kind.TIMEOUT, there=True)
    listening.probe(Kind.TIMEOUT)

    assert connected.is_ == listening.is_ == ("down", "timeout")


@pytest.mark.parametrize(
    ("known", "kind", "told"),
    [
        (State.UP, Kind.OK, []),
        (State.DEGRADED, Kind.SERVER_ERROR, []),
        (State.STOPPED, Kind.REFUSED, []),
        (State.UP, Kind.REFUSED, ["stopped"]),
        (State.STOPPED, Kind.OK, ["up"]),
    ],
)
def test_t1_t2_the_last_known_state_is_told_only_when_it_has_changed(known, kind, told):
    app = App(known=known)
    before = app.record.last_known

    assert app.probe(kind) == told
    assert before == (known, EPOCH, None)
    assert app.record.last_known is None
    assert len(app.edges) == 1


def test_t3_one_fine_answer_ends_a_start_and_one_5xx_does_not():
    fine, compiling = stopped(), stopped()
    for app in (fine, compiling):
        assert app.scan(Port.OWN) == ["starting"]

    assert fine.probe(Kind.OK) == ["up"]
    assert compiling.probe(Kind.SERVER_ERROR) == []
    assert compiling.is_ == STARTING
    assert compiling.probe(Kind.SERVER_ERROR) == ["degraded"]


def test_t3_a_dev_server_that_compiles_once_is_never_degraded():
    app = stopped()
    app.scan(Port.OWN)

    assert app.probes(Kind.SERVER_ERROR, Kind.OK) == ["up"]


def test_t4_a_start_that_takes_longer_than_the_grace_is_down():
    app = App(should_run=True, grace=30)
    app.tell(Started())

    assert app.wait(29.9) == []
    assert app.wait(0.2) == ["down"]
    assert app.is_ == ("down", "start-timeout")
    assert app.record.message == "no answer within 30 s of the start"
    app.probes(*[Kind.REFUSED] * 9)
    assert app.is_ == ("down", "start-timeout")


def test_t4_a_quiet_dev_server_that_went_before_it_answered_is_merely_not_running():
    app = stopped()
    app.scan(Port.OWN)
    app.probes(Kind.REFUSED, Kind.REFUSED)

    assert app.scan(Port.EMPTY, 2) == ["stopped"]
    assert app.is_ == NOT_RUNNING


def test_t4_the_second_refusal_may_also_come_last():
    app = stopped()
    app.scan(Port.OWN)
    app.scan(Port.EMPTY, 2)

    assert app.probe(Kind.REFUSED) == []
    assert app.probe(Kind.REFUSED) == ["stopped"]


def test_t5_one_lost_probe_changes_nothing_and_is_asked_again_after_2_and_4_seconds():
    app = up()

    assert app.probe(Kind.TIMEOUT) == []
    assert (app.is_, app.record.failing) == (UP, 1)
    assert app.next_probe() == 2
    app.probe(Kind.TIMEOUT)
    assert (app.is_, app.next_probe()) == (UP, 4)
    app.probe(Kind.OK)
    assert (app.is_, app.record.failing, app.events) == (UP, 0, [])


@pytest.mark.parametrize("failures", [1, 3, 5])
@pytest.mark.parametrize("start", [Kind.OK, Kind.SERVER_ERROR])
def test_t6_as_many_failures_as_the_policy_says_are_down(failures, start):
    app = App(always=True, failures=failures)
    app.probe(start)

    assert app.probes(*[Kind.TIMEOUT] * (failures - 1)) == []
    assert app.probe(Kind.TIMEOUT) == ["down"]
    assert app.is_ == ("down", "timeout")


def test_t6_a_quiet_app_is_stopped_when_its_listener_is_gone_and_down_when_it_is_silent():
    gone, silent = up(), up()
    gone.scan(Port.EMPTY)

    gone.probes(*[Kind.TIMEOUT] * 3)
    silent.probes(*[Kind.TIMEOUT] * 3)

    assert gone.is_ == NOT_RUNNING
    assert silent.is_ == ("down", "timeout")


@pytest.mark.parametrize(("always", "state"), [(True, "down"), (False, "stopped")])
def test_t6_refused_and_no_listener_both_twice_are_enough(always, state):
    app = up(always=always, failures=20)

    app.probe(Kind.REFUSED)
    assert app.scan(Port.EMPTY, 5) == []
    assert app.probe(Kind.REFUSED) == [state]
    assert app.is_ == (state, "no-listener" if always else "not-running")


def test_t6_the_second_scan_may_also_come_last():
    app = up(always=True, failures=20)
    app.scan(Port.EMPTY)
    app.probes(Kind.REFUSED, Kind.REFUSED)

    assert app.is_ == UP
    assert app.scan(Port.EMPTY) == ["down"]


def test_t6_refused_while_something_listens_is_not_enough():
    app = up(failures=20)
    app.probes(*[Kind.REFUSED] * 10)
    app.scan(Port.OWN, 5)

    assert (app.is_, app.events) == (UP, [])


@pytest.mark.parametrize("kind", [Kind.SERVER_ERROR, Kind.BODY, Kind.STATUS, Kind.NOT_HTTP])
def test_t7_two_bad_answers_are_degraded(kind):
    app = up()

    assert app.probe(kind) == []
    assert app.next_probe() == 2
    assert app.probe(kind) == ["degraded"]
    assert app.is_ == ("degraded", kind.value)


def test_t7_bad_answers_and_failures_in_turn_are_not_up():
    app = up()

    app.probes(Kind.SERVER_ERROR, Kind.TIMEOUT, Kind.SERVER_ERROR)

    assert app.is_ == ("degraded", "http-5xx")


def test_t7_the_median_of_three_latencies_over_slow_is_degraded():
    app = up(slow=3)

    assert app.probe(Kind.OK, ms=3500) == []
    assert app.probe(Kind.OK, ms=9000) == ["degraded"]
    assert app.is_ == ("degraded", "slow")
    assert app.record.message == "answers in 3.5 s; slow is over 3 s"


def test_t7_one_slow_answer_is_nothing():
    app = up(slow=3)

    app.probes(Kind.OK, Kind.OK)
    assert app.probe(Kind.OK, ms=60_000) == []
    assert app.probes(Kind.OK, Kind.OK) == []


def test_502_three_times_is_down_gateway():
    app = up()

    assert app.probes(*[Kind.GATEWAY] * 3) == ["degraded", "down"]
    assert app.is_ == ("down", "gateway")
    assert app.probe(Kind.GATEWAY) == []
    assert app.probe(Kind.OK) == ["up"]


def test_t8_two_clean_probes_heal():
    app = up()
    app.probes(Kind.SERVER_ERROR, Kind.SERVER_ERROR)

    assert app.probe(Kind.OK) == []
    assert app.next_probe() == 2
    assert app.probe(Kind.OK) == ["up"]


def test_t8_a_slow_answer_is_not_clean():
    app = up(slow=3)
    app.probes(Kind.SERVER_ERROR, Kind.SERVER_ERROR)

    app.probes(Kind.OK, Kind.OK, ms=4000)
    assert app.is_ == ("degraded", "slow")
    app.probe(Kind.OK)
    assert app.is_ == ("degraded", "slow")
    assert app.probe(Kind.OK) == ["up"]


def test_t8_one_slow_answer_and_a_quick_one_are_not_two_clean_ones():
    app = up(slow=3)
    app.probes(Kind.SERVER_ERROR, Kind.SERVER_ERROR)

    app.probe(Kind.OK, ms=4000)
    assert app.probe(Kind.OK) == []
    assert app.probe(Kind.OK) == ["up"]


@pytest.mark.parametrize("make", [down, stopped])
def test_t9_a_listener_that_appears_is_starting_and_asked_at_once(make):
    app = make()

    assert app.scan(Port.OWN) == ["starting"]
    assert app.is_ == STARTING
    assert app.next_probe() == 0


@pytest.mark.parametrize("make", [down, stopped])
@pytest.mark.parametrize(("restart", "reason"), [(False, "spawned"), (True, "restarting")])
def test_t9_a_service_start_is_starting(make, restart, reason):
    app = make()

    assert app.tell(Started(restart=restart)) == ["starting"]
    assert app.is_ == ("starting", reason)


def test_t9_a_first_scan_is_no_appearance_when_somebody_was_there_before():
    app = App(always=True)
    app.probe(Kind.TIMEOUT, there=True)

    assert app.scan(Port.OWN) == []
    assert app.is_ == ("down", "timeout")


@pytest.mark.parametrize("successes", [1, 3])
def test_t10_an_app_out_of_sight_of_the_scan_comes_back_by_its_successes(successes):
    app = App(always=True, successes=successes)
    app.probe(Kind.TIMEOUT)

    assert app.probes(*[Kind.OK] * (successes - 1)) == []
    assert app.probe(Kind.OK) == ["up"]


def test_t10_an_app_that_comes_back_broken_is_degraded_and_not_down():
    app = App(always=True)
    app.probe(Kind.TIMEOUT)

    assert app.probe(Kind.SERVER_ERROR) == []
    assert app.probe(Kind.SERVER_ERROR) == ["degraded"]


@pytest.mark.parametrize(
    ("ended", "always", "state", "reason"),
    [
        (Exited(1, retry_in=2), False, "starting", "backoff"),
        (Exited(0, retry_in=2), True, "starting", "backoff"),
        (Exited(1, crash_loop=True), False, "down", "crash-loop"),
        (Exited(0), False, "stopped", "exited"),
        (Exited(0), True, "down", "exited"),
        (Exited(1), False, "down", "exited"),
        (Exited(None), True, "down", "exited"),
    ],
)
def test_t11_an_unasked_exit(ended, always, state, reason):
    app = up(always=always, should_run=True)

    assert app.tell(ended) == [state]
    assert app.is_ == (state, reason)
    app.scan(Port.EMPTY, 3)
    app.probes(*[Kind.REFUSED] * 5)
    assert app.is_ == (state, reason)


def test_t11_a_crash_loop_of_starts_that_cannot_be_says_why():
    app = up(should_run=True)
    app.tell(Exited(1, crash_loop=True, why="service.cwd: /nope is no folder."))
    assert app.record.message.startswith("service.cwd: /nope is no folder. No more automatic")


@pytest.mark.parametrize(
    ("retry_in", "is_"), [(None, ("down", "exited")), (2.0, ("starting", "backoff"))]
)
def test_t11_a_restart_that_cannot_start_was_stopped_by_nobody(retry_in, is_):
    app = up(should_run=True)
    app.tell(Stopping())
    app.tell(Exited(0, retry_in=retry_in, why="no such directory"))

    assert app.is_ == is_
    assert app.record.message.startswith("no such directory")


def test_t11_a_service_that_backs_off_is_restarting_with_a_new_grace():
    app = up(should_run=True, grace=10)
    app.tell(Exited(1, retry_in=30))

    assert app.wait(39) == []
    assert app.tell(Started(by_user=False)) == ["starting"]
    assert app.is_ == ("starting", "restarting")
    assert app.wait(9) == []
    assert app.wait(2) == ["down"]


@pytest.mark.parametrize("ended", [Stopped(), Exited(0), Exited(1, retry_in=3)])
def test_t12_a_stop_is_stopping_and_then_stopped_by_the_user(ended):
    app = up(always=True)

    assert app.tell(Stopping()) == ["stopping"]
    assert app.is_ == ("stopping", "user")
    assert app.next_probe() is None
    assert app.tell(ended) == ["stopped"]
    assert app.is_ == ("stopped", "user")


@pytest.mark.parametrize(
    "kinds", [[Kind.OK], [Kind.SERVER_ERROR] * 2, [Kind.TIMEOUT] * 3, [Kind.GATEWAY] * 3]
)
def test_t12_a_stop_of_what_does_not_run_stops_nobody_elses(kinds):
    app = up(always=True)
    app.probes(*kinds)
    before = app.is_

    assert app.tell(Stopped()) == []
    assert app.is_ == before


def test_t12_a_listener_that_has_just_appeared_is_not_stopped_by_a_stop_of_what_does_not_run():
    app = stopped()
    app.scan(Port.OWN)

    app.tell(Stopped())
    assert app.is_ == ("starting", "listener-seen")


@pytest.mark.parametrize("last", [Exited(1), Exited(1, crash_loop=True), Exited(1, retry_in=2)])
def test_t12_a_stop_of_what_has_ended_by_itself_is_a_users_stop(last):
    app = up(always=True, should_run=True)
    app.tell(last)

    app.tell(Stopped())
    assert app.is_ == ("stopped", "user")


@pytest.mark.parametrize(
    ("kind", "state"), [(Kind.OK, "up"), (Kind.SERVER_ERROR, "degraded"), (Kind.TIMEOUT, "down")]
)
def test_t12_after_a_failed_stop_the_next_probe_tells_the_state(kind, state):
    app = up(should_run=True)
    app.tell(Stopping())
    app.tell(StopFailed())

    assert app.next_probe() == 0
    assert app.probe(kind) == [state]


def test_t12_while_a_second_stop_is_under_way_no_probe_tells_the_state():
    app = up()
    for evidence in (Stopping(), StopFailed()):
        app.tell(evidence)
    app.probe(Kind.OK)
    app.tell(Stopping())

    assert app.probe(Kind.OK) == []
    assert app.is_ == ("stopping", "user")


def test_t12_a_probe_that_began_before_the_stop_does_not_turn_the_app_up_again():
    app = up()
    began = app.now
    app.now += 1
    app.tell(Stopping())
    app.tell(Stopped())
    app.now += 1

    assert app.tell(Probed(found(Kind.OK, began))) == []
    assert app.is_ == ("stopped", "user")


@pytest.mark.parametrize("make", [up, down, stopped, App])
def test_t13_a_stranger_on_the_port_is_the_wrong_process_whatever_it_answers(make):
    app = make()

    assert app.scan(Port.STRANGER) == ["down"]
    assert app.is_ == ("down", "wrong-process")
    assert app.probes(Kind.OK, Kind.OK, Kind.OK) == []
    assert app.scan(Port.STRANGER, 5) == []
    assert app.is_ == ("down", "wrong-process")


def test_t13_when_the_stranger_leaves_the_app_is_what_it_would_be_without_it():
    quiet, alarm, back = up(), up(always=True), up()
    for app in (quiet, alarm, back):
        app.scan(Port.STRANGER)

    quiet.scan(Port.EMPTY)
    alarm.scan(Port.EMPTY)
    back.scan(Port.OWN)

    assert quiet.is_ == NOT_RUNNING
    assert alarm.is_ == ("down", "no-listener")
    assert back.is_ == STARTING


@pytest.mark.parametrize("make", [up, down, stopped])
@pytest.mark.parametrize("reason", [Reason.PAUSED, Reason.INVALID_FILE])
def test_t14_a_paused_app_is_unknown_and_nothing_but_its_file_changes_that(make, reason):
    app = make()

    assert app.tell(Silenced(reason)) == ["unknown"]
    assert app.next_probe() is None
    for evidence in (Scanned(Port.OWN), Started(), Exited(1), Stopping(), Stopped(), Woke()):
        assert app.tell(evidence) == []
    assert app.probes(Kind.OK, Kind.OK) == []
    assert app.is_ == ("unknown", reason.value)

    app.tell(Changed())
    assert (app.is_, app.next_probe()) == (("unknown", "new"), 0)
    assert app.probe(Kind.OK) == ["up"]


def test_t15_a_sleep_keeps_the_state_and_drops_the_failures_around_it():
    app = up(failures=2)
    app.probe(Kind.TIMEOUT)
    began = app.now

    app.now += 0.5
    assert app.tell(Woke()) == []
    assert (app.is_, app.record.failing) == (("up", "resumed"), 0)
    assert 0 <= (app.next_probe() or 0) <= 5
    app.tell(Probed(found(Kind.TIMEOUT, began)))
    assert (app.is_, app.record.failing) == (("up", "resumed"), 0)
    app.probe(Kind.OK)
    assert (app.is_, app.events) == (UP, [])


def test_t15_without_a_result_the_app_becomes_unknown_and_the_return_is_told():
    app = up(interval=30)
    app.tell(Woke())

    assert app.wait(30) == []
    assert app.wait(6) == ["unknown"]
    assert app.is_ == ("unknown", "resumed")
    assert app.record.last_known is not None
    assert app.record.last_known.state is State.UP
    assert app.probe(Kind.OK) == ["up"]


@pytest.mark.parametrize("make", [down, stopped])
def test_t15_an_app_at_rest_keeps_its_own_reason_after_a_sleep(make):
    app = make()
    before = app.is_
    app.tell(Woke())
    app.scan(Port.EMPTY)
    app.probe(Kind.REFUSED)

    assert app.wait(100) == []
    assert app.is_ == before


def test_t15_a_scan_without_a_listener_is_evidence_enough_for_a_stopped_app():
    app = stopped()
    app.tell(Woke())
    assert app.is_ == ("stopped", "resumed")
    app.scan(Port.EMPTY)

    assert app.is_ == NOT_RUNNING
    assert app.wait(100) == []


def test_a_silent_app_stays_down_while_its_listener_stays():
    app = up()
    app.probes(*[Kind.TIMEOUT] * 3)

    assert app.scan(Port.OWN, 3) == []
    assert app.is_ == ("down", "timeout")


@pytest.mark.parametrize("port", list(Port))
def test_t12_no_scan_tells_the_state_while_a_stop_is_under_way(port):
    app = up(always=True)
    app.tell(Stopping())

    assert app.scan(port, 3) == []
    assert app.is_ == ("stopping", "user")
    assert app.next_probe() is None


def test_a_stopped_app_is_not_asked_until_something_listens():
    app = stopped()

    assert app.next_probe() is None
    app.scan(Port.OWN)
    assert app.next_probe() == 0


def test_an_app_that_becomes_an_alarm_while_it_is_not_running_is_down():
    app = stopped()
    app.policy = Policy(always=True)

    assert app.tell(Changed()) == ["down"]


def test_a_stranger_on_the_old_port_says_nothing_about_the_new_one():
    app = up()
    app.scan(Port.STRANGER)
    app.tell(Changed())

    assert app.probe(Kind.OK) == ["up"]


def test_an_app_that_becomes_quiet_while_nothing_listens_is_stopped():
    app = down()
    app.policy = Policy()
    app.tell(Changed())
    app.scan(Port.EMPTY, 2)

    assert app.probes(Kind.REFUSED, Kind.REFUSED) == ["stopped"]


def test_an_app_without_a_probe_stays_unknown_and_follows_its_service():
    app = App(probed=False, should_run=True)

    assert (app.is_, app.next_probe()) == (("unknown", "no-probe"), None)
    app.scan(Port.OWN)
    app.tell(Started())
    assert app.is_ == ("unknown", "no-probe")
    app.tell(Exited(1))
    assert app.is_ == ("down", "exited")
    app.tell(Started())
    app.wait(1000)
    assert app.is_ == ("unknown", "no-probe")


def test_taking_the_probe_away_takes_the_verdict_away():
    app = up()
    app.policy = Policy(probed=False)

    assert app.tell(Changed()) == ["unknown"]
    assert app.is_ == ("unknown", "no-probe")
    app.policy = Policy()
    app.tell(Changed())
    assert app.probe(Kind.OK) == ["up"]


def test_since_stays_while_only_the_reason_changes():
    app = down()
    since = app.record.since
    app.probe(Kind.TIMEOUT, after=60)

    assert app.record.since == since
    app.scan(Port.STRANGER)
    assert (app.record.since, app.notices) == (since, ["down"])


def test_an_edge_names_both_states_the_reason_and_the_time():
    app = App()
    app.probe(Kind.OK)

    assert app.edges == [Edge(EPOCH + START + 1, State.UNKNOWN, State.UP, Reason.OK)]


def test_an_app_is_stale_after_three_intervals_without_a_result():
    app = up(interval=10)

    assert not stale(app.record, app.policy, app.now + 30)
    assert stale(app.record, app.policy, app.now + 30.1)


def test_an_app_that_is_not_probed_is_never_stale():
    paused, still = up(interval=10), stopped(interval=10)
    paused.tell(Silenced())
    still.scan(Port.EMPTY, 100)

    assert not stale(paused.record, paused.policy, paused.now + 1000)
    assert not stale(still.record, still.policy, still.now)


def test_404_is_up_and_says_so():
    app = App()
    app.tell(Probed(replace(found(Kind.OK, app.now), status=404)))

    assert (app.is_, app.record.message) == (UP, "answers 404")


def test_a_process_that_just_lives_is_up_only_after_it_has_lived_a_while():
    app = App(should_run=True)
    app.tell(Started())

    app.probe(Kind.OK, lived=0.3)
    assert app.is_ == ("starting", "spawned")
    assert app.next_probe() == pytest.approx(2.7)
    app.probe(Kind.OK, after=2.7, lived=3.0)
    assert app.is_ == ("up", "ok")


def test_a_process_that_ended_by_itself_has_to_live_longer_when_it_is_back():
    app = App(should_run=True)
    app.tell(Started())
    app.tell(Exited(3, retry_in=1.0))
    app.tell(Started(restart=True, by_user=False))

    app.probe(Kind.OK, lived=3.5)
    assert app.is_ == ("starting", "restarting")
    app.probe(Kind.OK, lived=10.0)
    assert app.is_ == ("up", "ok")


def test_what_says_itself_that_it_is_ready_is_up_at_once():
    app = App(should_run=True)
    app.tell(Started())
    app.tell(Ready())

    assert app.next_probe() == 0
    app.probe(Kind.OK, after=0, lived=0.3)
    assert app.is_ == ("up", "ok")


def test_what_could_not_start_says_why_and_not_how_it_ended():
    app = App()
    app.tell(Exited(None, why="service.cwd: /nope is not a directory"))

    assert app.record.message == "service.cwd: /nope is not a directory"


@pytest.mark.parametrize(
    ("known", "reason", "kind", "is_"),
    [
        (State.UP, Reason.OK, Kind.OK, ("up", "ok")),
        (State.STOPPED, Reason.USER, Kind.REFUSED, ("stopped", "user")),
        (State.DEGRADED, Reason.SLOW, Kind.SERVER_ERROR, ("degraded", "http-5xx")),
        (State.DOWN, Reason.NO_LISTENER, Kind.REFUSED, ("down", "no-listener")),
    ],
)
def test_a_state_found_again_after_a_restart_goes_on_since_it_began(known, reason, kind, is_):
    app = App(known=known, reason=reason, always=known is State.DOWN)

    assert app.probe(kind) == []
    assert (app.is_, app.record.since) == (is_, EPOCH)
    assert [edge.kept for edge in app.edges] == [True]


@pytest.mark.parametrize("probed", [False, True])
def test_why_a_service_is_down_is_told_after_a_restart_too(probed):
    app = App(known=State.DOWN, reason=Reason.EXITED, always=True)
    if probed:
        app.probe(Kind.REFUSED)

    app.tell(Exited(None, why="no such directory"))

    assert (app.is_, app.record.message) == (("down", "exited"), "no such directory")
    assert app.record.since == EPOCH


def test_another_state_after_a_restart_is_new():
    app = App(known=State.STOPPED, reason=Reason.USER)

    assert app.probe(Kind.OK) == ["up"]
    assert (app.is_, app.record.since) == (("up", "ok"), EPOCH + app.now)
    assert [edge.kept for edge in app.edges] == [False]


def test_a_scan_that_began_before_a_user_stopped_it_does_not_start_it_again():
    app = up(should_run=True)
    app.tell(Stopping())
    app.tell(Stopped())
    app.tell(Scanned(Port.EMPTY))

    app.tell(Scanned(Port.OWN, app.record.since - 0.1))
    assert app.is_ == ("stopped", "user")
    app.tell(Scanned(Port.OWN, app.record.since + 0.1))
    assert app.is_ == ("starting", "listener-seen")
