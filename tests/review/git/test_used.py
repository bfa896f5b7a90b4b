"""Rows of commits that nothing asks for any more go; those that are asked for stay."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.db.models import QuerySet

from review.background import watcher
from review.git import patches, used
from review.git.log import history
from review.git.repository import open_repository
from review.models import CommitRow, PatchRow
from tests.review.git.world import subjects
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db
TABLES: tuple[used.Table, ...] = (CommitRow, PatchRow)
LONG_AGO, LATELY = used.KEPT + timedelta(days=1), used.SEEN - timedelta(days=1)


def ask(repo: Repo) -> None:
    """As a process that remembers nothing reads the two commits of the branch."""
    history._found.clear()
    assert subjects(repo, "main..topic") == ["first", "second"]
    assert len(patches.of(open_repository(repo.path), repo.shas("main..topic"))) == 2


def last(when: timedelta | None) -> None:
    for table in TABLES:
        day = None if when is None else used.today() - when
        table._default_manager.update(used=day)


def ages() -> set[timedelta]:
    days = (table._default_manager.values_list("used", flat=True) for table in TABLES)
    return {used.today() - day for some in days for day in some if day}


def test_rows_that_nothing_asked_for_in_a_long_time_go_and_are_made_again(repo: Repo):
    ask(repo)
    last(LONG_AGO)

    assert used.drop_unused() == 4
    assert [table._default_manager.count() for table in TABLES] == [0, 0]
    ask(repo)
    assert [table._default_manager.count() for table in TABLES] == [2, 2]
    assert ages() == {timedelta(0)}


def test_what_is_asked_for_stays(repo: Repo):
    ask(repo)
    last(LONG_AGO)
    ask(repo)

    assert used.drop_unused() == 0
    assert ages() == {timedelta(0)}


def test_a_row_is_written_for_being_read_once_a_week_at_most(repo: Repo):
    ask(repo)
    last(LATELY)
    ask(repo)

    assert ages() == {LATELY}


def test_a_row_of_an_earlier_release_counts_from_the_day_that_it_is_seen(repo: Repo):
    ask(repo)
    last(None)

    assert used.drop_unused() == 0
    assert ages() == {timedelta(0)}


def test_rows_are_read_where_nothing_can_be_written(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> int:
        raise OperationalError("attempt to write a readonly database")

    ask(repo)
    last(LONG_AGO)
    monkeypatch.setattr(QuerySet, "update", refuse)

    ask(repo)
    assert used.drop_unused() == 4
    ask(repo)
    table = CommitRow._default_manager
    table.bulk_create([CommitRow(key="of before", data=[])])
    assert used.drop_unused() == 0
    assert table.filter(used=None).count() == 1


def test_the_server_looks_for_them_when_it_starts_and_once_a_day(
    home: object, monkeypatch: pytest.MonkeyPatch
):
    background, clock = watcher.Background(), [1000.0]
    told: list[str] = []
    monkeypatch.setattr(background._teller, "later", lambda key, _tell: told.append(key[0]))
    monkeypatch.setattr("review.background.watcher.time.monotonic", lambda: clock[0])

    for after in (0.0, 60.0, watcher.DAY_S - 61.0, 1.0):
        clock[0] += after
        background.on_change(set())
    background.stop()

    assert told == ["rows", "rows"]
