"""Pausing: one switch holds all triggers of a project or of the instance, and says so."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from config.errors import Conflict
from config.storage import opening
from tests.workspace.triggers.test_ticker import MINUTE, advance, end, entry, serve
from tests.workspace.triggers.world import NOON, USER
from workspace.chats import actions
from workspace.triggers import commands, events, pausing, render

LEGACY = "schedules:\n  old: {type: interval, interval: 1m, prompt: hi, enabled: true}\n"
HOOK = "triggers:\n  h: {trigger: {type: event, on: onArchive}, run: {prompt: x}, enabled: true}\n"


def hold(world, scope: str, *, paused: bool = True) -> bool:
    if scope == "project":
        return pausing.pause(world.project(), paused=paused)
    return pausing.pause_instance(paused=paused)


def told(world) -> list[tuple[str, str, str]]:
    return [(run.trigger, run.status, run.reason) for run in world.runs()]


@pytest.fixture(params=["project", "instance"])
def scope(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_times_that_pass_are_one_skipped_run_and_are_not_caught_up(world, scope):
    ticker = serve(world, entry("t"))
    assert hold(world, scope)
    for _ in range(5):
        advance(world, ticker, seconds=60)

    [skipped] = world.runs()
    assert (skipped.status, skipped.reason, skipped.skips) == ("skipped", pausing.PAUSED, 5)
    assert skipped.last_scheduled_for == NOON + 5 * MINUTE

    assert hold(world, scope, paused=False)
    ticker.step()
    assert len(world.runs()) == 1
    advance(world, ticker, seconds=60)
    assert [run.status for run in world.runs()] == ["skipped", "queued"]


def test_a_legacy_schedule_is_held_too(world, scope):
    world.write(LEGACY)
    ticker = world.ticker()
    hold(world, scope)

    advance(world, ticker, seconds=60)

    assert told(world) == [("old", "skipped", pausing.PAUSED)]


def test_an_event_hook_is_held_and_its_run_says_why(world, scope):
    project = world.write(HOOK)
    hold(world, scope)
    chat = actions.create(principal=USER, project=world.project()).chat.id

    actions.archive(
        principal=USER, project=project, session_id=chat, archived=True,
        on_archive=events.chat_archived,
    )  # fmt: skip

    assert told(world) == [("h", "skipped", pausing.PAUSED)]


@pytest.mark.parametrize("status", ["done", "Abandoned"])
def test_a_project_that_is_over_fires_nothing_and_says_so(world, serving, status):
    word = status.lower()
    ticker = serve(world, entry("t", run='prompt: "#!runbook\\n"'))
    before = world.text()
    world.write(f"status: {status}\n{before}")
    advance(world, ticker, seconds=60)
    advance(world, ticker, seconds=60)

    [skipped] = world.runs()
    assert (skipped.status, skipped.reason) == ("skipped", f"the project is {word}")
    assert skipped.skips == 2
    assert runtime(world)["paused"] == {"by": "status", "since": None, "status": word}
    assert not hold(world, "project", paused=False)
    assert commands.run(world.project(), "t", principal=USER).run.session_id

    world.write(f"status: active\n{before}")
    end(world.runs()[-1])
    advance(world, ticker, seconds=60)
    assert [run.status for run in world.runs()] == ["skipped", "completed", "queued"]


def test_a_hook_of_a_project_that_is_over_is_skipped_with_that_reason(world):
    project = world.write(f"status: done\n{HOOK}")
    chat = actions.create(principal=USER, project=project).chat.id

    actions.archive(
        principal=USER, project=project, session_id=chat, archived=True,
        on_archive=events.chat_archived,
    )  # fmt: skip

    assert told(world) == [("h", "skipped", "the project is done")]


def test_run_now_still_runs(world, scope, serving):
    world.write("triggers:\n" + entry("t", run='prompt: "#!runbook\\n"'))
    hold(world, scope)

    outcome = commands.run(world.project(), "t", principal=USER)

    assert outcome.run.status in ("queued", "running")
    assert outcome.run.session_id


def test_a_firing_that_was_queued_before_goes_on(world, scope):
    ticker = serve(world, entry("t"))
    advance(world, ticker, seconds=60)

    hold(world, scope)
    advance(world, ticker, seconds=60)

    first, second = world.runs()
    assert (first.status, second.status) == ("queued", "skipped")
    end(first)


def test_a_switch_of_one_project_holds_no_other(world):
    ticker = serve(world, entry("t"))
    world.write("triggers:\n" + entry("t"), "beta")
    advance(world, ticker, seconds=2)
    hold(world, "project")

    advance(world, ticker, seconds=62)

    assert {(run.project, run.status) for run in world.runs()} == {
        ("alpha", "skipped"), ("beta", "queued"),
    }  # fmt: skip


def test_what_was_missed_while_down_and_paused_is_skipped(world, scope):
    world.write("triggers:\n" + entry("t", "interval: 1h"))
    world.arm()
    hold(world, scope)
    world.clock.step(hours=3)

    world.ticker()

    assert told(world) == [("t", "skipped", pausing.PAUSED)]


def test_a_hand_edit_is_noticed_before_the_next_firing(world):
    ticker = serve(world, entry("t"))
    world.write("triggersPaused: true\ntriggers:\n" + entry("t"))

    advance(world, ticker, seconds=60)

    assert told(world) == [("t", "skipped", pausing.PAUSED)]
    assert pausing.of(world.project()) == pausing.Pause("project", None)


@pytest.mark.parametrize(
    ("value", "holds", "since"),
    [
        ("true", True, None), ("'2026-06-01T10:00:00.000Z'", True, "2026-06-01T10:00:00.000Z"),
        ("2026-06-01T12:00:00+02:00", True, "2026-06-01T10:00:00.000Z"), ("yes", True, None),
        ("[1]", True, None), ("{}", True, None), ("99999999999", True, None), ("1", True, None),
        ("false", False, None), ("null", False, None), ("", False, None), ("no", False, None),
        ("off", False, None), ("'  '", False, None),
    ],
)  # fmt: skip
def test_whatever_stands_there_holds_unless_it_says_no(world, value, holds, since):
    project = world.write(f"triggersPaused: {value}\n")
    pausing.switch().write_text(f"paused: {value}\n")

    assert pausing.of_data(project.data) == (pausing.Pause("project", since) if holds else None)
    assert pausing.of_instance() == (pausing.Pause("instance", since) if holds else None)


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process, as on a host far from UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_a_time_without_a_zone_is_utc_whatever_the_zone_of_the_host(world):
    project = world.write("triggersPaused: 2026-06-01T10:00:00\n")

    assert pausing.of(project) == pausing.Pause("project", "2026-06-01T10:00:00.000Z")


@pytest.mark.parametrize(
    "data",
    [b"paused: [", b"\xff\xfe", b"a: &a [*a]", b"x" * 9_000_000, b"- paused: true", b"text", b"5"],
)
def test_a_switch_that_cannot_be_read_holds_everything_and_is_not_overwritten(world, data):
    pausing.switch().write_bytes(data)

    assert pausing.of(world.project()) == pausing.Pause("instance", None)
    with pytest.raises((Conflict, OSError)):
        pausing.pause_instance(paused=False)
    assert pausing.switch().read_bytes() == data


def test_a_switch_that_could_not_be_read_for_a_moment_holds_no_longer(world, monkeypatch):
    pausing.switch().write_text("paused: false\n")

    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as full:
        full.setattr(opening, "regular", refused)
        assert pausing.of_instance() == pausing.Pause("instance", None)

    assert pausing.of_instance() is None


def test_a_switch_leaves_every_other_byte_and_comes_off_without_a_trace(world):
    text = "# mine\nname: Alpha   # odd\nmood: 'good'\n"
    world.write(text)
    pausing.switch().write_text("# all\nother: 1\n")

    for scope, read in (("project", world.text), ("instance", pausing.switch().read_text)):
        before = read()
        assert hold(world, scope)
        assert not hold(world, scope)
        held = read()
        assert held.startswith(before)
        assert held != before
        assert hold(world, scope, paused=False)
        assert not hold(world, scope, paused=False)
        assert read() == before


def test_the_instance_is_named_before_the_project(world):
    assert pausing.of(world.project()) is None
    hold(world, "project")
    found = pausing.of(world.project())
    assert found is not None
    assert found.by == "project"

    hold(world, "instance")

    found = pausing.of(world.project())
    assert found is not None
    assert found.by == "instance"


def test_a_broken_project_cannot_be_paused(world):
    world.write("name: [\n")

    with pytest.raises(Conflict):
        hold(world, "project")


def runtime(world) -> render.Runtime:
    [found] = render.runtimes(world.project(), pausing.of(world.project()))
    return found


def test_a_held_schedule_shows_no_next_time_and_its_own_again_afterwards(world, scope):
    serve(world, entry("t", "interval: 1h"))
    before = runtime(world)
    assert before["paused"] is None
    assert before["nextRunAt"]

    hold(world, scope)
    held = runtime(world)

    assert (held["nextRunAt"], held["nextRuns"], held["enabled"]) == (None, [], True)
    assert held["paused"]
    assert held["paused"]["by"] == scope
    [seen] = commands.list_triggers(world.project())[0]
    assert render.flat(seen)["paused"]["by"] == scope
    hold(world, scope, paused=False)
    assert runtime(world) == before
    assert before["nextRunAt"] == (NOON + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
