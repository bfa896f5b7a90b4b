"""Following files and refs beside the requests, also where nothing notifies."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from config.storage import watch
from review import events, files, projects
from review.background import watcher
from review.background.telling import QUIET_S, Teller
from review.background.watcher import Background
from review.projects import Project
from tests.review.places import put
from tests.review.world import World
from tests.service import until

pytestmark = pytest.mark.django_db(transaction=True)  # the watcher has a connection of its own

Told = list[dict[str, Any]]
PROJECT = "title: Pay\nrepos: [{{name: api, path: {path}, range: main..feature}}]\n"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    found: Told = []
    monkeypatch.setattr(events.EVENTS, "publish", lambda _name, data: found.append(dict(data)))
    return found


@pytest.fixture
def sha(world: World) -> str:
    """The one commit under review."""
    world.repo.commit({"a": "1\n"}, "One")
    world.repo.branch("feature")
    made = world.repo.commit({"a": "2\n"}, "Two")
    put(world.home / "pay" / "project.yaml", PROJECT.format(path=world.repo.path).encode())
    return made


@contextmanager
def running() -> Iterator[Background]:
    background = Background()
    background.start()
    try:
        yield background
    finally:
        background.stop()


def come(told: Told, wanted: dict[str, Any]) -> None:
    until(lambda: wanted in told, seconds=3, what=f"{wanted} in {told}")


def test_without_notifications_everything_is_found_by_polling(
    world: World, sha: str, told: Told, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise OSError("no inotify instances left")

    monkeypatch.setattr(watch, "notify", broken)
    monkeypatch.setattr(watch, "BLIND_S", 0.1)
    review = {"type": "review", "project": "pay", "repo": "api", "sha": sha}

    with running():
        world.put(sha, "threads: [{comments: [{author: x, body: y}]}]\n")
        come(told, review)
        world.put(sha, "title: T\n", "prs")
        come(told, review | {"type": "pr"})
        put(world.home / "new" / "project.yaml", b"title: New\n")
        come(told, {"type": "projects", "reason": "added"})
        put(world.home / "new" / "project.yaml", b"title: Newer\n")
        come(told, {"type": "project", "project": "new", "reason": "config"})
        world.repo.commit({"a": "3\n"}, "Three")
        come(told, {"type": "project", "project": "pay", "reason": "git"})
        (world.home / "new" / "project.yaml").unlink()
        come(told, {"type": "projects", "reason": "removed"})


@contextmanager
def looked_at(
    file: Path, meanwhile: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Background]:
    """One that looked at the project of a file, in the middle of which something happened, and
    then at the file."""
    read = watcher._project

    def slow(slug: str) -> Project | None:
        found = read(slug)
        meanwhile()
        return found

    background = Background()
    background._projects = {project.slug: project for project in projects.all()}
    background._teller.start()
    try:
        with monkeypatch.context() as patched:
            patched.setattr(watcher, "_project", slow)
            background.on_change({file.parent})
        background.on_change({file})
        yield background
    finally:
        background.stop()


@pytest.mark.parametrize("before", [b"", b"title: Old\n"], ids=["new", "changed"])
def test_a_project_file_that_comes_in_the_middle_of_a_look_is_told_by_the_next_one(
    world: World, told: Told, monkeypatch: pytest.MonkeyPatch, before: bytes
):
    file = world.home / "new" / "project.yaml"
    file.parent.mkdir()
    if before:
        put(file, before)

    with looked_at(file, lambda: put(file, b"title: New\n"), monkeypatch):
        changed = {"type": "project", "project": "new", "reason": "config"}
        come(told, changed if before else {"type": "projects", "reason": "added"})


def test_a_project_file_of_our_own_that_comes_in_the_middle_of_a_look_is_told_by_no_look(
    world: World, told: Told, monkeypatch: pytest.MonkeyPatch
):
    file = world.home / "new" / "project.yaml"
    file.parent.mkdir()

    def written() -> None:
        files.change(("new", "project.yaml"), lambda _now: b"title: New\n")

    with looked_at(file, written, monkeypatch) as background:
        put(file, b"title: Newer\n")
        background.on_change({file})
        come(told, {"type": "project", "project": "new", "reason": "config"})

    assert [one for one in told if one["type"] == "projects"] == []


def test_a_start_removes_what_a_killed_writer_left(world: World, sha: str, told: Told):
    litter = put(world.file(sha).with_name(".svc-tmp-x"), b"half")
    work = put(world.home / "pay" / "checkout" / ".svc-tmp-y", b"not ours")
    for path in (litter, work):
        os.utime(path, (time.time() - 90,) * 2)

    with running():
        pass

    assert not litter.exists()
    assert work.exists()


def test_the_inside_of_a_project_is_not_watched(world: World, sha: str):
    deep = put(world.home / "pay" / "checkout" / "src" / "a.py", b"x").parent

    with running() as background:
        watched = set(background.folders())

    assert world.home / "pay" in watched
    assert not {deep, deep.parent} & watched
    assert world.repo.path / ".git" / "refs" / "heads" in watched
    assert world.repo.path not in watched


def test_nothing_is_left_when_it_stops(world: World, sha: str, told: Told):
    before = set(threading.enumerate())

    for _ in range(3):
        with running():
            world.repo.git("update-ref", "refs/heads/x", "HEAD")

    # a timer that was cancelled ends a moment later
    until(lambda: set(threading.enumerate()) <= before, what="no thread is left")


def test_what_is_said_often_is_said_once_and_a_failure_ends_nothing(
    caplog: pytest.LogCaptureFixture,
):
    said: list[str] = []

    def fail() -> None:
        raise RuntimeError("no")

    teller = Teller()
    teller.start()
    try:
        began = time.monotonic()
        for _ in range(5):
            teller.later(("a",), lambda: said.append("a"))
        teller.later(("b",), fail)
        teller.later(("c",), lambda: said.append("c"))
        until(lambda: "c" in said)
        waited = time.monotonic() - began
        teller.later(("a",), lambda: said.append("again"))
        until(lambda: "again" in said)
    finally:
        teller.stop()

    assert said == ["a", "c", "again"]
    assert waited >= QUIET_S * 0.9
    assert "a change was not published" in caplog.text


def test_a_folder_in_place_of_a_file_is_no_echo_and_no_failure(
    world: World, sha: str, told: Told, caplog: pytest.LogCaptureFixture
):
    with running():
        (world.home / "pay" / "assets").mkdir()
        (world.home / "pay" / "assets" / f"{'0' * 64}.png").mkdir()
        come(told, {"type": "project", "project": "pay", "reason": "assets"})

    assert "not handled" not in caplog.text


def test_a_file_that_holds_what_it_held_is_not_told_again(world: World, sha: str, told: Told):
    review = {"type": "review", "project": "pay", "repo": "api", "sha": sha}
    with running() as background:
        path = world.put(sha, "threads: []\n")
        come(told, review)
        told.clear()
        path.touch()
        background.on_change({path})
        world.put(sha, "title: T\n", "prs")
        come(told, review | {"type": "pr"})

    assert review not in told


def test_a_broken_link_among_the_projects_stops_nothing(world: World, sha: str, told: Told):
    (world.home / "gone").symlink_to(Path("/nowhere"))

    with running():
        world.repo.git("update-ref", "refs/heads/x", "HEAD")
        come(told, {"type": "project", "project": "pay", "reason": "git"})


def test_a_repository_that_is_first_seen_has_not_moved(world: World, sha: str, told: Told):
    with running() as background:
        background.on_change({world.repo.path / ".git" / "HEAD"})
        world.repo.git("update-ref", "refs/heads/x", "HEAD")
        come(told, {"type": "project", "project": "pay", "reason": "git"})
        background.on_change({world.repo.path / ".git" / "HEAD"})
        put(world.home / "new" / "project.yaml", b"title: New\n")
        come(told, {"type": "projects", "reason": "added"})

    assert told.count({"type": "project", "project": "pay", "reason": "git"}) == 1


def test_a_folder_that_can_be_no_project_is_passed_over(world: World, sha: str, told: Told):
    with running() as background:
        background.on_change(
            {world.home / ".making-demo", world.home / ".making-demo/project.yaml"}
        )

    assert told == []
