"""What a git that stays tells of a range in which nothing was merged is what a log tells."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from review import caches
from review.git.commits import Commit
from review.git.log import history
from review.git.ranges import Range
from review.git.repository import Repository, open_repository
from tests.promises.rings import ring, seeded
from tests.review.git.world import read, span
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db
COMMITS = 14


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[Repository, Range, bool], list[Commit]]:
    """The commits of a range as they are told by such a git where that is possible, or never."""

    def read(repository: Repository, wanted: Range, stays: bool) -> list[Commit]:
        caches.clear()
        with monkeypatch.context() as patched:
            if not stays:
                patched.setattr(history, "_straight", lambda *_: [])
            return history.commits(repository, wanted)[0]

    return read


def history_of(repo: Repo, rng: random.Random) -> list[str]:
    """Commits of which most stand on the one before, some beside it, and some are merges; their
    times are in no order."""
    parts = [b"reset refs/heads/c0\n"]
    for number in range(COMMITS):
        above = number - 1 if rng.random() < 0.85 else rng.randrange(max(1, number))
        beside = rng.randrange(number) if number and rng.random() < 0.1 else None
        parents = f"from refs/heads/c{above}\n" if number else ""
        if beside is not None and beside != above:
            parents += f"merge refs/heads/c{beside}\n"
        change = rng.choice((f"M 644 inline f{number}\ndata <<.\n{number}\n.\n", ""))
        parts.append(
            f"commit refs/heads/c{number}\ncommitter C <c@d> {rng.randrange(10**9)} +0000\n"
            f"data <<.\nn{number}\n.\n{parents}{change}\n".encode()
        )
    repo.git("fast-import", "--quiet", "--force", stdin=b"".join(parts))
    return [f"c{number}" for number in range(COMMITS)]


def test_random_histories_are_told_alike(
    repo: Repo, told: Callable[[Repository, Range, bool], list[Commit]]
):
    rng, ways = seeded(), {True: 0, False: 0}
    opened = open_repository(repo.path)
    for _ in range(ring(fast=8, slow=400)):
        names = history_of(repo, rng)
        for _ in range(6):
            base, head = rng.sample(names, 2)
            wanted = span(repo, f"{base}..{head}")

            assert told(opened, wanted, True) == told(opened, wanted, False)

            ways[bool(history._straight(opened, wanted))] += 1
    assert min(ways.values()) > 3, ways


def test_the_last_commits_of_a_history_are_told_alike(
    repo: Repo, told: Callable[[Repository, Range, bool], list[Commit]]
):
    repo.checkout("main")
    for number in range(history.SHORT + 5):
        repo.git("commit", "-q", "--allow-empty", "-m", f"n{number}")
    opened, wanted = open_repository(repo.path), span(repo)
    assert wanted.limit is not None
    assert wanted.base_sha is None

    found = told(opened, wanted, True)

    assert len(found) == wanted.limit == len(history._straight(opened, wanted))
    assert found == told(opened, wanted, False)


def test_a_range_without_merges_begins_no_git_once_one_stays(repo: Repo, runs: list[str]):
    read(repo, "main..topic")
    caches.clear()
    runs.clear()
    first = read(repo, "main..topic")
    history._found.clear()
    again = read(repo, "main..topic")
    repo.commit({"n": "1\n"}, "third")

    more = read(repo, "main..topic")

    assert runs == []
    assert (first, first[0]) == (again, more[0][:2])


def test_what_stands_where_no_parent_stands_is_none(repo: Repo):
    tree, base = repo.git("rev-parse", "main^{tree}"), repo.sha("main")
    people = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n"
    data = f"tree {tree}\n{people}parent {base}\n\nAlone\n".encode()
    sha = repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=data)
    repo.git("branch", "alone", sha)
    read(repo, {"base": None, "head": "main"})  # what it seems to stand on is counted

    commits, _ = read(repo, "main..alone")

    assert [(commit.sha, commit.parents) for commit in commits] == [(sha, ())]


def test_a_commit_without_its_tree_is_told_as_by_a_log(repo: Repo):
    repo.commit({"d/e.txt": "1\n"}, "third")
    tree = repo.git("rev-parse", "HEAD^{tree}")
    (repo.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()

    commits, warnings = read(repo, "main..topic")

    assert [commit.subject for commit in commits] == ["first", "second", "third"]
    assert any("Objects are missing" in warning for warning in warnings)
