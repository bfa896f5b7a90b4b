"""The six kinds of evidence that a commit landed, by table."""

from __future__ import annotations

from typing import Any

import pytest

from review.git.commits import Commit
from review.stacks.landing import Clues, Trunk, evidence, index_trunk, outside


def commit(sha: str, subject: str = "", parents: tuple[str, ...] = (), **fields: Any) -> Commit:
    given = {"body": "", "author_name": "", "author_email": "", "authored": "", "committed": ""}
    return Commit(sha, parents, subject, **{**given, "change_id": None, **fields})


SIGNED = ("ann@example.org", "2026-01-05T09:00:00Z", "Add x")
TRUNK = Trunk(frozenset({"s"}), {"I1": "by-change"}, {12: "by-number"}, {SIGNED: "by-date"})


@pytest.mark.parametrize(
    ("clues", "expected"),
    [
        (Clues("s", "rec", "I1", "eq", 12), ("rec", "record")),
        (Clues("s", None, "I1", "eq", 12), ("s", "ancestor")),
        (Clues("x", None, "I1", "eq", 12), ("by-change", "change-id")),
        (Clues("x", None, "I2", "eq", 12), ("eq", "patch-id")),
        (Clues("x", None, "I2", None, 12), ("by-number", "number")),
        (Clues("x", None, "I2", None, 12, SIGNED), ("by-number", "number")),
        (Clues("x", None, None, None, 13, SIGNED), ("by-date", "author-date")),
        (Clues("x", None, None, None, 13), None),
        (Clues("x"), None),
    ],
)
def test_the_first_evidence_that_holds_decides(clues, expected):
    assert evidence(clues, TRUNK) == expected


def test_the_trunk_is_known_by_change_ids_and_by_numbers_at_the_end_of_subjects():
    trunk = index_trunk(
        [
            commit("a", "Add x (#12)"),
            commit("b", "Again x (#12) ", change_id="I9"),
            commit("c", "Revert (#13) for now"),
            commit("d", "#14"),
        ]
    )

    assert trunk.by_number == {12: "b"}
    assert trunk.by_change_id == {"I9": "b"}


def test_a_tip_that_the_range_grows_from_tells_nothing():
    commits = [commit("b", parents=("a",)), commit("c", parents=("b",))]

    assert outside(["a", "b", "z"], commits) == ("z",)
