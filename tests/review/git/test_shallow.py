"""A shallow clone that becomes deeper or whole: nothing that was known of its edge stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from config.git import command
from review.git import ancestry, patches, ranges
from review.git.log import history
from review.git.repository import Repository, open_repository
from tests.review.git.world import subjects
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


@pytest.fixture
def clone(repo: Repo, tmp_path: Path) -> Repo:
    """It has the last commit of `topic`, without the two before it."""
    return repo.clone(tmp_path / "clone", "--depth=1", "--branch=topic")


def opened(repo: Repo) -> Repository:
    return open_repository(repo.path)


def test_a_clone_that_becomes_deeper_shows_what_came(clone: Repo):
    head = clone.sha()
    assert subjects(clone, {"base": None, "head": "topic"}) == ["second"]
    assert len(history.commit(opened(clone), head).files) == 2  # it seems to add every file
    assert len(history.commits_by_sha(opened(clone), [head])[head].files) == 2

    clone.git("fetch", "-q", "--deepen=1")

    assert opened(clone).shallow
    assert subjects(clone, {"base": None, "head": "topic"}) == ["first", "second"]
    assert [one.path for one in history.commit(opened(clone), head).files] == ["b/c.txt"]
    assert [one.path for one in history.commits_by_sha(opened(clone), [head])[head].files] == [
        "b/c.txt"
    ]


def test_commits_that_met_behind_the_edge_have_met_once_it_is_further_away(
    repo: Repo, tmp_path: Path
):
    base, topic = repo.sha("main"), repo.sha("topic")
    repo.checkout("main")
    main = repo.commit({"m": "1\n"})
    clone = repo.clone(tmp_path / "clone", "--depth=1", "--no-single-branch")
    clone.git("fetch", "-q", "--depth=1", "origin", base)
    assert ancestry.merge_base(opened(clone), [main, topic]) is None
    assert ranges.merge_base(opened(clone), main, topic) is None
    assert ancestry.reachable(opened(clone), [base], [topic]) == frozenset()

    clone.git("fetch", "-q", "--unshallow")

    assert ancestry.merge_base(opened(clone), [main, topic]) == base
    assert ranges.merge_base(opened(clone), main, topic) == base
    assert ancestry.reachable(opened(clone), [base], [topic]) == {base}


def test_commits_have_met_once_they_are_fetched(repo: Repo, tmp_path: Path):
    clone = repo.clone(tmp_path / "clone")
    topic = repo.sha()
    repo.checkout("main")
    main = repo.commit({"m": "1\n"})
    assert ancestry.merge_base(opened(clone), [main, topic]) is None

    clone.git("fetch", "-q", "origin")

    assert ancestry.merge_base(opened(clone), [main, topic]) == repo.sha("main~1")


@pytest.fixture
def made_whole(clone: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The clone becomes whole as soon as a log of it has run."""
    run = command.run

    def followed(directory: Path, *args: str, **given: Any) -> bytes:
        told = run(directory, *args, **given)
        if args[0] == "log" and opened(clone).shallow:
            clone.git("fetch", "-q", "--unshallow")
        return told

    monkeypatch.setattr(command, "run", followed)
    return clone


def test_a_clone_that_becomes_whole_while_it_is_read_leaves_no_row_of_its_edge(made_whole: Repo):
    head = made_whole.sha()
    assert subjects(made_whole, {"base": None, "head": "topic"}) == ["second"]

    assert [one.path for one in history.commit(opened(made_whole), head).files] == ["b/c.txt"]


def test_a_clone_that_becomes_shallow_while_it_is_read_leaves_no_patch_of_its_edge(
    clone: Repo, monkeypatch: pytest.MonkeyPatch
):
    clone.git("fetch", "-q", "--deepen=1")
    head, spawn = clone.sha(), command.spawn
    once = ["fetch"]

    def preceded(directory: Path, args: Sequence[str], **given: Any) -> Any:
        if "-U0" in args and once:
            clone.git(once.pop(), "-q", "--depth=1")
        return spawn(directory, args, **given)

    monkeypatch.setattr(command, "spawn", preceded)
    assert len(patches.of(opened(clone), [head])[head].lines) == 4

    clone.git("fetch", "-q", "--unshallow")
    assert len(patches.of(opened(clone), [head])[head].lines) == 1
