"""T6: missed times follow the catch-up rule, exactly."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.promises.rings import ring
from tests.workspace.triggers.conftest import utc, world  # noqa: F401 - the small world
from tests.workspace.triggers.world import NOON, World

MISSED = range(1, ring(fast=6, slow=200))


def stop_over(world: World, when: str, catch_up: str, missed: int) -> None:  # noqa: F811
    """Armed at noon, down for `missed` nominal times of ten minutes, then up again."""
    world.write(
        f"triggers:\n  t:\n    trigger: {{type: schedule, {when}, catchUp: {catch_up}}}\n"
        "    run: {prompt: hi}\n    enabled: true\n"
    )
    world.ticker()
    world.clock.step(minutes=10 * missed + 5)
    world.ticker().step()


@pytest.mark.promise("T6")
@pytest.mark.parametrize("when", ['cron: "*/10 * * * *"', "interval: 10m"])
@pytest.mark.parametrize("missed", MISSED)
def test_once_fires_the_latest_alone_and_marks_it(world: World, when: str, missed: int):  # noqa: F811
    stop_over(world, when, "once", missed)

    run = world.runs()[0]
    assert len(world.runs()) == 1
    assert (run.cause, run.status, run.missed) == ("catch-up", "queued", missed - 1)
    assert run.scheduled_for == NOON + timedelta(minutes=10 * missed)
    assert world.state("t").next_at == NOON + timedelta(minutes=10 * (missed + 1))


@pytest.mark.promise("T6")
@pytest.mark.parametrize("when", ['cron: "*/10 * * * *"', "interval: 10m"])
@pytest.mark.parametrize("missed", MISSED)
def test_skip_fires_nothing_and_says_how_many(world: World, when: str, missed: int):  # noqa: F811
    stop_over(world, when, "skip", missed)

    run = world.runs()[0]
    assert len(world.runs()) == 1
    assert (run.status, run.reason) == ("skipped", f"missed while the server was down ({missed})")
    assert world.state("t").next_at == NOON + timedelta(minutes=10 * (missed + 1))


@pytest.mark.promise("T6")
def test_a_restart_with_nothing_missed_fires_nothing_and_keeps_the_grid(world: World):  # noqa: F811
    stop_over(world, "interval: 10m", "once", 0)

    assert world.runs() == []
    assert world.state("t").next_at == NOON + timedelta(minutes=10)
