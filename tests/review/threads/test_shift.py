"""The pure halves of placement: line shifts by edits, and finding text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.threads.placement.shift import Edit, Shift
from review.threads.placement.text import Snippet, Text
from tests.promises.rings import ring

INSERT = (5, 0, 6, 2)  # two lines after line 5
CHANGE = (5, 2, 5, 3)  # lines 5 and 6 become three
DELETE = (5, 2, 4, 0)  # lines 5 and 6 go


@pytest.mark.parametrize(
    ("edit", "span", "moved"),
    [
        (INSERT, (4, 5), (4, 5)),
        (INSERT, (5, 5), (5, 5)),
        (INSERT, (6, 6), (8, 8)),
        (INSERT, (5, 6), (5, 8)),
        (INSERT, (3, 9), (3, 11)),
        (CHANGE, (4, 4), (4, 4)),
        (CHANGE, (4, 5), None),
        (CHANGE, (6, 6), None),
        (CHANGE, (6, 7), None),
        (CHANGE, (1, 9), None),
        (CHANGE, (7, 8), (8, 9)),
        (DELETE, (4, 4), (4, 4)),
        (DELETE, (4, 7), None),
        (DELETE, (7, 7), (5, 5)),
        ((0, 0, 1, 3), (1, 2), (4, 5)),
    ],
)
def test_a_range_shifts_widens_or_conflicts(edit: Edit, span, moved):
    assert Shift([edit]).find_range(*span) == moved


@pytest.mark.parametrize(
    ("edit", "line", "nearest"),
    [
        (CHANGE, 4, 4),
        (CHANGE, 5, 5),
        (CHANGE, 6, 6),
        (CHANGE, 7, 8),
        ((5, 4, 5, 2), 5, 5),
        ((5, 4, 5, 2), 8, 6),
        (DELETE, 5, 5),
        (DELETE, 6, 5),
        ((1, 9, 0, 0), 4, 1),
        (INSERT, 6, 8),
    ],
)
def test_a_changed_line_goes_to_its_row_and_a_deleted_one_to_the_line_after(
    edit: Edit, line, nearest
):
    assert Shift([edit]).nearest(line) == nearest


@st.composite
def edited(draw) -> tuple[list[int], list[int | None], list[Edit]]:
    """An old text of numbered lines, the new one (None = a new line), the edits between them."""
    old: list[int] = []
    new: list[int | None] = []
    edits: list[Edit] = []
    for kind, size, more in draw(
        st.lists(st.tuples(st.sampled_from("kidc"), st.integers(1, 3), st.integers(1, 3)))
    ):
        if kind == "k" or not old or (edits and _touches(edits[-1], len(old))):
            old += (kept := list(range(len(old) + 1, len(old) + size + 1)))
            new += kept
        elif kind == "i":
            edits.append((len(old), 0, len(new) + 1, more))
            new += [None] * more
        elif kind == "d":
            edits.append((len(old) + 1, size, len(new), 0))
            old += range(len(old) + 1, len(old) + size + 1)
        else:
            edits.append((len(old) + 1, size, len(new) + 1, more))
            old += range(len(old) + 1, len(old) + size + 1)
            new += [None] * more
    return old, new, edits


def _touches(edit: Edit, size: int) -> bool:
    """Whether the last edit ends where the text does, so that the next would be one with it."""
    return (edit[0] + edit[1] - 1 if edit[1] else edit[0]) == size


@settings(max_examples=ring(fast=80, slow=2000), deadline=None)
@given(edited(), st.data())
def test_a_shift_says_what_a_walk_over_the_text_says(case, data):
    old, new, edits = case
    if not old:
        return
    start = data.draw(st.integers(1, len(old)))
    line = data.draw(st.integers(start, len(old)))
    shift = Shift(edits)

    kept = [number in new for number in range(start, line + 1)]
    if all(kept):
        assert shift.find_range(start, line) == (new.index(start) + 1, new.index(line) + 1)
        assert shift.nearest(line) == new.index(line) + 1
    else:
        assert shift.find_range(start, line) is None
        assert 1 <= shift.nearest(line) <= len(new) + 1


def snippet(lines: str, before: str = "", after: str = "") -> Snippet:
    wanted, above, below = (part.split("|") if part else [] for part in (lines, before, after))
    return Snippet(wanted, above, below, span=len(wanted))


@pytest.mark.parametrize(
    ("wanted", "near", "found"),
    [
        (snippet("beta()"), 1, (2, 2)),
        (snippet("beta()|gamma()"), 1, (2, 3)),
        (snippet("    gamma()"), 1, (3, 3)),
        (snippet("omega()"), 1, None),
        (snippet("again()"), 5, (5, 5)),
        (snippet("again()"), 9, (9, 9)),
        (snippet("again()", before="}|near()"), 5, (9, 9)),
        (snippet("again()", after="stop()"), 9, (5, 5)),
        (snippet("}"), 7, None),
        (snippet("}", before="again()"), 4, (10, 10)),
        (snippet("}", before=""), 4, None),
    ],
)
def test_text_is_found_by_its_lines_then_its_surroundings_then_its_distance(wanted, near, found):
    lines = [
        "alpha()",
        "beta()",
        "gamma()",
        "}",
        "again()",
        "stop()",
        "}",
        "near()",
        "again()",
        "}",
    ]

    assert Text("\n".join(lines).encode()).find(wanted, near) == found


def test_equal_lines_come_before_lines_that_are_equal_when_trimmed():
    text = Text(b"  call()\nother()\ncall()\n")

    assert text.find(snippet("call()", after="other()"), 1) == (3, 3)
    assert text.find(snippet("\tcall()"), 1) == (1, 1)


@pytest.mark.parametrize(
    ("data", "count"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"a\r\nb", 2), (b"\n", 1)]
)
def test_lines_are_counted_as_git_counts_them(data, count):
    assert Text(data).count == len(Text(data).lines) == count


def test_only_what_git_calls_binary_is():
    assert Text(b"a\0b").binary
    assert not Text(b"a" * 8000 + b"\0").binary
    assert not Text(b"caf\xe9\n").binary
