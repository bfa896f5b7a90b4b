"""What the examples show: every state a commit, a branch and a thread can be in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from review.examples import installing
from review.stacks import details
from review.stacks.pictures import render
from tests.review import pngs

pytestmark = pytest.mark.django_db
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def shown(home: Path) -> dict[str, Any]:
    """The detail of both examples."""
    installing.add()
    return {slug: details.project(slug) for slug in installing.EXAMPLES}


def commits(detail: dict[str, Any]) -> list[dict[str, Any]]:
    return [commit for repo in detail["repos"] for commit in repo["commits"]]


def reviews(detail: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for repo in detail["repos"]:
        for commit in repo["commits"]:
            whole = details.commit(detail["slug"], repo["name"], commit["sha"], contents="none")
            assert isinstance(whole, dict)
            found.append(dict(whole["review"]))
    return found


def test_nothing_in_them_is_wrong(shown: dict[str, Any]):
    for detail in shown.values():
        assert detail["parse_error"] is None
        for repo in detail["repos"]:
            assert (repo["errors"], repo["warnings"], repo["orphaned"]) == ([], [], [])
            assert all(stack["warning"] is None for stack in repo["stacks"])
        for review in reviews(detail):
            assert (review["warnings"], review["parse_error"]) == ([], None)


def test_payments_has_a_stack_and_one_that_follows_on(shown: dict[str, Any]):
    (repo,) = shown["example-payments"]["repos"]

    assert [stack.get("follow_on", False) for stack in repo["stacks"]] == [False, True]


def test_payments_shows_every_kind_of_thread_by_reviewer_and_agent(shown: dict[str, Any]):
    threads = [one for review in reviews(shown["example-payments"]) for one in review["threads"]]
    kinds = {(thread["resolved"], thread["outdated"]) for thread in threads}
    authors = {comment["author"] for thread in threads for comment in thread["comments"]}

    assert kinds == {(False, False), (False, True), (True, False), (True, True)}
    assert {thread["placement"] for thread in threads} == {"exact", "moved", "nearest", "general"}
    assert authors == {"noor", "agent"}


def test_payments_was_amended_and_one_mark_fell(shown: dict[str, Any]):
    carried = [review for review in reviews(shown["example-payments"]) if review["carried_over"]]

    assert [
        (review["matched_by"], review["viewed"], review["viewed_stale"]) for review in carried
    ] == [("change-id", ["tests/test_retry.py"], ["payments/retry.py"])]


def test_search_has_two_repos_all_statuses_and_all_branch_states(shown: dict[str, Any]):
    search = shown["example-search"]
    branches = {commit["branch"]["status"] for commit in commits(search) if commit["branch"]}

    assert [repo["name"] for repo in search["repos"]] == ["index", "web"]
    assert {commit["status"] for commit in commits(search)} == {
        "draft", "ready", "published", "merged",
    }  # fmt: skip
    assert branches == {"ok", "moved", "missing", "discovered"}


def test_reading_them_writes_nothing(shown: dict[str, Any], home: Path):
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for detail in shown.values():
        reviews(detail)

    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_the_pictures_of_the_documents_are_those_of_the_examples(shown: dict[str, Any]):
    project = render.svg(shown["example-search"])
    payments = shown["example-payments"]
    sha = payments["repos"][0]["stacks"][0]["commits"][1]
    stack = render.svg(payments, scope="stack", repo="payments", sha=sha)

    assert (DOCS / "images" / "stacks-project.svg").read_text() == project
    drawn = (DOCS / "images" / "stacks-commit.png").read_bytes()
    fresh = render.png(stack).data
    assert pngs.size(drawn) == pngs.size(fresh)  # pixels differ between processors
