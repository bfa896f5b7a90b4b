"""The status of a commit, by table."""

from __future__ import annotations

import pytest

from review.stacks import status

PULL = {"number": 7, "url": ""}


@pytest.mark.parametrize(
    ("stored", "over", "github", "landed", "expected"),
    [
        (None, None, None, None, "draft"),
        ("draft", None, None, None, "draft"),
        ("ready", None, None, None, "ready"),
        (None, None, PULL, None, "published"),
        (None, None, {"number": None, "url": "https://x.example/pull/7"}, None, "published"),
        (None, None, {"number": None, "url": ""}, None, "draft"),
        (None, None, {"branch": "x"}, None, "draft"),
        ("ready", None, PULL, None, "ready"),
        ("draft", None, PULL, None, "draft"),
        (None, None, None, "a1", "merged"),
        ("ready", None, PULL, "a1", "merged"),
        ("ready", "a1", PULL, "a1", "ready"),  # set after it landed
        (None, "a1", PULL, "a1", "published"),
        (None, "a1", None, "a1", "draft"),
        ("ready", "a1", None, "b2", "merged"),  # it landed again
        ("published", None, None, None, "draft"),  # no word a file may hold
    ],
)
def test_the_first_rule_that_holds_decides(stored, over, github, landed, expected):
    assert status.effective(stored, status_over=over, github=github, landed_sha=landed) == expected


def test_a_github_record_leaves_out_what_it_does_not_know():
    assert status.github(None) is None
    assert status.github({"number": 7}) == {"number": 7, "url": ""}
    assert status.github(
        {"number": 7, "url": "u", "stack": 2, "base": None, "stacked_on": 6, "other": 1}
    ) == {"number": 7, "url": "u", "stack": 2, "stacked_on": 6}
