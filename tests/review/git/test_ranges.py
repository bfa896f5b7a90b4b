"""Every form of a range, written or computed, and the trunk that tells of landed commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.git.command import GitError
from tests.review.git.world import span, subjects
from tests.review.repos import Repo

pytestmark = pytest.mark.django_db


@pytest.fixture
def forked(repo: Repo) -> Repo:
    """main has moved on since topic left it; HEAD is topic."""
    repo.checkout("main")
    repo.commit({"m.txt": "1\n"}, "on main")
    repo.checkout("topic")
    return repo


def refusal(repo: Repo, wanted, trunk: str | None = None) -> str:
    with pytest.raises(GitError) as told:
        span(repo, wanted, trunk)
    assert told.value.kind == "revision"
    return told.value.text


@pytest.mark.parametrize(
    ("wanted", "base", "head"),
    [
        ("main..topic", "main", "topic"),
        (" main..topic ", "main", "topic"),
        ("main..", "main", "HEAD"),
        ({"base": "main", "head": "topic"}, "main", "topic"),
        ({"base": "main"}, "main", "HEAD"),
        ("refs/heads/main..refs/heads/topic", "refs/heads/main", "refs/heads/topic"),
        ("main..HEAD^{commit}", "main", "HEAD^{commit}"),
    ],
)
def test_two_dots_begin_at_the_base_itself(forked: Repo, wanted, base: str, head: str):
    found = span(forked, wanted)

    assert (found.base, found.head) == (base, head)
    assert (found.base_sha, found.head_sha) == (forked.sha("main"), forked.sha("topic"))
    assert subjects(forked, wanted) == ["first", "second"]


@pytest.mark.parametrize("wanted", ["main...topic", "main...", "topic", "HEAD"])
def test_three_dots_or_a_head_alone_begin_where_the_histories_part(forked: Repo, wanted: str):
    found = span(forked, wanted)

    assert found.base == "main"
    assert found.base_sha == forked.sha("main~1")
    assert subjects(forked, wanted) == ["first", "second"]


def test_a_base_of_null_is_the_whole_history(forked: Repo):
    found = span(forked, {"base": None, "head": "topic"})

    assert (found.base, found.base_sha) == (None, None)
    assert subjects(forked, {"base": None, "head": "topic"}) == ["base", "first", "second"]


def test_a_head_alone_without_a_trunk_is_the_whole_history(tmp_path: Path):
    repo = Repo(tmp_path / "r", branch="work")
    repo.commit({"a": "1\n"}, "one")
    repo.commit({"a": "2\n"}, "two")

    assert span(repo, "work").trunk is None
    assert subjects(repo, "work") == ["one", "two"]


def test_shas_and_expressions_are_revisions_too(forked: Repo):
    first = forked.sha("topic~1")

    assert subjects(forked, f"{first[:9]}..topic") == ["second"]
    assert subjects(forked, f"{first}..{forked.sha('topic')}") == ["second"]
    assert subjects(forked, "topic~2..topic~1") == ["first"]


def test_a_tag_of_a_tag_leads_to_its_commit(forked: Repo):
    forked.tag("inner", "main~1", message="x")
    forked.git("tag", "-a", "-m", "y", "outer", "inner")

    assert span(forked, "outer..topic").base_sha == forked.sha("main~1")


def test_histories_that_never_met_are_told(repo: Repo):
    repo.git("checkout", "-q", "--orphan", "island")
    repo.commit({}, "alone")

    found = span(repo, "main...island")

    assert found.base_sha is None
    assert found.warnings == ("main and island have no common history",)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("nowhere..topic", "Unknown revision: nowhere"),
        ("main..nowhere", "Unknown revision: nowhere"),
        ("nowhere", "Unknown revision: nowhere"),
        ("main..HEAD:a.txt", "Unknown revision: HEAD:a.txt"),
        ("^main", "Unknown revision: ^main"),
        ("main..-x", "Unknown revision: -x"),
        ("main..a\nb", "Unknown revision: a\ufffdb"),
        ("1" * 40, f"Unknown revision: {'1' * 40}"),
        ({"base": "nowhere", "head": "topic"}, "Unknown revision: nowhere"),
        ("", "range: must be a text such as main..feature, or {base, head}"),
        (["main"], "range: must be a text such as main..feature, or {base, head}"),
        ({"base": ["main"]}, "range: base must be a revision such as main"),
        ({"head": ""}, "range: head must be a revision such as main"),
    ],
)
def test_a_bad_range_says_what_is_wrong(repo: Repo, wanted, text: str):
    assert refusal(repo, wanted) == text


def test_a_repository_without_commits_has_no_head(tmp_path: Path):
    empty = Repo(tmp_path / "empty")

    told = "Unknown revision: HEAD (the repository has no commits yet)"
    assert refusal(empty, None) == told


def test_a_computed_range_is_what_head_is_ahead_of_trunk(forked: Repo):
    found = span(forked)

    assert (found.text, found.base, found.head, found.trunk) == (None, "main", "HEAD", "main")
    assert subjects(forked) == ["first", "second"]


def test_a_detached_head_is_ahead_of_trunk_too(forked: Repo):
    forked.git("checkout", "-q", "--detach", "topic~1")

    assert subjects(forked) == ["first"]


def test_on_trunk_the_range_is_what_is_not_pushed(repo: Repo, tmp_path: Path):
    repo.checkout("main")
    clone = repo.clone(tmp_path / "clone")
    clone.commit({"x": "1\n"}, "mine")

    found = span(clone)

    assert (found.base, found.trunk, found.warnings) == ("origin/main", "origin/main", ())
    assert subjects(clone) == ["mine"]


def test_on_trunk_with_everything_pushed_the_last_commits_are_shown(repo: Repo, tmp_path: Path):
    repo.checkout("main")
    for number in range(30):
        repo.commit({"n": f"{number}\n"}, f"n{number}")
    clone = repo.clone(tmp_path / "clone")

    assert span(clone).warnings == (
        "The last 20 commits are shown: nothing is ahead of origin/main",
    )
    assert subjects(clone) == [f"n{number}" for number in range(10, 30)]


def test_on_trunk_without_upstream_the_last_commits_are_shown(repo: Repo):
    repo.checkout("main")

    assert span(repo).warnings == ("The last 20 commits are shown: main has no upstream",)
    assert subjects(repo) == ["base"]


def test_without_any_trunk_the_upstream_is_the_base(tmp_path: Path, repo: Repo):
    repo.git("branch", "-m", "main", "somewhere")
    clone = repo.clone(tmp_path / "clone")
    clone.git("remote", "set-head", "origin", "--delete")
    clone.commit({"x": "1\n"}, "mine")

    assert (span(clone).trunk, subjects(clone)) == (None, ["mine"])


def test_trunk_is_the_key_else_the_base_if_a_branch_else_the_usual(repo: Repo, tmp_path: Path):
    repo.git("branch", "release", "main")
    clone = repo.clone(tmp_path / "clone")
    clone.git("branch", "main", "origin/main")

    assert span(repo, "main..topic", "release").trunk == "release"
    assert span(repo, "release..topic").trunk == "release"
    assert span(repo, "topic~2..topic").trunk == "main"
    assert span(clone, "topic~1..topic").trunk == "origin/topic"  # what origin/HEAD stands for
    repo.git("branch", "-m", "main", "master")
    assert span(repo, "topic~2..topic").trunk == "master"
    repo.git("branch", "-m", "master", "other")
    assert span(repo, "topic~2..topic").trunk is None
    assert refusal(repo, "topic~2..topic", "nowhere") == "Unknown revision: nowhere"


def test_landed_commits_are_looked_for_on_trunk_and_on_that_of_origin(repo: Repo, tmp_path: Path):
    repo.checkout("main")
    clone = repo.clone(tmp_path / "clone")
    pushed = clone.sha("origin/main")
    local = clone.commit({"x": "1\n"}, "local")
    clone.branch("work")
    clone.commit({"y": "1\n"}, "mine")

    assert span(clone, "main..work").trunk_shas == (local, pushed)
    assert span(clone, "origin/main..work").trunk_shas == (pushed, local)
    assert span(clone, "main..work", pushed).trunk_shas == (pushed,)


def test_being_on_trunk_itself_is_no_landing(repo: Repo, tmp_path: Path):
    repo.checkout("main")
    clone = repo.clone(tmp_path / "clone")
    pushed = clone.sha("origin/main")
    clone.commit({"x": "1\n"}, "mine")

    assert span(clone).trunk_shas == (pushed,)
    assert span(clone, "main~1..main", "main").trunk_shas == (pushed,)
    assert span(repo).trunk_shas == ()


def test_answers_about_shas_are_asked_once(forked: Repo, runs: list[str]):
    span(forked, "main...topic")
    runs.clear()

    forked.git("branch", "unrelated")
    span(forked, "main...topic")

    assert runs == []
