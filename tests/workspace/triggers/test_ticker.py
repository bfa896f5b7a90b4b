"""The ticker: due firings, overlap, catch-up, isolation, hand edits."""

from __future__ import annotations

import errno
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django_q.models import OrmQ

from config.storage import homes, opening
from tests.workspace.triggers.world import NOON, schedule
from workspace.models import Run, TriggerState, Turn
from workspace.notify import delivery
from workspace.notify.tables import NotifyCause, NotifyDelivery, NotifyMessage
from workspace.triggers import admission, commands, firing, runs
from workspace.triggers.entries import files
from workspace.triggers.schedule import arming, claims

MINUTE = timedelta(minutes=1)


def entry(name: str, when: str = "interval: 1m", run: str = "prompt: hi", more: str = "") -> str:
    return (
        f"  {name}:\n    trigger: {{type: schedule, {when}{more}}}\n"
        f"    run: {{{run}}}\n    enabled: true\n"
    )


def serve(world, *entries: str):
    world.write("triggers:\n" + "".join(entries))
    return world.ticker()


def truncate(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def advance(world, ticker, **by: float) -> None:
    world.clock.step(**by)
    ticker.step()


def end(run: Run, status: str = "completed") -> None:
    assert runs.finish(run.id, status=status)


def told(world) -> list[tuple[str, str, int]]:
    """(cause, status, minutes after noon of the nominal time) of every run."""
    return [(run.cause, run.status, (run.scheduled_for - NOON) // MINUTE) for run in world.runs()]


def test_a_due_trigger_is_claimed_once_and_handed_to_the_workers(world):
    ticker = serve(world, entry("t"))

    advance(world, ticker, seconds=60)
    ticker.step()

    run = world.runs()[0]
    assert told(world) == [("interval", "queued", 1)]
    assert OrmQ.objects.filter(key=homes.queue("svc")).count() >= 1
    assert (run.agent_name, run.actor, run.missed) == ("trigger-alpha-t", {"kind": "system"}, None)


def test_enabling_fires_nothing_before_the_first_interval_is_over(world):
    ticker = serve(world, entry("t", "interval: 5m"))

    for _ in range(5 * 30 - 1):
        advance(world, ticker, seconds=2)
    assert world.runs() == []
    advance(world, ticker, seconds=2)

    assert told(world) == [("interval", "queued", 5)]


def test_the_grid_does_not_depend_on_how_long_turns_take(world):
    ticker = serve(world, entry("t", run="prompt: hi, overlap: parallel"))

    for seconds in (60.2, 59.9, 60.1):
        advance(world, ticker, seconds=seconds)

    assert [minute for _, _, minute in told(world)] == [1, 2, 3]


def test_the_next_step_is_at_the_next_due_time_and_at_most_two_seconds_away(world):
    ticker = serve(world, entry("t"))

    assert ticker.step() == NOON + timedelta(seconds=2)
    world.clock.step(seconds=59)
    assert ticker.step() == NOON + MINUTE


def test_a_step_with_nothing_due_only_asks_what_is_next(world, django_assert_num_queries):
    ticker = serve(world, entry("t"))
    ticker.step()
    NotifyCause.objects.create(key="run:1", event="failed", until=NOON + timedelta(hours=2))
    world.clock.step(seconds=1)

    with django_assert_num_queries(5):
        ticker.step()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL does not say so")
def test_a_step_after_which_nothing_was_written_asks_nothing(world, django_assert_num_queries):
    ticker = serve(world, entry("t"))
    ticker.step()
    world.clock.step(seconds=1)

    with django_assert_num_queries(0):
        ticker.step()


def test_a_message_that_comes_to_wait_is_handed_over_at_the_next_step(world, monkeypatch):
    handed = list[datetime]()
    monkeypatch.setattr(delivery, "hand_over_due", handed.append)
    ticker = serve(world, entry("t"))
    ticker.step()
    message = NotifyMessage.objects.create(at=NOON, event="failed", body={})
    NotifyDelivery.objects.create(message=message, channel="phone", due=NOON)
    world.clock.step(seconds=1)

    ticker.step()

    assert handed == [NOON + timedelta(seconds=1)]


def test_windows_of_before_the_clock_was_set_back_are_over_at_the_next_step(world):
    ticker = serve(world, entry("t"))
    ticker.step()
    far = NOON + timedelta(hours=2)
    NotifyCause.objects.create(key="run:1", event="failed", until=far)
    world.clock.step(seconds=-30)

    ticker.step()

    assert not NotifyCause.objects.exists()


def test_a_hand_edit_is_armed_at_the_next_look(world):
    ticker = serve(world, entry("t"))
    world.write("triggers:\n" + entry("t") + entry("u", "interval: 5m"))

    advance(world, ticker, seconds=2)

    assert world.state("u").next_at == NOON + timedelta(seconds=2, minutes=5)


@pytest.mark.parametrize("half", [truncate, remove])
@pytest.mark.parametrize("due", [False, True])
def test_a_file_that_is_gone_or_empty_for_a_moment_keeps_its_grid_and_chat(world, half, due):
    ticker = serve(world, entry("t"), entry("u", "interval: 5m"))
    TriggerState.objects.update(owned_chat="x")
    before = world.state("u")
    path = world.folder / "alpha" / "project.yaml"
    text = path.read_bytes()

    world.clock.step(seconds=59)
    ticker.step()
    half(path)
    advance(world, ticker, seconds=1 if due else 2)
    path.write_bytes(text)
    advance(world, ticker, seconds=2)

    now = world.state("u")
    assert (now.pk, now.armed_at, now.owned_chat) == (before.pk, before.armed_at, "x")


@pytest.mark.parametrize("half", [truncate, remove])
def test_a_file_that_stays_gone_or_empty_takes_its_triggers_along(world, half):
    ticker = serve(world, entry("t"))
    half(world.folder / "alpha" / "project.yaml")

    advance(world, ticker, seconds=2)
    assert TriggerState.objects.exists()
    advance(world, ticker, seconds=2)

    assert not TriggerState.objects.exists()


@pytest.mark.parametrize(("before", "then"), [(0, 2), (59, 1)], ids=["at a look", "when due"])
def test_a_file_that_could_not_be_read_for_a_moment_is_armed_again(
    world, monkeypatch, before, then
):
    ticker = serve(world, entry("t"))
    advance(world, ticker, seconds=before)
    path = world.folder / "alpha" / "project.yaml"

    def refused(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as kept:
        kept.setattr(opening, "regular", refused)
        path.write_text("triggers:\n" + entry("t") + entry("new"))
        advance(world, ticker, seconds=then)
        assert world.state("t").next_at is None

    advance(world, ticker, seconds=2)

    assert world.state("t").next_at == NOON + (2 if before else 1) * MINUTE
    assert world.state("new").next_at is not None


def test_an_edit_just_before_the_due_time_still_counts(world):
    ticker = serve(world, entry("t"))
    world.clock.step(seconds=59)
    ticker.step()
    world.write("triggers:\n" + entry("t").replace("enabled: true", "enabled: false"))

    advance(world, ticker, seconds=1)

    assert world.runs() == []


def test_skip_keeps_one_running_and_one_growing_record(world):
    ticker = serve(world, entry("t"))

    for _ in range(4):
        advance(world, ticker, seconds=60)

    first, skipped = world.runs()
    assert (first.status, skipped.status, skipped.skips) == ("queued", "skipped", 3)
    assert skipped.reason == "an earlier firing of this trigger is still queued or running"
    assert (skipped.scheduled_for, skipped.last_scheduled_for) == (
        NOON + 2 * MINUTE, NOON + 4 * MINUTE,
    )  # fmt: skip


def test_a_firing_in_between_starts_a_new_skipped_record(world):
    ticker = serve(world, entry("t"))
    advance(world, ticker, seconds=60)
    advance(world, ticker, seconds=60)
    end(world.runs()[0])
    advance(world, ticker, seconds=60)

    advance(world, ticker, seconds=60)

    assert [(run.status, run.skips) for run in world.runs()] == [
        ("completed", None), ("skipped", 1), ("queued", None), ("skipped", 1),
    ]  # fmt: skip


def fail(world, ticker, minutes: int) -> list[str]:
    """The status of the firing of each minute, which then fails."""
    for _ in range(minutes):
        advance(world, ticker, seconds=60)
        for run in world.runs():
            if run.status == "queued":
                assert runs.finish(run.id, status="failed", reason="no model")
    return [run.status for run in world.runs()]


def test_a_schedule_that_keeps_failing_is_tried_once_an_hour_and_says_so(world):
    ticker = serve(world, entry("t"))

    assert fail(world, ticker, 3) == ["failed"] * 3
    assert fail(world, ticker, 59) == ["failed"] * 3 + ["skipped"]
    skipped = world.runs()[-1]
    assert (skipped.reason, skipped.skips) == (admission.FAILING, 59)
    [warning] = [one for one in warnings(world) if one.startswith("run.backoff:")]
    assert admission.FAILING in warning

    advance(world, ticker, seconds=60)
    last = world.runs()[-1]
    assert last.status == "queued"
    end(last)
    advance(world, ticker, seconds=60)
    assert world.runs()[-1].status == "queued"
    assert [one for one in warnings(world) if one.startswith("run.backoff:")] == []


def test_a_schedule_that_was_told_so_is_tried_at_each_time_though_it_fails(world):
    ticker = serve(world, entry("t", run="prompt: hi, backoff: false"))

    assert fail(world, ticker, 6) == ["failed"] * 6
    assert [one for one in warnings(world) if one.startswith("run.backoff:")] == []


def test_a_failing_schedule_begins_anew_when_it_is_switched_on_again(world):
    ticker = serve(world, entry("t"))
    fail(world, ticker, 4)
    before = world.text()
    world.write(before.replace("enabled: true", "enabled: false"))
    world.arm()
    world.write(before)
    world.arm()

    assert fail(world, ticker, 1) == ["failed"] * 3 + ["skipped", "failed"]


def warnings(world) -> list[str]:
    return commands.get(world.project(), "t").warnings


def test_queue_lets_one_schedule_firing_wait_and_skips_the_rest(world):
    ticker = serve(world, entry("t", run="prompt: hi, overlap: queue"))

    for _ in range(4):
        advance(world, ticker, seconds=60)

    assert [(run.status, run.skips) for run in world.runs()] == [
        ("queued", None), ("queued", None), ("skipped", 2),
    ]  # fmt: skip
    assert world.runs()[-1].last_scheduled_for == world.clock.now()


def test_parallel_starts_every_one(world):
    ticker = serve(world, entry("t", run="prompt: hi, overlap: parallel"))

    for _ in range(3):
        advance(world, ticker, seconds=60)

    assert [run.status for run in world.runs()] == ["queued"] * 3


def test_down_for_three_hours_fires_the_latest_once_and_goes_on_on_the_hour(world):
    serve(world, entry("t", 'cron: "0 * * * *"'))
    world.clock.step(hours=3, minutes=20)

    ticker = world.ticker()
    ticker.step()

    run = world.runs()[0]
    assert told(world) == [("catch-up", "queued", 180)]
    assert run.missed == 2
    assert world.state("t").next_at == NOON + timedelta(hours=4)


@pytest.mark.parametrize(("catch_up", "cause"), [("once", "catch-up"), ("skip", "interval")])
def test_a_start_just_at_a_time_fires_it_and_says_what_was_missed_before(world, catch_up, cause):
    serve(world, entry("t", more=f", catchUp: {catch_up}"))
    world.clock.step(minutes=4, seconds=0.4)

    world.ticker()

    assert told(world) == [(cause, "queued", 4)]
    assert world.runs()[0].missed == 3


def test_a_weekly_time_missed_three_days_ago_is_one_skipped_record(world):
    serve(world, entry("t", 'cron: "0 0 * * 2"'))  # noon is a Monday
    world.clock.step(days=4)

    world.ticker().step()

    run = world.runs()[0]
    assert (run.status, run.reason) == ("skipped", "missed while the server was down (1)")
    assert len(world.runs()) == 1


def test_catch_up_skip_records_what_was_missed_and_fires_nothing(world):
    serve(world, entry("t", more=", catchUp: skip"))
    world.clock.step(minutes=5, seconds=30)

    world.ticker()

    assert [(run.status, run.reason) for run in world.runs()] == [
        ("skipped", "missed while the server was down (5)")
    ]


def test_times_before_arming_never_count(world):
    world.write("name: Alpha\n")
    world.ticker()
    world.clock.step(days=2)
    world.write("triggers:\n" + entry("t"))

    world.ticker()

    assert world.runs() == []
    assert world.state("t").next_at == world.clock.now() + MINUTE


def test_a_machine_that_slept_catches_up_too(world):
    ticker = serve(world, entry("t"))

    advance(world, ticker, minutes=10, seconds=30)

    assert told(world) == [("catch-up", "queued", 10)]
    assert world.runs()[0].missed == 9


def test_a_clock_set_back_repeats_nothing(world):
    ticker = serve(world, entry("t", 'cron: "* * * * *"', run="prompt: hi, overlap: parallel"))
    for _ in range(3):
        advance(world, ticker, seconds=60)
    world.clock.step(minutes=-60)
    ticker.step()
    world.write("triggers:\n" + entry("t", run="prompt: hi").replace("true", "false"))
    advance(world, ticker, seconds=2)
    world.write(
        "triggers:\n" + entry("t", 'cron: "* * * * *"', run="prompt: hi, overlap: parallel")
    )

    for _ in range(70):
        advance(world, ticker, seconds=60)

    minutes = [minute for _, _, minute in told(world)]
    assert len(minutes) == len(set(minutes))
    assert minutes[:3] == [1, 2, 3]


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("when", ['cron: "* * * * *"', "interval: 1m"])
def test_a_clock_that_was_a_day_ahead_silences_nothing_once_it_is_right(world, when, restart):
    world.clock.step(days=1)
    ticker = serve(world, entry("t", when, run="prompt: hi, overlap: parallel"))
    for _ in range(3):
        advance(world, ticker, seconds=60)

    world.clock.set(NOON)
    ticker = world.ticker() if restart else ticker
    ticker.step()
    for _ in range(5):
        advance(world, ticker, seconds=60)

    assert [minute for _, _, minute in told(world)] == [1441, 1442, 1443, 1, 2, 3, 4, 5]
    assert world.state("t").armed_at <= NOON


def test_failures_of_a_clock_that_was_ahead_do_not_hold_a_schedule_back(world):
    world.clock.step(days=1)
    ticker = serve(world, entry("t"))
    assert fail(world, ticker, 3) == ["failed"] * 3

    world.clock.set(NOON)
    ticker.step()
    advance(world, ticker, seconds=60)

    assert [run.status for run in world.runs()] == ["failed"] * 3 + ["queued"]


def test_a_clock_that_steps_back_by_a_little_leaves_the_files_alone(world, monkeypatch):
    ticker = serve(world, entry("t"))
    synced: list[str] = []
    monkeypatch.setattr(arming, "sync", lambda slug, **_: synced.append(slug))

    world.clock.step(seconds=3)
    ticker.step()
    world.clock.step(milliseconds=-20)
    ticker.step()
    world.clock.step(seconds=3)
    ticker.step()

    assert synced == []


def test_a_trigger_that_cannot_be_evaluated_is_disarmed_alone(world, monkeypatch):
    ticker = serve(world, entry("bad"), entry("good"))
    from workspace.triggers.schedule import clock

    real = clock.passed_times

    def failing(when, **times):
        if times["armed_at"] == bad_armed_at:
            raise ZeroDivisionError("no grid")
        return real(when, **times)

    bad = world.state("bad")
    bad.armed_at = bad_armed_at = NOON - timedelta(milliseconds=1)
    bad.save()
    monkeypatch.setattr(clock, "passed_times", failing)

    advance(world, ticker, seconds=60)

    assert [run.trigger for run in world.runs()] == ["good"]
    assert world.state("bad").next_at is None
    assert world.state("bad").last_error == "disarmed: no grid"


def test_the_start_says_what_it_found(world, caplog):
    caplog.set_level("INFO")
    serve(world, entry("t"), "  broken: 1\n")

    assert (
        "scheduler: 1 armed, 1 invalid, 0 catch-up, 0 interrupted by the last stop" in caplog.text
    )


def test_the_start_counts_the_runs_whose_worker_died_with_the_service(world, caplog):
    caplog.set_level("INFO")
    world.put("t", schedule(interval="1h", enabled=False))
    trigger = files.read(world.project()).triggers["t"]
    run = firing.fire(
        project=world.project(), trigger=trigger, cause="manual", actor={"kind": "system"}
    )
    firing.start(run.id)
    Turn.objects.update(state="running", claim="", lease_until=None)

    world.ticker()

    assert "1 interrupted by the last stop" in caplog.text
    assert runs.get(run.id).status == "interrupted"


def test_more_due_triggers_than_one_transaction_takes_are_all_claimed(world):
    ticker = serve(world, *(entry(f"t{n}") for n in range(230)))

    advance(world, ticker, seconds=60)

    assert Run.objects.count() == 230


def test_a_failing_step_is_logged_and_the_loop_goes_on(world, monkeypatch, caplog):
    ticker = serve(world, entry("t"))
    steps = iter([ValueError("disk on fire"), None, None])
    left = [3]

    def step():
        error = next(steps)
        if error:
            raise error
        return world.clock.now()

    def stopped() -> bool:
        left[0] -= 1
        return left[0] < 0

    class Never:
        def wait(self, seconds: float) -> bool:
            return False

    monkeypatch.setattr(ticker, "step", step)
    ticker.run(Never(), stopped)

    assert "scheduler step failed" in caplog.text
    with pytest.raises(StopIteration):
        next(steps)


@pytest.mark.parametrize(
    ("rule", "runs_then"),
    [("once", [("catch-up", "queued", 10)]), ("skip", [("catch-up", "skipped", 10)])],
)
def test_what_was_due_while_the_database_was_gone_follows_the_catch_up_rule_once(
    world, monkeypatch, rule, runs_then
):
    """The ticker lives on and tries every two seconds; that is not serving."""
    ticker = serve(world, entry("t", more=f", catchUp: {rule}"))
    with monkeypatch.context() as outage:
        outage.setattr(claims, "claim_due", gone)
        for _ in range(300):
            with pytest.raises(OperationalError):
                advance(world, ticker, seconds=2)

    advance(world, ticker, seconds=2)
    ticker.step()

    assert told(world) == runs_then
    assert world.runs()[0].missed == {"once": 9, "skip": 10}[rule]


def test_what_was_due_in_a_short_outage_fires_late(world, monkeypatch):
    ticker = serve(world, entry("t", more=", catchUp: skip"))
    world.clock.step(seconds=50)
    ticker.step()
    with monkeypatch.context() as outage:
        outage.setattr(claims, "claim_due", gone)
        with pytest.raises(OperationalError):
            advance(world, ticker, seconds=12)

    advance(world, ticker, seconds=2)

    assert told(world) == [("interval", "queued", 1)]


def gone(**_: object) -> None:
    raise OperationalError("the database is gone")
