"""Every promise has its test, and every test of a promise its entry."""

from __future__ import annotations

import re
from pathlib import Path

from tests.promises.manifest import PROMISES

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MARK = re.compile(r"""pytest\.mark\.promise\(\s*["']([A-Z]\d+)["']""")


def marked() -> set[str]:
    return {name for file in HERE.glob("test_*.py") for name in MARK.findall(file.read_text())}


def test_every_promise_is_shown_by_a_test_that_carries_its_id():
    assert marked() == {promise.id for promise in PROMISES}


def test_every_promise_names_a_source_that_exists():
    assert [p.id for p in PROMISES if not (ROOT / p.source).exists()] == []


def test_every_promise_has_its_row_and_figure_in_the_design():
    page = (ROOT / "docs/design/promises.md").read_text()
    rows = dict(re.findall(r"^\| ([FTGR]\d+) \| (.+) \|$", page, re.MULTILINE))

    assert rows.keys() == {promise.id for promise in PROMISES}
    assert [
        (promise.id, part)
        for promise in PROMISES
        for part in promise.figure.split("; ")
        if part not in rows[promise.id]
    ] == []


def test_promises_quoted_in_the_readme_carry_the_figure_of_the_manifest():
    quoted = re.findall(r"\| ([FTGR]\d+) \| [^|]+ \| ([^|]+) \|", (ROOT / "README.md").read_text())

    assert quoted, "the README quotes no promise"
    figures = {promise.id: promise.figure for promise in PROMISES}
    assert [(name, figure.strip()) for name, figure in quoted] == [
        (name, figures[name]) for name, _ in quoted
    ]
