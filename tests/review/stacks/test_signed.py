"""A file written by hand gets what recognises its commit with the first write of the server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from review import caches
from review.models import PatchRow
from review.stacks import changes, repo
from review.threads import records
from tests.review.stacks.world import Payments

ME = "ann"
HAND = """\
# what I think of it
threads:   # two
  - {path: a, id: "2", comments: [{id: c, author: agent, body: Why twice}]}
  -   id:  "1"
      comments:
        - id: d
          author:   agent
          body: >-
            folded
            text
x-mine: [1,   2]   # kept
"""
Write = Callable[..., Any]


@pytest.fixture
def sha(pay: Payments) -> str:
    """The one commit of `topic`, which has no file yet."""
    pay.repo.commit({"a": "1\n"}, "Base")
    pay.repo.branch("topic")
    return pay.repo.commit({"a": "1\n2\n3\n"}, "More lines")


def prune(pay: Payments) -> None:
    """The objects that nothing needs go, and so does the database's knowledge of them."""
    pay.repo.prune()
    PatchRow._default_manager.all().delete()
    caches.clear()


def resolve(**place: Any) -> None:
    changes.resolve_thread(me=ME, thread="1", resolved=True, **place)


def reply(**place: Any) -> None:
    changes.reply(me=ME, thread="1", body="Yes", **place)


def view(**place: Any) -> None:
    changes.mark_viewed(path="a", viewed=True, **place)


def ask(**place: Any) -> None:
    changes.start_thread(me=ME, body="And this?", **place)


@pytest.mark.parametrize("write", [resolve, reply, view, ask])
def test_the_commit_is_recognised_after_it_was_amended_and_pruned(
    pay: Payments, sha: str, write: Write
):
    file = pay.put(f"reviews/api/{sha}.yaml", HAND)

    write(project="pay", repo="api", sha=sha)

    said = yaml.safe_load(file.read_text())
    assert said["version"] == 1
    assert (said["commit"]["sha"], said["commit"]["subject"]) == (sha, "More lines")
    lines = file.read_text().splitlines()
    for kept in ("# what I think of it", "threads:   # two", "x-mine: [1,   2]   # kept"):
        assert kept in lines
    pay.repo.amend({}, "More lines, reworded")
    prune(pay)
    (shown,) = pay.commits().values()
    assert shown["progress"]["threads"] >= 2
    assert pay.shown()["warnings"] == []


def test_a_write_that_changes_one_thread_leaves_every_other_byte(pay: Payments, sha: str):
    file = pay.put(f"reviews/api/{sha}.yaml", HAND)

    resolve(project="pay", repo="api", sha=sha)

    text = file.read_text()
    assert [line for line in HAND.splitlines() if line not in text.splitlines()] == []
    assert text.partition("x-mine")[2].startswith(": [1,   2]   # kept\nversion: 1\ncommit:\n")
    reply(project="pay", repo="api", sha=sha)
    assert file.read_text().partition("x-mine")[2] == text.partition("x-mine")[2]


def test_a_pr_record_written_by_hand_gets_it_too(pay: Payments, sha: str):
    file = pay.pr(sha, title="Mine")
    before = file.read_text()

    changes.set_pr("pay", "api", sha, {"status": "ready"})

    assert file.read_text().startswith(before)
    said = yaml.safe_load(file.read_text())
    assert (said["version"], said["commit"]["sha"], said["status"]) == (1, sha, "ready")
    pay.repo.amend({}, "More lines, reworded")
    prune(pay)
    (shown,) = pay.commits().values()
    assert (shown["pr_title"], shown["status"]) == ("Mine", "ready")


def test_what_the_file_says_of_its_commit_stays(pay: Payments, sha: str):
    file = pay.put(f"reviews/api/{sha}.yaml", f"commit: {{subject: mine}}  # so\n{HAND}")

    resolve(project="pay", repo="api", sha=sha)

    assert file.read_text().startswith("commit: {subject: mine}  # so\n")
    assert "version" not in yaml.safe_load(file.read_text())


@pytest.mark.parametrize(
    "hand",
    [
        "{threads: [{id: '1', comments: [{author: a, body: b}]}]}\n",
        "threads: [{id: '1', comments: [{author: a, body: b}]}]",
        "---\nthreads:\n- id: '1'\n  comments: [{author: a, body: b}]\n...\n",
        "commit:\nversion: ~\nthreads:\r\n- id: '1'\r\n  comments: [{author: a, body: b}]\r\n",
    ],
    ids=["flow", "no-newline", "marked", "nulls"],
)
def test_every_form_of_a_file_takes_it(pay: Payments, sha: str, hand: str):
    file = pay.put(f"reviews/api/{sha}.yaml", hand)

    resolve(project="pay", repo="api", sha=sha)

    said = yaml.safe_load(file.read_text())
    assert (said["version"], said["commit"]["sha"]) == (1, sha)
    assert said["threads"][0]["resolved"] is True


def test_reading_writes_nothing(pay: Payments, sha: str):
    file = pay.put(f"reviews/api/{sha}.yaml", HAND)

    pay.shown()
    records.review(repo.target_at("pay", "api", sha))
    changes.resolve_thread("pay", "api", sha, "1", me=ME, resolved=False)

    assert Path(file).read_text() == HAND


def test_nothing_is_said_of_a_commit_that_can_no_longer_be_read(pay: Payments, sha: str):
    """It landed as another one, whose words are not its own."""
    pay.repo.checkout("main")
    landed = pay.repo.commit({"a": "1\n2\n3\n"}, "More lines (#1)")
    pay.repo.git("branch", "-D", "topic")
    file = pay.put(f"reviews/api/{sha}.yaml", HAND)
    pay.pr(sha, landed={"sha": landed})
    prune(pay)

    resolve(project="pay", repo="api", sha=sha)

    said = yaml.safe_load(file.read_text())
    assert said["threads"][1]["resolved"] is True
    assert "commit" not in said
