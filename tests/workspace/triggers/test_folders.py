"""Triggers of a project that works in a directory of the user's: held while it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.triggers.test_ticker import advance, entry
from workspace.models import Turn
from workspace.projects import folders, store
from workspace.triggers import firing, pausing, render
from workspace.triggers.entries import files


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    notes = tmp_path / "home" / "notes"
    notes.mkdir(parents=True)
    return notes


def told(world) -> list[tuple[str, str]]:
    return [(run.status, run.reason) for run in world.runs()]


def test_times_that_pass_while_the_directory_is_gone_are_skipped_and_say_why(world, notes: Path):
    world.write(f"path: {notes}\ntriggers:\n{entry('t')}")
    ticker = world.ticker()
    notes.rename(notes.with_name("away"))

    advance(world, ticker, seconds=60)
    advance(world, ticker, seconds=60)

    assert told(world) == [("skipped", pausing.NO_FOLDER)]
    assert world.runs()[0].skips == 2
    assert render.pause(pausing.of(world.project())) == {"by": "folder", "since": None}

    notes.with_name("away").rename(notes)
    advance(world, ticker, seconds=60)

    assert told(world)[1:] == [("queued", "")]
    assert pausing.of(world.project()) is None


@pytest.mark.parametrize("path", ["'~'", "[x]", "not/whole"])
def test_a_path_that_cannot_be_used_fires_nothing_anywhere(world, path: str):
    world.write(f"path: {path}\ntriggers:\n{entry('t')}")
    ticker = world.ticker()

    advance(world, ticker, seconds=60)

    assert told(world) == [("skipped", pausing.NO_FOLDER)]


def test_run_now_in_a_directory_that_is_gone_fails_with_the_reason(world, notes: Path):
    project = world.write(f"path: {notes}\ntriggers:\n{entry('t')}")
    world.arm()
    notes.rmdir()
    trigger = files.read(project).triggers["t"]

    run = firing.fire(project=project, trigger=trigger, cause="manual", actor={"kind": "user"})
    outcome = firing.start(run.id)

    assert (outcome.run.status, outcome.run.reason) == ("failed", f"path: {folders.GONE}")
    assert not [*world.folder.glob("alpha/.chats/*.yaml")]


def test_a_prompt_file_is_read_beside_the_project_and_not_in_the_directory(world, notes: Path):
    for place, text in ((notes, "theirs"), (world.folder / "alpha", "ours")):
        (place / ".svc" / "triggers").mkdir(parents=True)
        (place / ".svc" / "triggers" / "a.md").write_text(text)
    project = world.write(f"path: {notes}\ntriggers:\n{entry('t', run='promptFile: a.md')}")
    world.arm()
    trigger = files.read(project).triggers["t"]

    run = firing.fire(project=project, trigger=trigger, cause="manual", actor={"kind": "user"})
    firing.start(run.id)

    (turn,) = Turn.objects.all()
    assert (turn.prompt, turn.run_id) == ("ours", run.id)
    assert store.get("alpha").working_dir == notes
