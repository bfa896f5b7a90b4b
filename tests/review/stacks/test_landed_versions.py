"""Commits that were rewritten while they were reviewed, and then landed."""

from __future__ import annotations

import pytest

from review.stacks import changes, details
from review.threads import records
from tests.review.stacks.world import Payments

pytestmark = pytest.mark.django_db
LINES = "".join(f"{n}\n" for n in range(1, 21))


@pytest.fixture
def topic(pay: Payments) -> str:
    """A commit on `topic` above `main` that has a thread on its line."""
    pay.repo.commit({"a.py": LINES}, "Base")
    pay.repo.branch("topic")
    sha = pay.repo.commit({"a.py": LINES.replace("5\n", "five\n", 1)}, "Spell")
    pay.describe(range="main..topic")
    changes.start_thread("pay", "api", sha, me="ann", body="Why?", path="a.py", line=5)
    return sha


def threads(pay: Payments, sha: str) -> list[records.Thread]:
    commit = details.commit("pay", "api", sha)
    assert isinstance(commit, dict)
    return commit["review"]["threads"]


def thread(pay: Payments, sha: str) -> str:
    return threads(pay, sha)[0]["id"]


def land(pay: Payments, revision: str = "topic") -> None:
    """Merge without a fast-forward, and go on with the topic."""
    pay.repo.commits += 1
    pay.repo.checkout("main")
    pay.repo.git("merge", "-q", "--no-ff", "-m", "Merge", revision)
    pay.repo.checkout("topic")
    pay.repo.commit({"next.py": "x\n"}, "Next")


def said(pay: Payments) -> list[tuple[str, str, int]]:
    """Subject, status and open threads of each commit but the last one; nothing is orphaned."""
    shown = pay.shown()
    assert (shown["warnings"], shown["orphaned"]) == ([], [])
    listed = [one for one in shown["commits"] if one["subject"] != "Next"]
    return [(one["subject"], one["status"], one["unresolved"]) for one in listed]


def test_a_rebased_and_answered_commit_that_landed_is_listed_once(pay: Payments, topic: str):
    pay.repo.checkout("main")
    pay.repo.commit({"z": "z\n"}, "Other")
    pay.repo.checkout("topic")
    [rebased] = pay.repo.rebase("main")
    changes.resolve_thread("pay", "api", rebased, thread(pay, rebased), me="ann")

    land(pay)

    assert said(pay) == [("Spell", "merged", 0)]


def test_an_amended_and_answered_commit_that_landed_is_listed_once(pay: Payments, topic: str):
    first = pay.repo.amend({"a.py": LINES.replace("5\n", "FIVE\n", 1)})
    changes.reply("pay", "api", first, thread(pay, first), me="ann", body="And?")
    second = pay.repo.amend({"a.py": LINES.replace("5\n", "Five\n", 1)})
    changes.reply("pay", "api", second, thread(pay, second), me="ann", body="Fine")

    land(pay)

    assert said(pay) == [("Spell", "merged", 1)]
    assert [len(one["comments"]) for one in threads(pay, second)] == [3]


def test_the_record_of_a_commit_that_was_amended_stays_with_what_landed(pay: Payments, topic: str):
    pay.pr(topic, title="Numbers as words", github={"number": 7})
    amended = pay.repo.amend({"a.py": LINES.replace("5\n", "FIVE\n", 1)})
    changes.reply("pay", "api", amended, thread(pay, amended), me="ann", body="And?")

    land(pay)

    assert said(pay) == [("Spell", "merged", 1)]
    assert details.pr("pay", "api", amended)["title"] == "Numbers as words"


def test_a_commit_that_was_rebased_after_the_answer_is_one_with_what_landed(
    pay: Payments, topic: str
):
    amended = pay.repo.amend({"a.py": LINES.replace("5\n", "FIVE\n", 1)})
    changes.reply("pay", "api", amended, thread(pay, amended), me="ann", body="And?")
    pay.repo.checkout("main")
    pay.repo.commit({"z": "z\n"}, "Other")
    pay.repo.checkout("topic")
    pay.repo.rebase("main")

    land(pay)

    assert said(pay) == [("Spell", "merged", 1)]


def test_a_thread_that_was_carried_back_is_on_the_commit_that_landed(pay: Payments, topic: str):
    amended = pay.repo.amend({"a.py": LINES.replace("5\n", "FIVE\n", 1)})
    changes.reply("pay", "api", amended, thread(pay, amended), me="ann", body="And?")
    pay.repo.reset(topic)

    land(pay)

    assert said(pay) == [("Spell", "merged", 1)]
    assert [len(one["comments"]) for one in threads(pay, topic)] == [2]


def test_an_amended_commit_that_landed_unanswered_is_known_by_its_author_date(
    pay: Payments, topic: str
):
    landed = pay.repo.amend({"a.py": LINES.replace("5\n", "FIVE\n", 1)})

    land(pay)

    assert said(pay) == [("Spell", "merged", 1)]
    found = pay.commits()["Spell"]["landed"]
    assert (found["sha"], found["by"]) == (landed, "author-date")


def test_what_landed_is_not_guessed_among_commits_of_one_second(pay: Payments, topic: str):
    date = pay.repo.git("log", "-1", "--format=%aI", topic)
    pay.repo.reset("main")
    pay.repo.commit({"b.py": "b\n"}, "Spell", date=date)
    pay.repo.commit({"c.py": "c\n"}, "Spell", date=date)

    land(pay)

    assert [one["sha"] for one in pay.shown()["orphaned"]] == [topic]


def test_a_dropped_commit_is_not_the_one_that_landed_beside_it(pay: Payments, topic: str):
    """Both have the author, the second and the subject, and stood in one range."""
    date = pay.repo.git("log", "-1", "--format=%aI", topic)
    pay.repo.commit({"b.py": "b\n"}, "Spell", date=date)
    pay.repo.rebase("main", upstream=topic)

    land(pay)

    assert [one["sha"] for one in pay.shown()["orphaned"]] == [topic]


def test_an_older_version_that_landed_leaves_the_thread_to_the_newest(pay: Payments, topic: str):
    older = pay.repo.amend({"a.py": LINES.replace("5\n", "FIVE\n", 1)})
    changes.reply("pay", "api", older, thread(pay, older), me="ann", body="And?")
    newest = pay.repo.amend({"a.py": LINES.replace("5\n", "Five\n", 1)})
    changes.reply("pay", "api", newest, thread(pay, newest), me="ann", body="Fine")
    pay.repo.checkout("main")
    pay.repo.git("merge", "-q", "--ff-only", older)
    pay.repo.checkout("topic")

    found = {one["sha"]: (one["status"], one["unresolved"]) for one in pay.shown()["commits"]}
    assert found == {older: ("merged", 0), newest: ("draft", 1)}
    assert pay.shown()["orphaned"] == []
