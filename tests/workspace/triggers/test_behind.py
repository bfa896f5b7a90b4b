"""The clients behind what happened stay behind what it fires, however much of it is gathered."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.access.world import configure
from tests.workspace.triggers.test_happenings import _say, app, at, moved, on, started, thread
from tests.workspace.triggers.world import USER, World, schedule
from workspace.access.policy import Scope
from workspace.access.principals import Client
from workspace.models import Run, Turn
from workspace.triggers import admission, commands, firing, happenings, runs
from workspace.triggers.causes import AFTER

pytestmark = pytest.mark.usefixtures("serving")

CI = Client("ci", Scope(("alpha",), ("*",), max_spawn_depth=3))
OPS = Client("ops", Scope(("*",), ("*",)))
BETA = Client("beta", Scope(("beta",), ("*",)))


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(monkeypatch, ci=CI.scope, ops=OPS.scope, beta=BETA.scope)


@pytest.fixture
def repo(world: World, tmp_path: Path) -> Path:
    """The repository that the projects alpha and beta work in, by `path`; gamma is elsewhere."""
    made = tmp_path / "api"
    subprocess.run(["git", "init", "-q", made], check=True)
    for slug in ("alpha", "beta"):
        world.write(f"name: {slug}\npath: {made}\nmaxSpawnDepth: 9\n", slug)
    world.write("name: Gamma\nmaxSpawnDepth: 9\n", "gamma")
    return made


def caused(world: World, principal: Any, slug: str = "alpha") -> Turn:
    """A turn that works there for this caller."""
    world.put("own", schedule(interval="1h"), slug)
    run = commands.run(world.project(slug), "own", principal=principal).run
    Turn.objects.filter(run=run).update(state="running", started=datetime.now(UTC))
    return Turn.objects.get(run=run)


def behind(run: Run) -> tuple[str, list[str], int | None]:
    found = runs.get(run.id)
    return found.client, found.clients, found.spawn_cap


def failed(world: World, principal: Any) -> Run:
    """What the end of a run of this caller fires, if anything."""
    run = caused(world, principal).run
    assert run is not None
    runs.finish(run.id, status="failed", reason="no model")
    _say(run)
    return world.runs("f")[-1]


def test_a_run_of_a_client_that_fails_leaves_its_client_behind_what_that_fires(
    world: World, repo: Path
):
    world.put("f", on("onRunFailed"))

    run = failed(world, CI)

    assert behind(run) == ("ci", ["ci"], 2)
    turn = started(run)
    assert (turn.client, turn.clients, turn.spawn_limit) == ("ci", ["ci"], 2)


def test_a_start_of_a_client_that_fails_does_so_too(world: World, repo: Path):
    world.put("f", on("onRunFailed"))
    trigger = world.put("a", schedule(interval="1h")).seen.trigger
    run = firing.fire(
        project=world.project(), trigger=trigger, cause="api", actor={}, client="ci",
        clients=("ci", "ops"), spawn_cap=1,
    )  # fmt: skip
    runs.finish(run.id, status="failed", reason="no chat")
    _say(run)

    assert behind(world.runs("f")[0]) == ("ci", ["ci", "ops"], 1)


def test_all_clients_of_what_is_gathered_are_behind_it_and_the_least_depth_holds(
    world: World, repo: Path
):
    world.put("f", on("onRunFailed", debounce="1h"))

    assert behind(failed(world, USER)) == ("", [], None)
    assert behind(failed(world, OPS)) == ("ops", ["ops"], 8)
    last = failed(world, CI)
    assert behind(last) == ("ops", ["ops", "ci"], 2)
    assert behind(failed(world, USER)) == ("ops", ["ops", "ci"], 2)
    assert len(world.runs("f")) == 1
    turn = started(last)
    assert (turn.clients, turn.spawn_limit) == (["ops", "ci"], 2)


@pytest.mark.parametrize("event", ["onCommits", "onThread", "onAppDown", "onAppUp"])
def test_what_happens_while_the_turn_of_a_client_works_there_is_taken_for_its_doing(
    world: World, repo: Path, event: str
):
    world.put("e", on(event))
    turn = caused(world, CI)
    what: Any = {
        "onCommits": moved(repo), "onThread": thread(repo, by_file=True), "onAppDown": app(repo),
        "onAppUp": app(repo, "up"),
    }[event]  # fmt: skip

    happenings.hear(what, at(0))

    [run] = world.runs("e")
    assert behind(run) == ("ci", ["ci"], 2)
    Turn.objects.filter(id=turn.id).update(state="done", finished=at(60))
    happenings.hear(what, at(61))
    happenings.hear(what, at(62) + AFTER)
    assert [behind(run) for run in world.runs("e")][1:] == [("ci", ["ci"], 2), ("", [], None)]


def test_what_a_person_writes_meanwhile_is_the_persons(world: World, repo: Path):
    world.put("t", on("onThread"))
    caused(world, CI)

    happenings.hear(thread(repo), at(0))

    assert behind(world.runs("t")[0]) == ("", [], None)


def test_a_client_in_another_project_counts_where_it_works_in_the_same_place_alone(
    world: World, repo: Path
):
    world.put("c", on("onCommits", debounce="0s", overlap="parallel"))
    world.put("d", on("onAppDown", debounce="0s", overlap="parallel"))
    elsewhere = caused(world, OPS, "gamma")

    for second in (0, 1):
        happenings.hear(moved(repo), at(second))
        happenings.hear(app(repo), at(second))
        Turn.objects.filter(id=elsewhere.id).delete()
        if not second:
            caused(world, OPS, "beta")

    assert [behind(run) for run in world.runs("c")] == [("", [], None), ("ops", ["ops"], 8)]
    assert [behind(run) for run in world.runs("d")] == [("", [], None), ("ops", ["ops"], 8)]


def test_what_a_client_of_another_project_caused_fires_nothing_here(world: World, repo: Path):
    world.put("c", on("onCommits"))
    happenings.hear(moved(repo), at(0))
    caused(world, BETA, "beta")

    for second in (1, 2):
        happenings.hear(moved(repo, after=f"{second}" * 40), at(second))

    found = [(run.status, run.reason, run.skips, run.clients) for run in world.runs("c")]
    assert found == [
        ("queued", "", None, []),
        ("skipped", admission.OUTSIDE, 2, ["beta"]),
    ]
