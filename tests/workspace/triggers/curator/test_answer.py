"""The grammar of a pass's answer, and how entries get into a changelog."""

from __future__ import annotations

import datetime as dt

import pytest

from workspace.triggers.curator import answer
from workspace.triggers.curator.documents import with_entries

TODAY = dt.date(2026, 6, 2)


def read(text: str, overview: int = 100, changelog: int = 100) -> answer.Answer:
    return answer.read(text, overview_tokens=overview, changelog_tokens=changelog)


def parts(overview: str = "# Notes", changelog: str = "- One.") -> str:
    return f"<overview>\n{overview}\n</overview>\n<changelog>\n{changelog}\n</changelog>"


def test_the_two_parts_are_read():
    found = read("\n" + parts("# Notes", "- One.\n  more of it\n\n- Two.") + "\n")

    assert found.overview == "# Notes\n"
    assert found.entries == ("- One.", "  more of it", "- Two.")


def test_nothing_to_add_is_no_entry():
    assert read(parts(changelog="")).entries == ()


def test_tags_inside_a_line_are_text():
    assert read(parts("Uses `<overview>` as a tag")).overview == "Uses `<overview>` as a tag\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "once each"),
        ("Here you are.", "once each"),
        ("<overview>\nx\n</overview>", "once each"),
        (parts() + "\n" + parts(), "once each"),
        ("<changelog>\n- x\n</changelog>\n<overview>\nx\n</overview>", "in this order"),
        (parts("<overview>\ninner"), "once each"),
        ("Sure!\n" + parts(), "text outside its two parts"),
        (parts() + "\nDone.", "text outside its two parts"),
        (parts(" \n "), "the overview is empty"),
        (parts(changelog="One."), 'begins with "- "'),
        (parts(changelog="## 2026-06-02\n- One."), 'begins with "- "'),
        (parts(changelog="  continued"), 'begins with "- "'),
        (parts("a\0b"), "control characters"),
        (parts("x" * 401), "the overview has 401 characters, more than the 400 it may have"),
        (parts(changelog="- " + "x" * 399), "the changelog has 401 characters"),
    ],
)
def test_anything_else_writes_nothing_and_says_why(text, reason):
    with pytest.raises(answer.Unreadable, match=reason):
        read(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "# Changelog\n\n## 2026-06-02\n\n- New.\n"),
        ("# Log\n\nHow we log.\n", "# Log\n\n## 2026-06-02\n\n- New.\n\nHow we log.\n"),
        ("Just text", "## 2026-06-02\n\n- New.\n\nJust text"),
        (
            "# Log\n\n## 2026-06-01\n\n- Old.\n",
            "# Log\n\n## 2026-06-02\n\n- New.\n\n## 2026-06-01\n\n- Old.\n",
        ),
        ("## 2026-06-02\n\n- Old.\n", "## 2026-06-02\n\n- New.\n- Old.\n"),
        ("## 2026-06-02\n- Old.\n", "## 2026-06-02\n- New.\n- Old.\n"),
        ("## 2026-06-02", "## 2026-06-02\n- New.\n"),
        (
            "# L\r\n\r\n## 2026-06-02\r\n\r\n- Old.\r\n",
            "# L\r\n\r\n## 2026-06-02\r\n\r\n- New.\r\n- Old.\r\n",
        ),
        ("# L\n\n- New.\n", "# L\n\n- New.\n"),
    ],
)  # fmt: skip
def test_entries_go_on_top_of_their_day_and_nothing_else_is_touched(before, after):
    assert with_entries(before.encode(), ("- New.",), TODAY).decode() == after


def test_bytes_that_are_no_text_stay_as_they_are():
    found = with_entries(b"## 2026-06-01\n\n- \xff\xfe\n", ("- New.",), TODAY)

    assert found.endswith(b"## 2026-06-01\n\n- \xff\xfe\n")
