"""A repo whose git hangs: it costs those who ask for it one try, and nobody else anything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from config.git.command import GitError
from review import projects
from review.stacks import items, listing
from review.stacks import repo as repos
from review.stacks.values import Repo
from tests.review.stacks.world import Payments

pytestmark = pytest.mark.django_db(transaction=True)


class Hung:
    """Every read of the repo `api` hangs until it is let go, and fails then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.over = threading.Event(), threading.Event()
        self.tries = 0
        self.clock = 1000.0
        filled = items.fill

        def hanging(base: Repo, *rest: Any) -> Repo:
            if base.entry.name != "api":
                return filled(base, *rest)
            self.tries += 1
            self.begun.set()
            assert self.over.wait(20)
            self.clock += 20
            raise GitError("timeout", "git log took more than 20 seconds")

        monkeypatch.setattr(items, "fill", hanging)
        monkeypatch.setattr("review.stacks.repo.time.monotonic", self.now)

    def now(self) -> float:
        self.clock += 0.001
        return self.clock


@pytest.fixture
def hung(pay: Payments, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hung]:
    pay.repo.commit({"a": "0"}, "Base")
    pay.age()
    made = Hung(monkeypatch)
    yield made
    made.over.set()


def load(name: str = "api") -> Repo:
    try:
        found = projects.get("pay")
        return repos.load(found, projects.repo(found, name))
    finally:
        connection.close()


def unreadable() -> int:
    (listed,) = listing.project_list()["projects"]
    return len(listed["unreadable"])


def test_who_waited_for_a_try_that_failed_does_not_try_again(
    hung: Hung, monkeypatch: pytest.MonkeyPatch
):
    opened, arrived = repos._open, threading.Semaphore(0)

    def seen(*args: Any) -> Any:
        found = opened(*args)
        arrived.release()
        return found

    monkeypatch.setattr(repos, "_open", seen)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(load) for _ in range(4)]
        assert all(arrived.acquire(timeout=20) for _ in asked)
        hung.over.set()
        told = [one.result(20) for one in asked]

    assert hung.tries == 1
    assert len({one.errors for one in told}) == 1
    assert load().errors
    assert hung.tries == 2


def test_other_repos_are_read_while_one_hangs(pay: Payments, hung: Hung):
    names = ["api", *(f"other-{n}" for n in range(64))]
    pay.put(
        "project.yaml",
        {"title": "Pay", "repos": [{"name": one, "path": str(pay.repo.path)} for one in names]},
    )
    with ThreadPoolExecutor(2) as pool:
        waits = pool.submit(load)
        assert hung.begun.wait(20)

        others = pool.submit(lambda: [load(one).errors for one in names[1:]])

        assert others.result(20) == [()] * 64
        hung.over.set()
        assert waits.result(20).errors


def test_a_list_does_not_wait_each_time_for_a_repo_that_hung(pay: Payments, hung: Hung):
    hung.over.set()
    assert [unreadable(), unreadable()] == [1, 1]
    assert hung.tries == 1

    hung.clock += 201
    assert unreadable() == 1
    assert hung.tries == 2

    pay.describe(range={"base": None, "head": "main"})
    assert unreadable() == 1
    assert hung.tries == 3


def test_a_list_shows_what_who_asked_for_the_repo_alone_could_read(
    hung: Hung, monkeypatch: pytest.MonkeyPatch
):
    hung.over.set()
    assert unreadable() == 1
    monkeypatch.undo()

    assert load().errors == ()
    assert unreadable() == 0
