"""While a rebase or bisect holds HEAD, the branch it was taken from stays under review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from review.git import refs
from review.git.repository import open_repository
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

SUBJECTS = ["First", "Second", "Third"]
REBASING = "A rebase of topic is in progress; the branch is shown as it was before"
BISECTING = "A bisect of topic is in progress; the branch is shown as it was before"


@pytest.fixture
def topic(pay: Payments) -> Payments:
    """Three commits on `topic`, each with a thread; the range is computed."""
    pay.repo.commit({"a": "base\n"}, "Base")
    pay.repo.branch("topic")
    for subject in SUBJECTS:
        pay.review(pay.repo.commit({subject: "1\n2\n3\n"}, subject), f"On {subject}")
    return pay


def until_stopped(repo: Repo, mark: str, *args: str) -> None:
    """A command of git that stops in the middle, which this file or folder tells."""
    with pytest.raises(AssertionError):
        repo.git(*args)
    assert (repo.path / ".git" / mark).exists()


def rebase(repo: Repo) -> None:
    """Stop at the first of the three."""
    edit = "sed -i 1s/pick/edit/"
    repo.git("rebase", "-q", "-i", "main", GIT_SEQUENCE_EDITOR=edit)


def rebase_by_patches(repo: Repo) -> None:
    """Stop at a conflict of the first of the three."""
    repo.checkout("main")
    repo.commit({"First": "other\n"}, "In the way")
    repo.checkout("topic")
    until_stopped(repo, "rebase-apply", "rebase", "-q", "--apply", "main")


def bisect(repo: Repo) -> None:
    repo.git("bisect", "start", "HEAD", "main")


def told(pay: Payments) -> tuple[list[str], list[str], list[object]]:
    """Subjects, warnings and orphans."""
    shown = pay.shown()
    return [one["subject"] for one in shown["commits"]], shown["warnings"], shown["orphaned"]


@pytest.mark.parametrize(
    ("begin", "end", "warning"),
    [
        (rebase, ("rebase", "--continue"), REBASING),
        (rebase, ("rebase", "--abort"), REBASING),
        (rebase_by_patches, ("rebase", "--abort"), REBASING),
        (bisect, ("bisect", "reset"), BISECTING),
    ],
    ids=["rebase-continued", "rebase-aborted", "apply", "bisect"],
)
def test_the_stack_stays_and_what_is_in_progress_is_said_until_it_ends(
    topic: Payments, begin: Callable[[Repo], None], end: tuple[str, ...], warning: str
):
    before = topic.shown()
    begin(topic.repo)

    assert told(topic) == (SUBJECTS, [warning], [])
    assert [one["unresolved"] for one in topic.shown()["commits"]] == [1, 1, 1]
    assert topic.shown()["range"]["head_sha"] == before["range"]["head_sha"]

    topic.repo.git(*end)

    assert told(topic) == (SUBJECTS, [], [])


@pytest.mark.parametrize(
    "span", ["main..HEAD", "main...@", "main..", "HEAD", "HEAD~3..HEAD", "@{upstream}..HEAD"]
)
def test_a_range_that_is_written_with_head_stays_as_it_was_too(topic: Payments, span: str):
    topic.repo.git("branch", "-q", "--set-upstream-to=main")
    topic.describe(range=span)
    assert told(topic)[0] == SUBJECTS

    rebase(topic.repo)

    assert told(topic) == (SUBJECTS, [REBASING], [])


def test_a_range_of_branches_does_not_tell_of_a_rebase(topic: Payments):
    topic.describe(range="main..topic")

    rebase(topic.repo)

    assert told(topic) == (SUBJECTS, [], [])


def test_what_is_written_during_a_rebase_follows_the_commit_when_it_ends(topic: Payments):
    first = topic.repo.sha("topic~2")
    rebase(topic.repo)
    topic.repo.amend({"more": "1\n"}, "First, reworded")
    topic.review(first, "On First", "Said meanwhile")

    assert told(topic)[0] == SUBJECTS
    topic.repo.git("rebase", "--continue")

    commits = topic.commits()
    assert {name: one["unresolved"] for name, one in commits.items()} == {
        "First, reworded": 2,
        "Second": 1,
        "Third": 1,
    }
    assert told(topic)[1:] == ([], [])


def test_a_linked_worktree_tells_of_its_own_rebase_alone(topic: Payments, tmp_path: Path):
    linked = topic.repo.worktree(tmp_path / "linked", "topic-2")
    linked.commit({"b": "1\n"}, "Fourth")
    rebase(topic.repo)
    rebase(linked)
    topic.repo.git("rebase", "--abort")

    assert told(topic) == (SUBJECTS, [], [])
    topic.repo = linked
    topic.describe()
    subjects, (warning,), _ = told(topic)
    assert (subjects, warning) == ([*SUBJECTS, "Fourth"], REBASING.replace("topic", "topic-2"))


@pytest.mark.parametrize(
    ("begin", "warning"), [(rebase, REBASING), (bisect, BISECTING)], ids=["rebase", "bisect"]
)
def test_work_that_began_on_a_detached_head_keeps_what_stood_there(
    topic: Payments, begin: Callable[[Repo], None], warning: str
):
    topic.repo.git("checkout", "-q", "--detach")
    begin(topic.repo)

    assert told(topic) == (SUBJECTS, [warning.replace("topic", "a detached HEAD")], [])


def test_an_explicit_range_says_nothing_of_it(topic: Payments):
    topic.describe(range="main..topic")
    rebase(topic.repo)

    assert told(topic) == (SUBJECTS, [], [])


def test_a_branch_checked_out_in_the_middle_is_what_is_shown(topic: Payments):
    rebase(topic.repo)
    topic.repo.branch("aside", "main")
    topic.repo.commit({"c": "1\n"}, "Aside")

    subjects, warnings, _ = told(topic)

    assert subjects == ["Aside"]
    assert not [text for text in warnings if "in progress" in text]


@pytest.mark.parametrize(
    ("doing", "mark"),
    [("cherry-pick", "CHERRY_PICK_HEAD"), ("merge", "MERGE_HEAD"), ("am", "rebase-apply")],
)
def test_what_leaves_head_on_its_branch_is_no_matter(topic: Payments, doing: str, mark: str):
    repo = topic.repo
    repo.checkout("main")
    other = repo.commit({"First": "other\n"}, "In the way")
    patch = repo.git("format-patch", "-1", "-o", str(repo.path / ".git"))
    repo.checkout("topic")
    until_stopped(repo, mark, doing, patch if doing == "am" else other)

    assert told(topic)[:2] == (SUBJECTS, [])


def test_the_folders_that_tell_of_it_are_watched(topic: Payments):
    rebase(topic.repo)

    assert topic.repo.path / ".git/rebase-merge" in refs.watched_folders(
        open_repository(topic.repo.path)
    )


@pytest.mark.parametrize("name", ["rebase-merge/head-name", "BISECT_START"])
@pytest.mark.parametrize("text", ["", "refs/heads/gone", "\xff\x00", "x" * 10_000])
def test_a_mark_that_makes_no_sense_leaves_head_as_it_is(topic: Payments, name: str, text: str):
    topic.repo.git("checkout", "-q", "--detach", "topic~1")
    mark = topic.repo.path / ".git" / name
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(text, encoding="latin-1")

    assert told(topic)[0] == SUBJECTS[:2]
