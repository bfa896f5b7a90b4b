"""Whatever happens in whatever order: nothing is lost, told twice, begun early or its own cause."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.signals import BranchMoved
from tests.workspace.triggers.test_happenings import at, on
from tests.workspace.triggers.world import World
from workspace.models import Run, Turn
from workspace.triggers import firing, happenings, runs
from workspace.triggers.causes import AFTER

DEBOUNCE = timedelta(seconds=30)
STEPS = st.lists(
    st.sampled_from(["commit", "wait 1", "wait 29", "wait 31", "tick", "end"]),
    min_size=5,
    max_size=40,
)


class Machine:
    """A trigger onCommits, its turns, and a person who commits beside them."""

    def __init__(self, world: World) -> None:
        self.world, self.now = world, at(0)
        self.numbers = itertools.count()
        self.told: list[str] = []  # what must be in a firing, in order
        self.quiet_until: datetime | None = None

    def do(self, step: str) -> None:
        word, _, rest = step.partition(" ")
        getattr(self, word)(*map(int, rest.split()))

    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    def commit(self) -> None:
        """Somebody's, while no turn of the trigger works; else it counts as the turn's own."""
        sha = f"{next(self.numbers):040d}"
        happening = BranchMoved(Path("/nowhere"), "alpha", "api", "feature", "", sha)
        happenings.hear(happening, self.now)
        working = Turn.objects.filter(state="running").exists()
        quiet = self.quiet_until is not None and self.now <= self.quiet_until
        if not working and not quiet:
            self.told.append(sha)

    def tick(self) -> None:
        """The ticker, and a worker that begins what was handed over, as after any restart."""
        happenings.release_due(self.now)
        for run in Run.objects.filter(status="queued", session_id="").order_by("id"):
            early = run.scheduled_for is not None
            started = firing.start(run.id).run
            assert not (early and started.session_id), "it had not gathered yet"
            if started.session_id:
                Turn.objects.filter(run=started).update(state="running", started=self.now)

    def end(self) -> None:
        for turn in Turn.objects.filter(state="running"):
            turn.state, turn.finished = "done", self.now
            turn.save()
            self.quiet_until = self.now + AFTER
            runs.follow(turn)

    def check(self) -> None:
        """All that is to be told stands in one run each, in its order."""
        told = Run.objects.exclude(status="skipped").order_by("id")
        shas = [one["after"] for run in told if run.event for one in run.event["happenings"]]
        assert shas == self.told
        gathering = Run.objects.filter(runs.GATHERS, status="queued")
        assert gathering.filter(scheduled_for__gt=self.now).count() <= 1
        assert Turn.objects.filter(state="running").count() <= 1
        for run in told:
            moments = [_moment(one["at"]) for one in run.event["happenings"]] if run.event else []
            assert max(moments) - min(moments) < DEBOUNCE


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.timeout(120)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_in_any_order_each_thing_fires_once_and_none_that_the_trigger_caused(
    world: World, steps: list[str]
):
    Turn.objects.all().delete()
    Run.objects.all().delete()
    world.put("c", on("onCommits", debounce="30s"))
    machine = Machine(world)

    for step in ["commit", "wait 31", "tick", *steps]:
        machine.do(step)
        machine.check()
