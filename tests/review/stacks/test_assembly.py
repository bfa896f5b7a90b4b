"""Which commit stands in which stack, by table."""

from __future__ import annotations

from typing import Any

import pytest

from review.projects.entries import PALETTE, StackEntry
from review.stacks.assembly import COLORS, assemble


def entry(commits: str | None, index: int = 0, **fields: Any) -> StackEntry:
    listed = None if commits is None else tuple(commits.split())
    given = {"title": None, "color": None, "description": None, "follow_on": False} | fields
    return StackEntry(commits=listed, index=index, **given)


def stacks(order: str, *listed: str | None, moved: dict[str, str] | None = None) -> list[str]:
    """The commits of each stack as one text."""
    moved = moved or {}

    def find(text: str) -> str | None:
        hits = [sha for sha in order.split() if sha.startswith(text)]
        return hits[0] if len(hits) == 1 else moved.get(text)

    entries = [entry(commits, index) for index, commits in enumerate(listed)]
    made = assemble(entries, order.split(), find)
    return [
        " ".join(draft.commits) + (f" ! {draft.warning}" if draft.warning else "") for draft in made
    ]


@pytest.mark.parametrize(
    ("order", "listed", "expected"),
    [
        ("a b c", (), ["a b c"]),
        ("", (), []),
        ("", ("",), [""]),
        ("a b c", ("a b", "c"), ["a b", "c"]),
        ("a b c", ("a",), ["a", "b c"]),
        ("a b c", ("a", None), ["a", "b c"]),
        ("a b c", (None, "b"), ["a c", "b"]),
        ("a b c", ("c a",), ["a c", "b"]),  # the range decides what is below what
        ("a b", ("a b", None), ["a b", ""]),
        ("a b", ("a", "a b"), ["a", "b ! a is already in stack 1"]),
        ("a b", (None, None), ["a b", " ! stack 1 already takes every commit that no stack lists"]),
    ],
)
def test_every_commit_stands_in_one_stack(order, listed, expected):
    assert stacks(order, *listed) == expected


def test_a_stack_counts_the_commits_that_are_gone_and_names_them():
    found = stacks("a b c", "a ab12cd3fff 9f8e7d6 b c")

    assert found == ["a b c ! 2 of 5 commits are no longer in the range: ab12cd3, 9f8e7d6"]
    assert stacks("a", "a ffff") == ["a ! 1 of 2 commits is no longer in the range: ffff"]


def test_a_listed_sha_that_moved_leads_to_its_new_commit():
    assert stacks("x y", "old", moved={"old": "y"}) == ["y", "x"]


def test_commits_squashed_into_one_stand_there_once_without_a_warning():
    assert stacks("x", "one two", moved={"one": "x", "two": "x"}) == ["x"]


def test_colours_come_from_the_entry_and_else_from_the_place():
    drafts = assemble([entry("", color="#123456"), *[entry("")] * 8], ["a"], lambda text: None)

    assert [draft.color for draft in drafts] == [
        "#123456", *COLORS[1:8], COLORS[0], COLORS[1],
    ]  # fmt: skip
    assert COLORS[0] == PALETTE["blue"] == "#0072b2"


def test_the_implicit_stack_comes_last_and_has_no_entry():
    first, last = assemble([entry("a", title="Schema")], ["a", "b"], {"a": "a"}.get)

    assert first.entry is not None
    assert (first.n, first.entry.title, last.n, last.entry) == (1, "Schema", 2, None)
