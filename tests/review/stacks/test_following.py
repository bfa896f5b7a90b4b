"""Review, PR record and stack place of a gone commit, each until it is taken over."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from review.git import patches
from review.stacks import details, repo
from review.stacks.prs import pr_files
from review.threads import commenting, commit_review
from tests.review.stacks.world import Payments

pytestmark = pytest.mark.django_db


@pytest.fixture
def feature(pay: Payments) -> list[str]:
    """Two commits on `feature` above `main`."""
    pay.repo.commit({"a.py": "one\n", "b.py": "b\n"}, "Base")
    pay.repo.branch("feature")
    pay.repo.commit({"a.py": "one\ntwo\n"}, "First")
    pay.repo.commit({"b.py": "b\nc\n"}, "Second")
    pay.describe(range="main..feature", stacks=[])
    return pay.repo.shas("main..feature")


def move(pay: Payments) -> list[str]:
    """The same two commits on top of one more of main."""
    pay.repo.checkout("main")
    pay.repo.commit({f"other{pay.repo.commits}": "x\n"}, "On main")
    pay.repo.checkout("feature")
    return pay.repo.rebase("main")


def target(pay: Payments, sha: str) -> Any:
    found = pay.load()
    return repo.target(found, repo.find(found, sha))


def set_title(pay: Payments, sha: str, title: str) -> None:
    found = pay.load()
    item = repo.find(found, sha)
    pr_files.set_pr(
        repo.target(found, item),
        {"title": title},
        landed_sha=None,
        pr=item.pr,
        source_sha=item.pr_source,
    )


def shown(pay: Payments, subject: str) -> tuple[int, str]:
    one = pay.commits()[subject]
    return one["unresolved"], one["pr_title"]


def test_a_commit_that_is_pruned_after_it_was_seen_keeps_its_review(
    pay: Payments, feature: list[str]
):
    commenting.create(target(pay, feature[0]), body="Why?", author="ann")
    move(pay)
    assert shown(pay, "First") == (1, "First")
    pay.repo.prune()

    move(pay)

    assert pay.shown()["errors"] == []
    assert shown(pay, "First") == (1, "First")


def test_a_review_that_moved_leaves_the_record_and_the_place_behind_to_follow(
    pay: Payments, feature: list[str]
):
    pay.describe(
        range="main..feature",
        stacks=[{"title": "Low", "commits": feature[:1]}, {"title": "High"}],
    )
    pay.review(feature[0], "Why?")
    pay.pr(feature[0], title="One")
    moved = move(pay)
    commenting.reply(target(pay, moved[0]), f"t-{feature[0][:4]}-0", body="Because.", author="me")
    assert pay.root.joinpath(f"pay/reviews/api/{moved[0]}.yaml").exists()

    assert shown(pay, "First") == (1, "One")
    assert pay.stacks() == [["First"], ["Second"]]
    record = details.pr("pay", "api", moved[0])
    assert (record["matched_from"], record["carried_over"]) == (feature[0], True)

    again = move(pay)

    assert shown(pay, "First") == (1, "One")
    assert pay.stacks() == [["First"], ["Second"]]
    assert details.pr("pay", "api", again[0])["matched_from"] == feature[0]
    assert pay.shown()["warnings"] == []


def test_a_record_that_moved_leaves_the_review_behind_to_follow(pay: Payments, feature: list[str]):
    pay.review(feature[0], "Why?")
    pay.pr(feature[0], title="One")
    moved = move(pay)
    set_title(pay, moved[0], "One again")

    assert shown(pay, "First") == (1, "One again")

    move(pay)

    assert shown(pay, "First") == (1, "One again")
    assert pay.shown()["orphaned"] == []


def test_going_back_shows_the_record_that_was_written_last(pay: Payments, feature: list[str]):
    pay.pr(feature[0], title="One")
    moved = move(pay)
    set_title(pay, moved[0], "One again")

    pay.repo.reset(feature[1])
    assert shown(pay, "First") == (0, "One again")

    set_title(pay, feature[0], "One at last")
    assert shown(pay, "First") == (0, "One at last")

    pay.repo.reset(moved[1])
    assert shown(pay, "First") == (0, "One at last")


def test_commits_of_two_files_that_are_both_listed_keep_their_own(
    pay: Payments, feature: list[str]
):
    pay.pr(feature[0], title="One")
    moved = move(pay)
    set_title(pay, moved[0], "One again")
    both = pay.repo.git(
        "commit-tree", "-p", feature[1], "-p", moved[1], "-m", "Both", f"{moved[1]}^{{tree}}"
    )
    pay.repo.git("update-ref", "refs/heads/feature", both)

    titles = {one["sha"]: one["pr_title"] for one in pay.shown()["commits"]}

    assert (titles[feature[0]], titles[moved[0]]) == ("One", "One again")


def test_files_with_short_names_follow_too(pay: Payments, feature: list[str]):
    pay.review(feature[0][:9], "Why?")
    pay.pr(feature[0][:7], title="One")
    assert shown(pay, "First") == (1, "One")
    set_title(pay, feature[0], "One, full")
    assert pay.root.joinpath(f"pay/prs/api/{feature[0]}.yaml").exists()
    assert shown(pay, "First") == (1, "One, full")
    pay.root.joinpath(f"pay/prs/api/{feature[0]}.yaml").unlink()

    move(pay)

    assert shown(pay, "First") == (1, "One")
    assert pay.shown()["warnings"] == []


def test_squashed_commits_stand_in_the_stack_once(pay: Payments, feature: list[str]):
    pay.describe(
        range="main..feature", stacks=[{"title": "Both", "commits": feature}, {"title": "Rest"}]
    )
    pay.review(feature[0], "Why?")
    pay.review(feature[1], "What?")
    pay.repo.rebase_todo("main", [f"pick {feature[0]}", f"fixup {feature[1]}"])

    assert pay.stacks() == [["First"], []]
    assert shown(pay, "First")[0] == 2
    assert pay.shown()["stacks"][0]["warning"] is None


def test_reordered_commits_keep_their_stacks_in_their_new_order(pay: Payments, feature: list[str]):
    pay.describe(range="main..feature", stacks=[{"title": "Both", "commits": feature}])
    pay.repo.rebase_todo("main", [f"pick {feature[1]}", f"pick {feature[0]}"])

    assert pay.stacks() == [["Second", "First"]]


def test_equal_scripted_commits_keep_their_places(pay: Payments, feature: list[str]):
    """Same author second, same subject, empty diffs: only the place tells them apart."""
    for number in range(3):
        pay.repo.commit({}, "Trigger the build", date="2026-01-05T09:00:00+00:00")
        pay.repo.git("commit", "-q", "--amend", "--no-edit", "--allow-empty", "--reset-author",
                     GIT_AUTHOR_DATE="2026-01-05T09:00:00+00:00",
                     GIT_COMMITTER_DATE=f"2026-01-06T0{number}:00:00+00:00")  # fmt: skip
    shas = pay.repo.shas("main..feature")
    pay.describe(range="main..feature", stacks=[{"title": "All", "commits": shas}])
    pay.review(shas[3], "Which one am I?")
    pay.repo.checkout("main")
    pay.repo.commit({"z": "z"}, "On main")
    pay.repo.checkout("feature")
    pay.repo.git("rebase", "-q", "--keep-empty", "--onto", "main", "main~1")

    unresolved = [one["unresolved"] for one in pay.shown()["commits"]]

    assert unresolved == [0, 0, 0, 1, 0]


def test_a_review_with_two_homes_is_told_and_given_to_none(pay: Payments, feature: list[str]):
    pay.repo.commit({"c.py": "first of two\n"}, "Again")
    pay.repo.commit({"d.py": "second of two\n"}, "Again")
    shas = pay.repo.shas("main..feature")
    pay.review(shas[2], "Why?")
    pay.repo.reset(feature[1])
    for n in range(2):
        pay.repo.commit({f"new{n}.py": f"{n}\n" * 3}, "Again")

    found = pay.shown()

    assert [one["unresolved"] for one in found["commits"]] == [0] * 4
    assert found["warnings"][0] == "1 review matches no commit"
    assert "could belong to" in found["warnings"][1]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commits whose patches are asked of git or its table."""
    found: list[str] = []
    begun = patches.start

    def noted(repository: Any, shas: Any) -> Any:
        found.extend(shas)
        return begun(repository, shas)

    monkeypatch.setattr(patches, "start", noted)
    return found


def test_a_patch_that_the_review_file_remembers_is_not_read_again(
    pay: Payments, feature: list[str], asked: list[str]
):
    for sha in feature:
        commenting.create(target(pay, sha), body="Why?", author="ann")
    moved = move(pay)
    asked.clear()

    found = pay.load()

    assert [(item.match and item.match.by) for item in found.items] == ["patch-id"] * 2
    assert asked == moved


def test_all_patches_are_read_where_a_review_is_left_over(
    pay: Payments, feature: list[str], asked: list[str]
):
    for sha in feature:
        commenting.create(target(pay, sha), body="Why?", author="ann")
    pay.repo.reset(feature[0])
    asked.clear()

    (orphan,) = pay.load().orphans

    assert orphan.sha == feature[1]
    assert set(asked) == set(feature)


def test_the_patch_of_another_commit_is_not_believed(pay: Payments, feature: list[str]):
    commenting.create(target(pay, feature[0]), body="Why?", author="ann")
    wrong = (pay.root / f"pay/reviews/api/{feature[0]}.yaml").read_text().replace("Why?", "Wrong?")
    pay.put(f"reviews/api/{feature[1]}.yaml", wrong)
    (pay.root / f"pay/reviews/api/{feature[0]}.yaml").unlink()
    move(pay)

    assert {subject: one["unresolved"] for subject, one in pay.commits().items()} == {
        "First": 0, "Second": 1,
    }  # fmt: skip


def test_what_a_hand_writes_beside_the_file_that_is_read_is_warned_of(
    pay: Payments, feature: list[str]
):
    sha = feature[0]
    pay.review(sha[:9], "Why?")
    commenting.reply(target(pay, sha), f"t-{sha[:4]}-0", body="Because.", author="me")
    assert pay.shown()["warnings"] == []

    pay.review(sha[:9], "Why?", "And this?", "And that?")
    said = (
        f"{sha[:9]}.yaml has 2 comments that are shown nowhere, because {sha}.yaml is read in its "
        "place; write it there"
    )
    assert pay.shown()["warnings"] == [said]
    pay.review(sha, "Why?", "And this?", "And that?")
    assert pay.shown()["warnings"] == []
    pay.review(sha[:8], "Mine?")
    assert [text.split(" that")[0] for text in pay.shown()["warnings"]] == [
        f"{sha[:8]}.yaml has 1 comment"
    ]


def test_what_a_hand_writes_into_a_file_that_was_taken_over_is_warned_of(
    pay: Payments, feature: list[str]
):
    old = feature[0]
    pay.review(old, "Why?", "Never mind")
    new = move(pay)[0]
    commenting.reply(target(pay, new), f"t-{old[:4]}-0", body="Because.", author="me")
    review = commit_review.of(target(pay, new)).review
    (mine,) = review.thread(f"t-{old[:4]}-1").comments
    commenting.delete(target(pay, new), f"t-{old[:4]}-1", mine.id, "ann")
    assert pay.shown()["warnings"] == []

    file = pay.review(old, "Why?", "Late")
    later = time.time() + 60
    os.utime(file, (later, later))

    assert pay.shown()["warnings"] == [
        f"{old}.yaml has 1 comment that is shown nowhere, because {new}.yaml is read in its place; "
        "write it there"
    ]
    pay.repo.reset(feature[1])
    assert pay.shown()["warnings"] == []
