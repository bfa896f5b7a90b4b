"""What the command line prints: it fits, and nothing in it drives the terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from dashboard.management.printing import pairs, plain, table

CELLS = st.lists(st.tuples(*[st.text(max_size=120)] * 5), max_size=4)


def columns(line: str) -> int:
    """Of a terminal."""
    seen = [char for char in line if not unicodedata.combining(char)]
    return len(seen) + sum(unicodedata.east_asian_width(char) in "WF" for char in seen)


@given(CELLS)
@example([("", "", "", "0" * 23, "0" * 34 + "\u094d")])  # 80 columns of 81 characters
def test_a_table_fits_its_width_whatever_is_in_it(rows: list[tuple[str, ...]]):
    lines = table(("STATE", "APP", "ADDRESS", "PROCESS", "ABOUT"), rows, width=80)

    assert len(lines) == len(rows) + 1
    assert all(columns(line) <= 80 and line.isprintable() for line in lines)


def test_short_columns_stay_whole_and_the_longest_is_cut():
    lines = table(("APP", "ABOUT"), [("shop", "x" * 100)], width=30)

    assert lines == ["APP   ABOUT", f"shop  {'x' * 23}…"]


def test_a_column_that_is_copied_from_stays_whole_though_the_table_grows_wider():
    address = f"http://localhost:3000/{'x' * 20}"
    lines = table(("ADDRESS", "ABOUT"), [(address, "y" * 20)], width=30, whole={"ADDRESS", "OTHER"})

    assert lines[1] == f"{address}  {'y' * 7}…"


def test_wide_characters_count_twice_and_combining_ones_not_at_all():
    lines = table(("A", "B"), [("日本", "x"), ("e\u0301", "y")], width=80)

    assert lines == ["A     B", "日本  x", "e\u0301     y"]


def test_escape_sequences_and_newlines_are_taken_out():
    assert plain("a\x1b[31m\r\n\tb\u202ec\x07") == "a [31m b c"
    assert plain(None) == ""


def test_pairs_leave_out_what_has_no_value():
    assert pairs([("app", "Shop"), ("branch", None), ("since", 5)]) == ["app    Shop", "since  5"]
