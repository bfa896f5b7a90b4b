"""The other parts hear when a known app falls, comes back, or is given up, and of nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config import signals
from config.signals import AppChanged
from dashboard.daemon import Daemon
from dashboard.daemon.standings import Standings
from dashboard.health.evidence import (
    Changed,
    Evidence,
    Exited,
    Scanned,
    Silenced,
    Started,
    Stopped,
    Stopping,
    Woke,
)
from dashboard.health.record import Port, Reason, State
from dashboard.health.result import Kind
from dashboard.health.runner import Report
from dashboard.health.target import Target
from dashboard.models import Edge
from dashboard.registry.app import App, Source
from tests.dashboard.health import world
from tests.service import until

pytestmark = pytest.mark.django_db(transaction=True)

Heard = list[AppChanged]


@pytest.fixture
def heard() -> Iterator[Heard]:
    found: Heard = []

    def hear(happening: AppChanged, **_: object) -> None:
        found.append(happening)

    signals.app_changed.connect(hear)
    yield found
    signals.app_changed.disconnect(hear)


class Judged:
    """One app, its evidence by a clock of the test's, and the standings that follow it."""

    def __init__(self, heard: Heard, source: Source = "declared", **policy: Any) -> None:
        self.heard, self.machine, self.standings = heard, world.App(**policy), Standings()
        self.app = App(slug="shop", source=source, target=Target(), policy=self.machine.policy)

    def then(self, what: Callable[[world.App], object] | Evidence) -> list[str]:
        """What is told of one more step."""
        before, seen = len(self.heard), len(self.machine.events)
        what(self.machine) if callable(what) else self.machine.tell(what)
        for event in self.machine.events[seen:]:
            self.standings.take(self.app, Report("shop", self.machine.record, None, (event,)))
        return self._told(before)

    def leave(self, evidence: Port) -> list[str]:
        """What is told when it is found in no list any more; then it may be found again."""
        before = len(self.heard)
        self.standings.leave(replace(self.app, evidence=evidence), self.machine.record)
        self.machine = world.App()
        return self._told(before)

    def _told(self, before: int) -> list[str]:
        self.standings._thread.submit(lambda: None).result(5)
        return [one.state for one in self.heard[before:]]

    def probe(self, kind: Kind, times: int = 1) -> list[str]:
        return [one for _ in range(times) for one in self.then(lambda app: app.probe(kind))]


def test_what_falls_and_comes_back_is_told_once_each(heard: Heard):
    app = Judged(heard, always=True, failures=3)

    assert app.probe(Kind.OK) == []
    assert app.probe(Kind.TIMEOUT, 5) == ["down"]
    assert app.probe(Kind.OK, 3) == ["up"]
    assert [(one.app, one.before) for one in heard] == [("shop", "up"), ("shop", "down")]


@pytest.mark.parametrize("known", [None, State.UP, State.DOWN, State.STOPPED])
@pytest.mark.parametrize("kind", [Kind.OK, Kind.TIMEOUT])
def test_what_a_start_of_the_service_merely_finds_is_not_told(
    heard: Heard, known: State | None, kind: Kind
):
    app = Judged(heard, always=True, known=known, reason=Reason.OK if known else None)

    assert app.probe(kind, 3) == []


def test_what_goes_on_after_a_start_is_told_when_it_changes(heard: Heard):
    app = Judged(heard, always=True, failures=1, known=State.DOWN, reason=Reason.TIMEOUT)

    assert app.probe(Kind.TIMEOUT, 3) == []
    assert app.probe(Kind.OK) == ["up"]


def test_an_answer_that_is_bad_is_neither_a_fall_nor_a_return(heard: Heard):
    app = Judged(heard, always=True, failures=1)
    app.probe(Kind.OK)

    assert app.probe(Kind.SERVER_ERROR, 4) == []
    assert app.probe(Kind.OK, 3) == []
    app.probe(Kind.TIMEOUT)
    assert app.probe(Kind.SERVER_ERROR, 4) == []
    assert app.probe(Kind.OK, 3) == ["up"]


def test_what_a_user_stops_is_not_told_and_its_next_start_says_so(heard: Heard):
    app = Judged(heard, always=True)
    app.probe(Kind.OK)

    assert app.then(Stopping()) == app.then(Stopped()) == []
    app.then(Started())
    assert app.probe(Kind.OK) == ["up"]
    assert heard[0].before == "stopped"


def test_what_is_always_to_be_up_is_expected(heard: Heard):
    app = Judged(heard, always=True, failures=1)
    for kind in (Kind.OK, Kind.TIMEOUT, Kind.OK):
        app.probe(kind)

    assert [(one.state, one.expected) for one in heard] == [("down", True), ("up", True)]


def test_a_service_that_ended_by_itself_was_expected_until_it_is_back(heard: Heard):
    app = Judged(heard)  # nothing of it lives any more
    app.probe(Kind.OK)
    app.then(Exited(3))
    app.probe(Kind.OK, 3)

    assert [(one.state, one.expected) for one in heard] == [("down", True), ("up", True)]


def test_what_hangs_is_down_and_not_expected_where_it_comes_and_goes(heard: Heard):
    app = Judged(heard, failures=1)
    app.then(Scanned(Port.OWN))
    app.probe(Kind.OK)
    app.probe(Kind.TIMEOUT)
    app.probe(Kind.OK)

    assert [(one.state, one.expected) for one in heard] == [("down", False), ("up", False)]


def test_an_app_that_nothing_expects_to_be_up_may_go(heard: Heard):
    app = Judged(heard)
    app.probe(Kind.OK)

    assert app.probe(Kind.REFUSED, 4) == []


def test_what_falls_as_it_starts_is_told_also_at_the_first_start(heard: Heard):
    app = Judged(heard, should_run=True)
    app.then(Started(by_user=False))

    assert app.then(Exited(3)) == ["down"]


def test_a_found_app_that_left_the_list_has_fallen_and_may_come_back(heard: Heard):
    app = Judged(heard, source="discovered")
    app.probe(Kind.OK)
    app.probe(Kind.REFUSED, 4)

    assert app.leave(Port.EMPTY) == ["down"]
    assert app.probe(Kind.OK) == ["up"]
    assert app.leave(Port.EMPTY) == ["down"]
    assert [(one.before, one.expected) for one in heard] == [
        ("up", False), ("down", False), ("up", False),
    ]  # fmt: skip


def test_one_that_was_claimed_or_ignored_or_never_judged_has_not(heard: Heard):
    app = Judged(heard, source="discovered")
    assert app.leave(Port.EMPTY) == []
    app.probe(Kind.OK)

    assert app.leave(Port.OWN) == []


def test_nor_has_one_that_a_user_stopped_or_whose_file_went(heard: Heard):
    sources: tuple[Source, ...] = ("discovered", "declared")
    for source in sources:
        app = Judged(heard, source)
        app.probe(Kind.OK)
        if source == "discovered":
            app.then(Stopping())
            app.then(Stopped())

        assert app.leave(Port.EMPTY) == []


def test_giving_up_is_told_once_and_is_a_fall(heard: Heard):
    app = Judged(heard, should_run=True)
    app.probe(Kind.OK)
    for _ in range(4):
        assert app.then(Exited(3, retry_in=1.0)) == []
        assert app.then(Started(restart=True, by_user=False)) == []

    assert app.then(Exited(3, crash_loop=True)) == ["crash_loop"]
    assert app.then(Exited(3, crash_loop=True)) == []
    app.then(Started())
    assert app.probe(Kind.OK) == ["up"]


def test_what_came_of_a_pause_is_found_and_what_came_of_a_sleep_is_told(heard: Heard):
    app = Judged(heard, always=True, failures=1)
    app.probe(Kind.OK)
    app.then(Silenced())
    app.then(Changed())
    assert app.probe(Kind.TIMEOUT) == []
    app.probe(Kind.OK)
    app.then(Woke())
    assert app.probe(Kind.TIMEOUT, 2) == ["down"]


def test_an_app_that_flaps_is_told_as_rarely_as_the_stream_tells_it(heard: Heard):
    app = Judged(heard, always=True, failures=1)
    for turn in range(120):
        app.probe(Kind.TIMEOUT if turn % 2 else Kind.OK)

    assert len(heard) <= len(app.machine.notices) <= 10
    assert all(one.state != one.before for one in heard)


def test_a_receiver_may_use_the_database_and_one_that_fails_stops_nothing(
    daemon: Daemon, home: Path, heard: Heard
):
    counted = []

    def broken(**_: object) -> None:
        counted.append(Edge.objects.count())
        raise RuntimeError("no")

    signals.app_changed.connect(broken)
    try:
        falls(daemon, home)
        until(lambda: counted and [one.state for one in heard] == ["down"], seconds=20)
    finally:
        signals.app_changed.disconnect(broken)

    assert counted
    assert heard[0].directory == home / "work"
    assert (heard[0].name, heard[0].reason, heard[0].before) == ("Shop", "exited", "up")


def falls(daemon: Daemon, home: Path) -> None:
    """A real service that is up, and then ends by itself."""
    work = home / "work"
    work.mkdir()
    wait = "import time, pathlib\nwhile not pathlib.Path('end').exists(): time.sleep(0.05)\nexit(3)"
    (work / "main.py").write_text(wait)
    command = f"exec {sys.executable} main.py"
    (home / "apps" / "shop.yaml").write_text(
        f"name: Shop\nservice: {{command: '{command}', cwd: {work}}}\n"
    )
    daemon.start()
    assert daemon.loaded.wait(10)
    until(lambda: daemon.ask(daemon.state.services.status, "shop"))
    assert daemon.wait(daemon.state.services.act, "shop", "start").ok

    def state() -> State:
        record = daemon.ask(daemon.state.runner.record, "shop")
        assert record is not None
        return record.state

    until(lambda: state() is State.UP, seconds=20)
    (work / "end").touch()
