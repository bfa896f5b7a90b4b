"""Commits that landed on the trunk, in and out of the range."""

from __future__ import annotations

from typing import Any

import pytest

from review.stacks import details, repo
from review.stacks.prs import pr_files
from review.threads import commenting
from tests.review.stacks.world import Payments

pytestmark = pytest.mark.django_db


@pytest.fixture
def feature(pay: Payments) -> list[str]:
    """Three commits on `feature` above `main`, oldest first, the second with a change id."""
    pay.repo.commit({"a.py": "one\n", "b.py": "b\n"}, "Base")
    pay.repo.branch("feature")
    pay.repo.commit({"a.py": "one\ntwo\n"}, "First")
    pay.repo.commit({"b.py": "b\nc\n"}, "Second", trailers={"Change-Id": "I0123"})
    pay.repo.commit({"d.py": "d\n"}, "Third")
    pay.describe(range="main..feature")
    return pay.repo.shas("main..feature")


def on_main(pay: Payments, files: dict[str, Any], subject: str, **more: Any) -> str:
    """A commit on main while the feature stays checked out afterwards."""
    pay.repo.checkout("main")
    sha = pay.repo.commit(files, subject, **more)
    pay.repo.checkout("feature")
    return sha


def evidence(pay: Payments) -> dict[str, tuple[str, str, str] | None]:
    """Status, evidence and landed sha by subject; None for what did not land."""
    return {
        subject: (one["status"], one["landed"]["by"], one["landed"]["sha"])
        if one.get("landed")
        else None
        for subject, one in pay.commits().items()
    }


def set_pr(pay: Payments, sha: str, **patch: Any) -> None:
    found = pay.load()
    item = repo.find(found, sha)
    pr_files.set_pr(
        repo.target(found, item),
        patch,
        landed_sha=item.landed.sha if item.landed else None,
        pr=item.pr,
        source_sha=item.pr_source,
    )


def test_a_landing_that_is_recorded_with_a_short_sha_shows_what_landed(
    pay: Payments, feature: list[str]
):
    landed = on_main(pay, {"d.py": "d\nmore\n"}, "Third, squashed")
    pay.pr(feature[2], landed={"sha": landed[:9]}, status="draft", status_over=landed[:9])
    pay.pr(feature[1], landed={"sha": landed[:9]})

    found = pay.load()

    assert evidence(pay)["Second"] == ("merged", "record", landed)
    assert repo.find(found, feature[1]).shown_commit.sha == landed
    assert pay.commits()["Third"]["status"] == "draft"


def test_each_kind_of_evidence_shows_a_landing(pay: Payments, feature: list[str]):
    change = on_main(pay, {"x.py": "1\n"}, "Another text", trailers={"Change-Id": "I0123"})
    number = on_main(pay, {"y.py": "1\n"}, "Squashed (#12)")
    pay.pr(feature[2], github={"number": 12})
    assert evidence(pay) == {
        "First": None,
        "Second": ("merged", "change-id", change),
        "Third": ("merged", "number", number),
    }

    same = on_main(pay, {"a.py": "one\ntwo\n"}, "First, picked")
    pay.pr(feature[2], landed={"sha": change, "at": "2026-02-01T00:00:00Z"})

    assert evidence(pay)["First"] == ("merged", "patch-id", same)
    assert evidence(pay)["Third"] == ("merged", "record", change)

    pay.describe(range=f"{pay.repo.sha('main~3')}..feature", trunk="main")
    pay.repo.git("branch", "-f", "main", feature[1])

    assert evidence(pay) == {
        "First": ("merged", "ancestor", feature[0]),
        "Second": ("merged", "ancestor", feature[1]),
        "Third": ("merged", "record", change),
    }


def test_landed_commits_show_where_they_landed_and_what_is_diffed(
    pay: Payments, feature: list[str]
):
    base = pay.repo.sha("main")
    landed = on_main(pay, {"a.py": "one\ntwo\n", "notes": "n\n"}, "First (#3)")
    pay.pr(feature[0], github={"number": 3}, branch="feature")

    item = pay.commits()["First"]
    shown = details.commit("pay", "api", feature[0])

    assert {key: item[key] for key in ("landed", "tip", "parent", "diff", "branch")} == {
        "landed": {"sha": landed, "at": "2026-01-05T14:00:00Z", "by": "number"},
        "tip": landed, "parent": base, "diff": {"additions": 2, "deletions": 0, "files": 2},
        "branch": {
            "name": "feature", "status": "merged", "points_at": feature[2], "discovered": [],
        },
    }  # fmt: skip
    assert (item["additions"], item["files"], item["progress"]["files"]) == (1, 1, 2)
    assert isinstance(shown, dict)
    assert (shown["sha"], shown["tip"], shown["parent"]) == (feature[0], landed, base)
    assert shown["landed"] == item["landed"] == shown["pr"]["landed"]
    assert [file["path"] for file in shown["files"]] == ["a.py", "notes"]
    others = [one for one in pay.shown()["commits"] if one["subject"] != "First"]
    assert all(not {"landed", "tip", "parent", "diff"} & one.keys() for one in others)


def test_a_landing_whose_object_is_gone_is_diffed_as_it_was(pay: Payments, feature: list[str]):
    pay.pr(feature[0], landed={"sha": "1" * 40, "at": "2026-02-01T00:00:00Z", "by": "squash"})

    item = pay.commits()["First"]
    shown = details.commit("pay", "api", feature[0])

    assert item["status"] == "merged"
    assert item["landed"] == {"sha": "1" * 40, "at": "2026-02-01T00:00:00Z", "by": "record"}
    assert (item["tip"], item["parent"], item["diff"]) == (None, None, None)
    assert isinstance(shown, dict)
    assert [file["path"] for file in shown["files"]] == ["a.py"]


def test_what_left_the_range_by_landing_stays_listed(pay: Payments, feature: list[str]):
    pay.describe(range="main..feature", stacks=[{"title": "Listed", "commits": feature[2:]}])
    pay.review(feature[0], "Why?")
    pay.pr(feature[1], title="Two")
    pay.repo.git("branch", "-f", "main", "feature")
    pay.repo.commit({"e.py": "e\n"}, "Fourth")

    shown = pay.shown()

    assert pay.stacks() == [["Third"], ["First", "Second", "Fourth"]]
    assert [one["status"] for one in shown["commits"]] == ["merged"] * 3 + ["draft"]
    assert (shown["warnings"], shown["orphaned"]) == ([], [])
    assert shown["stacks"][0]["warning"] is None
    first = details.commit("pay", "api", feature[0][:8])
    assert isinstance(first, dict)
    assert first["review"]["threads"][0]["comments"][0]["body"] == "Why?"
    assert first["review"]["carried_over"] is False


def test_what_left_the_range_without_a_trace_is_not_listed(pay: Payments, feature: list[str]):
    pay.put(f"reviews/api/{feature[0]}.yaml", {"viewed": ["a.py"]})
    pay.repo.git("branch", "-f", "main", "feature")
    pay.repo.commit({"e.py": "e\n"}, "Fourth")

    assert (pay.stacks(), pay.shown()["warnings"]) == ([["Fourth"]], [])


def test_a_rebased_merge_keeps_the_landed_and_carries_the_rest(pay: Payments, feature: list[str]):
    pay.describe(range="main..feature", stacks=[{"title": "All", "commits": feature}])
    for sha in feature:
        pay.review(sha, f"On {sha[:4]}")
    landed = on_main(pay, {"a.py": "one\ntwo\n"}, "First, picked")
    pay.repo.rebase("main")

    shown = pay.shown()

    assert pay.stacks() == [["First", "Second", "Third"]]
    assert [one["sha"] in feature for one in shown["commits"]] == [True, False, False]
    assert shown["commits"][0]["landed"]["sha"] == landed
    assert [one["unresolved"] for one in shown["commits"]] == [1, 1, 1]
    assert shown["orphaned"] == []


def test_a_picked_change_that_lives_on_in_the_range_is_carried_over(
    pay: Payments, feature: list[str]
):
    """It is on the trunk too, but it never left the range."""
    pay.review(feature[0], "Why?")
    on_main(pay, {"x.py": "x\n"}, "Other")
    landed = on_main(pay, {"a.py": "one\ntwo\n"}, "First, picked")
    pay.repo.rebase("main~1", upstream="main~2")

    first = pay.commits()["First"]

    assert (first["unresolved"], first["status"], first["landed"]["sha"]) == (1, "merged", landed)
    assert len(pay.shown()["commits"]) == 3


def test_a_landed_commit_whose_object_is_gone_is_told_by_its_file(
    pay: Payments, feature: list[str]
):
    found = pay.load()
    target = repo.target(found, repo.find(found, feature[0]))
    commenting.create(target, body="Why?", path="a.py", side="RIGHT", line=2, author="ann")
    landed = on_main(pay, {"a.py": "one\ntwo\n"}, "First, picked")
    pay.repo.rebase("main")
    pay.repo.prune()

    item = pay.commits()["First"]
    shown = details.commit("pay", "api", feature[0])

    assert (item["sha"], item["status"], item["tip"]) == (feature[0], "merged", landed)
    assert isinstance(shown, dict)
    assert shown["review"]["threads"][0]["line"] == 2
    assert [file["path"] for file in shown["files"]] == ["a.py"]


def test_an_explicit_status_holds_against_the_same_landing_only(pay: Payments, feature: list[str]):
    set_pr(pay, feature[0], status="ready")
    assert pay.commits()["First"]["status"] == "ready"

    same = on_main(pay, {"a.py": "one\ntwo\n"}, "First, picked")
    assert evidence(pay)["First"] == ("merged", "patch-id", same)

    set_pr(pay, feature[0], status="ready")
    assert evidence(pay)["First"] == ("ready", "patch-id", same)

    pay.pr(feature[0], status="ready", status_over=same, landed={"sha": pay.repo.sha("main~1")})
    assert pay.commits()["First"]["status"] == "merged"

    pay.pr(feature[0], status="ready", status_over=same)
    set_pr(pay, feature[0], status=None)
    assert pay.commits()["First"]["status"] == "merged"


def test_ready_then_fast_forward_is_merged(pay: Payments, feature: list[str]):
    set_pr(pay, feature[0], status="ready")
    pay.repo.git("branch", "-f", "main", feature[0])

    assert pay.commits()["First"]["status"] == "merged"
    assert pay.commits()["First"]["landed"]["by"] == "ancestor"


def test_a_pull_request_publishes_until_a_status_is_set(pay: Payments, feature: list[str]):
    def status() -> str:
        return str(pay.commits()["First"]["status"])

    set_pr(pay, feature[0], status="draft")
    set_pr(pay, feature[0], github="https://example.org/x/pull/7")
    assert status() == "published"
    set_pr(pay, feature[0], status="ready")
    assert status() == "ready"
    set_pr(pay, feature[0], status=None)
    assert status() == "published"
    set_pr(pay, feature[0], github=None)
    assert status() == "draft"


def test_a_recorded_branch_is_found_on_a_remote_too(pay: Payments, feature: list[str]):
    pay.repo.git("update-ref", "refs/remotes/fork/topic", feature[0])
    set_pr(pay, feature[0], branch="topic")

    assert pay.commits()["First"]["branch"] == {"name": "topic", "status": "ok", "discovered": []}
    pay.repo.git("branch", "topic", feature[1])
    assert pay.commits()["First"]["branch"] == {
        "name": "topic", "status": "moved", "points_at": feature[1], "discovered": [],
    }  # fmt: skip


def test_unpushed_commits_on_the_trunk_have_not_landed(pay: Payments):
    pay.repo.commit({"a": "1\n"}, "Pushed")
    pay.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    pay.repo.commit({"a": "2\n"}, "Ahead")
    pay.repo.config("remote.origin.url", "nowhere")
    pay.repo.config("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    pay.repo.config("branch.main.remote", "origin")
    pay.repo.config("branch.main.merge", "refs/heads/main")

    assert evidence(pay) == {"Ahead": None}

    pay.review(pay.repo.sha(), "Why?")
    pay.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    pay.repo.commit({"a": "3\n"}, "Next")

    assert {subject: one["status"] for subject, one in pay.commits().items()} == {
        "Ahead": "merged", "Next": "draft",
    }  # fmt: skip
