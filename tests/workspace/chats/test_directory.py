"""Turns in a directory of the user's: it is theirs to read and write, and the walls stand.

What svc itself keeps about the work never comes into the directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from config.errors import Conflict
from config.storage import covered
from tests.service import until
from tests.workspace.chats.world import World, ended
from workspace.chats import attachments
from workspace.chats.turns import jobs, queue, recovery
from workspace.engines import sandbox, select
from workspace.models import Turn
from workspace.projects import folders, store

BWRAP = sandbox.probe("bwrap", hide=(), scratch="/tmp")
inside = pytest.mark.skipif(
    BWRAP.mode != "bwrap", reason=f"{BWRAP.reason}: apt-get install bubblewrap"
)
SHOT = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.fixture
def notes(world: World, settings, tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """A checkout in the home of its user, where alpha works; its data directory hides nothing."""
    settings.DATA_DIR = tmp_path / "data"
    (settings.DATA_DIR / "run").mkdir(parents=True)
    home = tmp_path / "home" / "ada"
    notes = home / "notes"
    notes.mkdir(parents=True)
    (notes / "read.me").write_text("mine\n")
    (home / "key").write_text("secret of the home\n")
    monkeypatch.setenv("HOME", str(home))
    place(world, notes)
    select.probe_again()
    assert select.confinement().mode == BWRAP.mode
    yield notes
    select.probe_again()


def place(world: World, path: Path, mode: str = "bypassPermissions") -> None:
    world.write(f"name: Alpha\npermissionMode: {mode}\npath: {path}\n")


def fence(tool: str, body: str, attrs: str = "") -> str:
    return f"```{tool} {attrs}\n{body}\n```\n"


def turn(world: World, *steps: str, **given: Any) -> tuple[Turn, str]:
    """One turn to its end, and what its tools said."""
    turn = world.chat("#!runbook\n" + "".join(steps), **given).turn
    assert turn is not None
    done = world.run(turn.id)
    said = "\n".join(str(one.get("text")) for one in world.records(turn.chat, "tool_result"))
    return done, said


def at_work(world: World, command: str = "") -> tuple[Turn, BaseProcess]:
    """A turn in the project's own directory that goes on until it is stopped, and its worker."""
    script = "\n".join(filter(None, ("touch here", command, "sleep 60")))
    waiting = world.chat("#!runbook\n" + fence("Bash", script)).turn
    assert waiting is not None
    worker = world.work(waiting.id)
    until((world.project.dir / "here").exists, what="the turn at work")
    return waiting, worker


def listing(folder: Path) -> dict[str, bytes | None]:
    """Every name in it, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@inside
def test_a_turn_reads_and_writes_the_directory_and_sees_nothing_beside_it(
    world: World, notes: Path
):
    (world.folder / "beta").mkdir()
    (world.folder / "beta" / "secret").write_text("of beta\n")
    hidden = f"{notes.parent}/key {world.folder}/beta/secret {world.folder}/alpha/project.yaml"
    command = f"cat read.me; echo made > by.command; cat {hidden} {world.folder}/alpha/.chats/*"

    done, said = turn(
        world,
        fence("Write", "by tool", "file_path=by.tool"),
        fence("Bash", command, "allow_failure"),
    )

    assert (done.state, done.reason) == ("done", ""), said
    assert listing(notes) == {
        "by.command": b"made\n",
        "by.tool": b"by tool\n",
        "read.me": b"mine\n",
    }
    assert "mine" in said
    assert said.count("No such file or directory") == 4
    for secret in ("secret of the home", "of beta", "name: Alpha", "turn_start"):
        assert secret not in said


@inside
def test_an_attachment_lies_with_the_project_and_the_turn_reads_it(world: World, notes: Path):
    kept = attachments.add(project=world.project, name="shot.txt", data=b"what was seen\n")
    prompt = attachments.with_files(project=world.project, prompt="Look.", attached=[kept.path])
    whole = f"{world.folder}/alpha/.svc/attachments/{kept.name}"
    assert prompt == f"Look.\n\nAttached files:\n- {whole} (text/plain, 14 bytes)"

    _, said = turn(
        world,
        fence("Read", "", f"file_path={whole}"),
        fence(
            "Bash", f"cat {whole}; echo x >> {whole}; ls -a {world.folder}/alpha", "allow_failure"
        ),
        fence("Write", "x", f"file_path={whole} allow_failure"),
    )

    assert said.count("what was seen") == 2
    assert "Read-only file system" in said
    assert f"protected path: {whole}" in said
    assert "project.yaml" not in said
    assert Path(whole).read_bytes() == b"what was seen\n"
    assert listing(notes) == {"read.me": b"mine\n"}


@inside
def test_no_turn_says_where_the_next_one_works(world: World, notes: Path):
    world.write("name: Alpha\npermissionMode: bypassPermissions\n")
    line = f"path: {notes.parent}"

    _, said = turn(
        world,
        fence(
            "Bash",
            f"echo '{line}' >> project.yaml; mv project.yaml x; rm project.yaml",
            "allow_failure",
        ),
        fence("Write", line, "file_path=project.yaml allow_failure"),
    )

    assert "protected path: project.yaml" in said
    assert world.project.path.read_text() == "name: Alpha\npermissionMode: bypassPermissions\n"


@inside
def test_what_a_turn_writes_once_the_cover_of_project_yaml_fell_off_grants_it_nothing(
    world: World, notes: Path
):
    world.write("name: Alpha\npermissionMode: bypassPermissions\n")
    path, line = world.project.path, f"path: {notes}"
    got_in = world.project.dir / "got-in"
    tries = f"until echo '{line}' >> project.yaml; do :; done 2>/dev/null; touch got-in"
    working, worker = at_work(world, tries)
    assert line not in path.read_text()

    store.update("alpha", {"summary": "The service puts another file in the place of this one."})
    until(got_in.exists, what="the turn in the file")

    assert line in path.read_text()
    assert world.project.place.dir == world.project.dir
    assert world.project.warnings == []
    with pytest.raises(Conflict, match="replaced while a turn worked beside it"):
        store.update("alpha", {"summary": "Another."})

    queue.stop(project=world.project, chat=working.chat)
    ended(worker)
    assert world.project.error.startswith("cannot be followed")
    assert world.project.place.dir == world.project.dir

    world.write(path.read_text())  # as a person saves what they have read
    assert world.project.error == ""
    assert world.project.place.dir == notes


@inside
def test_a_person_edits_project_yaml_beside_a_turn_as_ever(world: World, notes: Path):
    world.write("name: Alpha\npermissionMode: bypassPermissions\n")
    working, worker = at_work(world)

    world.write(f"name: Alpha\npath: {notes}\n")  # into the file, as most editors do
    assert (world.project.error, world.project.place.dir) == ("", notes)

    store.update("alpha", {"path": None})  # here the cover falls off
    assert (world.project.error, world.project.place.dir) == ("", world.project.dir)
    world.write(world.project.path.read_text().replace("Alpha", "Beta"))
    assert (world.project.error, world.project.name) == ("", "Beta")
    store.update("alpha", {"name": "Gamma"})
    assert (world.project.error, world.project.name) == ("", "Gamma")

    queue.stop(project=world.project, chat=working.chat)
    ended(worker)
    assert not list((settings.DATA_DIR / "state" / "covered").iterdir())


@inside
def test_project_yaml_is_a_persons_again_once_a_turn_whose_worker_died_is_swept_up(
    world: World, notes: Path
):
    world.write("name: Alpha\npermissionMode: bypassPermissions\n")
    working, worker = at_work(world)
    worker.kill()
    worker.join(10)
    recovery.follow_files()
    assert covered.recorded_files() == [(world.project.path, (working.id,))]  # it may be at work

    assert recovery.sweep() == 1

    assert covered.recorded_files() == []


def test_a_turn_whose_directory_went_is_refused_with_the_reason(world: World, notes: Path):
    waiting = world.chat("#!runbook\nhi").turn
    assert waiting is not None
    notes.rename(notes.with_name("away"))

    done = world.run(waiting.id)

    end = world.records(waiting.chat, "turn_end")[-1]
    assert done.state == "failed"
    assert end["text"] == f"This project cannot work: path: {folders.GONE}."
    assert jobs.refusal(done) == end["text"]


def test_a_directory_that_is_turned_elsewhere_between_look_and_start_is_refused(
    world: World, notes: Path, monkeypatch
):
    away = notes.with_name("away")
    look = jobs.job_for

    def turned(*args: Any, **given: Any) -> Any:
        job = look(*args, **given)
        notes.rename(away)
        notes.symlink_to(world.folder)
        return job

    monkeypatch.setattr(jobs, "job_for", turned)
    done, _ = turn(world, fence("Write", "x", "file_path=alpha/made"))

    assert done.state == "failed"
    assert not (world.folder / "alpha" / "made").exists()
    assert listing(away) == {"read.me": b"mine\n"}


def test_a_link_of_the_attachments_out_of_the_project_lets_no_turn_start(world: World, notes: Path):
    (world.folder / "alpha" / ".svc").mkdir()
    (world.folder / "alpha" / ".svc" / "attachments").symlink_to(notes.parent)

    done, _ = turn(world, "hi\n")

    assert done.state == "failed"


def test_what_is_ours_is_written_beside_the_project_alone(world: World, notes: Path):
    os.mkfifo(notes / "pipe")
    before = listing(notes)

    attachments.add(project=world.project, name="shot.png", data=SHOT)
    chat = world.chat("#!runbook\nhi").chat.id
    place(world, notes.parent)
    with pytest.raises(Conflict, match="cannot work"):
        jobs.job_for(Turn.objects.get(chat=chat))

    assert listing(notes) == before
