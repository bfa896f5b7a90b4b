"""The other parts hear of threads and of branches under review, however these came about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
import yaml
from django.utils import timezone

from config import signals
from config.signals import BranchMoved, ThreadWritten
from review import events
from review.background.handwritten import differences
from review.background.watcher import Background
from review.files import times
from review.stacks import changes
from review.threads import reading, schema
from tests.review.places import put
from tests.review.world import World
from tests.service import until

pytestmark = pytest.mark.django_db(transaction=True)  # the watcher has a connection of its own

PROJECT = "title: Pay\nrepos: [{{name: api, path: {path}, range: main..feature}}]\n"


@dataclass
class Heard:
    threads: list[ThreadWritten] = field(default_factory=list)
    branches: list[BranchMoved] = field(default_factory=list)

    @property
    def acts(self) -> list[tuple[str, str, str]]:
        return [(one.act, one.author, one.text) for one in self.threads]

    def come(self, *acts: tuple[str, str, str]) -> None:
        until(lambda: self.acts == list(acts), seconds=5, what=f"{acts}, not {self.acts}")


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    found = Heard()

    def thread(happening: ThreadWritten, **_: object) -> None:
        found.threads.append(happening)

    def branch(happening: BranchMoved, **_: object) -> None:
        found.branches.append(happening)

    signals.thread_written.connect(thread)
    signals.branch_moved.connect(branch)
    yield found
    signals.thread_written.disconnect(thread)
    signals.branch_moved.disconnect(branch)


@pytest.fixture
def shas(world: World) -> tuple[str, str]:
    """The commit of main and the one under review, on `feature`."""
    base = world.repo.commit({"a": "1\n"}, "One")
    world.repo.branch("feature")
    made = world.repo.commit({"a": "2\n"}, "Two")
    put(world.home / "pay" / "project.yaml", PROJECT.format(path=world.repo.path).encode())
    return base, made


@contextmanager
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """The watcher; what pages are told."""
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(events.EVENTS, "publish", lambda _name, data: told.append(dict(data)))
    background = Background()
    background.start()
    try:
        yield told
    finally:
        background.stop()


def thread(name: str, author: str = "ann", body: str = "why?", **more: Any) -> dict[str, Any]:
    comment = {"id": f"c{name}", "author": author, "body": body, **more}
    return {"id": name, "comments": [comment]}


def edit(world: World, sha: str, change: Callable[[dict[str, Any]], object]) -> None:
    """What an editor does to the file."""
    path = world.file(sha)
    held = yaml.safe_load(path.read_text()) if path.exists() else {"threads": []}
    change(held)
    world.put(sha, yaml.safe_dump(held))


def add(world: World, sha: str, *threads: dict[str, Any]) -> None:
    edit(world, sha, lambda held: held["threads"].extend(threads))


def test_what_is_written_through_the_api_is_told_with_its_place(
    world: World, shas: tuple[str, str], heard: Heard
):
    sha = shas[1]
    at = {"project": "pay", "repo": "api", "sha": sha}
    made = changes.start_thread(**at, me="ann", body=" why? ", path="a", line=1)
    changes.reply(**at, thread=made["id"], me="ann", body="so.", author="agent:claude")
    changes.propose_resolved(**at, thread=made["id"], me="agent:claude")
    changes.propose_resolved(**at, thread=made["id"], me="agent:claude")
    changes.resolve_thread(**at, thread=made["id"], me="ann", resolved=True)
    changes.resolve_thread(**at, thread=made["id"], me="ann", resolved=True)
    changes.resolve_thread(**at, thread=made["id"], me="ann", resolved=False)

    assert heard.acts == [
        ("opened", "ann", "why?"),
        ("replied", "agent:claude", "so."),
        ("proposed", "agent:claude", ""),
        ("resolved", "ann", ""),
        ("reopened", "ann", ""),
    ]
    first = heard.threads[0]
    assert (first.repository, first.project, first.repo) == (world.repo.path, "pay", "api")
    assert (first.sha, first.thread, first.file, first.line) == (sha, made["id"], "a", 1)
    assert not first.by_file


def test_a_proposal_by_hand_is_told_once_and_one_long_past_or_of_a_resolved_thread_is_not():
    long_ago = "2026-01-01T00:00:00Z"

    def held(proposed: Any, **more: Any) -> schema.ReviewFile:
        written = thread("t", created_at=long_ago) | {"proposed": proposed} | more
        return reading.parse({"threads": [written]}, "a" * 40)

    now = {"by": "agent:claude", "at": times.now_exact()}
    past = {"by": "agent:claude", "at": long_ago}

    (said,) = differences(held(None), held(now))
    assert (said.act, said.author) == ("proposed", "agent:claude")
    assert [*differences(held(now), held(now))] == []
    assert [*differences(held(None), held(past))] == []
    assert [one.act for one in differences(held(None), held(now, resolved=True))] == ["resolved"]


def test_a_receiver_that_fails_takes_nothing_back(world: World, shas: tuple[str, str]):
    def broken(**_: object) -> None:
        raise RuntimeError("no")

    signals.thread_written.connect(broken)
    try:
        made = changes.start_thread("pay", "api", shas[1], me="ann", body="why?")
    finally:
        signals.thread_written.disconnect(broken)

    assert made["comments"][0]["body"] == "why?"
    assert "why?" in world.text(shas[1])


def test_what_a_hand_writes_is_told_and_what_stood_there_is_not(
    world: World, shas: tuple[str, str], heard: Heard, monkeypatch: pytest.MonkeyPatch
):
    sha = shas[1]
    add(world, sha, thread("t1"))
    changes.reply("pay", "api", sha, "t1", me="ann", body="first")
    heard.threads.clear()

    with running(monkeypatch):
        add(world, sha, thread("t2", "bob", "and this?"))
        heard.come(("opened", "bob", "and this?"))
        edit(world, sha, lambda held: held["threads"][0]["comments"][1].update(body="mended"))
        add(world, sha, thread("t3", "bob", "third"))
        heard.come(("opened", "bob", "and this?"), ("opened", "bob", "third"))
        changes.reply("pay", "api", sha, "t3", me="ann", body="by the api")
        until(lambda: len(heard.threads) == 3)
        by_hand = {"body": "by hand"}
        edit(world, sha, lambda held: held["threads"][2]["comments"].append(by_hand))
        until(lambda: len(heard.threads) == 4, what=f"{heard.acts}")

    assert heard.acts[2:] == [("replied", "ann", "by the api"), ("replied", "", "by hand")]
    assert [one.by_file for one in heard.threads] == [True, True, False, True]
    assert {one.sha for one in heard.threads} == {sha}


def test_a_file_that_is_put_back_with_its_old_comments_is_no_news(
    world: World, shas: tuple[str, str], heard: Heard, monkeypatch: pytest.MonkeyPatch
):
    long_ago = times.of(timezone.now() - timedelta(days=3))
    with running(monkeypatch) as told:
        add(world, shas[1], thread("t1", "ann", "old", created_at=long_ago))
        until(lambda: {"type": "review", "project": "pay", "repo": "api", "sha": shas[1]} in told)
        add(world, shas[1], thread("t2", "ann", "new"))
        heard.come(("opened", "ann", "new"))


def test_a_mark_in_the_file_is_told_as_what_it_is(
    world: World, shas: tuple[str, str], heard: Heard, monkeypatch: pytest.MonkeyPatch
):
    with running(monkeypatch):
        add(world, shas[1], thread("t1"))
        heard.come(("opened", "ann", "why?"))
        mark = {"resolved": True, "resolved_by": "bob"}
        edit(world, shas[1], lambda held: held["threads"][0].update(mark))
        heard.come(("opened", "ann", "why?"), ("resolved", "bob", ""))


def test_a_branch_under_review_that_moves_is_told_and_no_other(
    world: World, shas: tuple[str, str], heard: Heard, monkeypatch: pytest.MonkeyPatch
):
    repo = world.repo
    with running(monkeypatch):
        repo.git("update-ref", "refs/heads/elsewhere", shas[0])
        two = repo.commit({"a": "3\n"}, "Three")
        until(lambda: len(heard.branches) == 1, seconds=5)
        repo.git("update-ref", "refs/heads/below", shas[1])
        until(lambda: len(heard.branches) == 2, seconds=5)
        repo.git("update-ref", "-d", "refs/heads/below")
        until(lambda: len(heard.branches) == 3, seconds=5)

    told = [(one.branch, one.before, one.after) for one in heard.branches]
    assert told == [("feature", shas[1], two), ("below", "", shas[1]), ("below", shas[1], "")]
    assert {(one.project, one.repo, one.repository) for one in heard.branches} == {
        ("pay", "api", repo.path)
    }


def test_a_start_and_a_repository_that_is_first_seen_tell_of_no_move(
    world: World, shas: tuple[str, str], heard: Heard, monkeypatch: pytest.MonkeyPatch
):
    world.repo.commit({"a": "3\n"}, "Three")
    with running(monkeypatch) as told:
        text = PROJECT.format(path=world.repo.path).replace("api", "twin")
        put(world.home / "new" / "project.yaml", text.encode())
        until(lambda: {"type": "projects", "reason": "added"} in told, seconds=5)

    assert heard.branches == []
